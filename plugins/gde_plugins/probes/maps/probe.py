"""The probe `cogmap`: the kind of every cell, decoded from a turn's activations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from gde.data.activations import CaptureRequest
from gde.data.cell_map import CellMap, decoded_classes, kinds_of
from gde.data.completion import ModelInfo
from gde.data.probe import Likelihoods, ProbeDataset, ProbeLabels
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory, Turn
from gde.errors import GdeError
from gde.parts.probe import Marks, Readout
from gde_plugins.probes.arrays import Codes, Doubles, Floats
from gde_plugins.probes.config import CogmapConfig
from gde_plugins.probes.fitting.one_thread import one_thread
from gde_plugins.probes.fitting.place_training import fit_places
from gde_plugins.probes.fitting.places import Places, PlaceWeights
from gde_plugins.probes.fitting.reader import ReaderWeights, fit_reader
from gde_plugins.probes.fitting.ridge import fit_ridge
from gde_plugins.probes.fitting.training import (
    examples_of,
    fit_network,
    settings_of,
)
from gde_plugins.probes.fitting.weights import CellWeights, check_finite
from gde_plugins.probes.maps.scores import (
    CLOSED,
    class_frequencies,
    of_known,
    place_likelihoods,
    place_scores,
    score_maps,
    wall_likelihoods,
)

PLACES: Mapping[str, Places] = {
    "bilinear": "bilinear",
    "cellwise": "cellwise",
    "ridge": "cellwise",
}
"""Variant to the layout of its weights, for variants that are linear in the activations
of each place.
"""
CLOSED_FORM = frozenset({"places", "ridge"})
"""Variants that are fitted fast enough to learn in several orders of the worlds."""
ORDERS = 5
Weights = CellWeights | PlaceWeights | ReaderWeights


@dataclass(frozen=True, kw_only=True, eq=False)
class CogmapReadout:
    """A fitted map decoder."""

    weights: Weights
    trained: Codes
    """Classes that occurred in training, in the order of the network's outputs."""
    prior: Floats
    """(size, size, C) share of the training turns in which a cell was of each class."""

    @property
    def size(self) -> int:
        """Side of the decoded square."""
        return len(self.prior)

    @one_thread()
    def predict(self, inputs: Floats) -> Floats:
        """(N, D) activations to (N, size, size, C) probabilities of the classes; 0 for
        one never trained on.

        Raises:
            ValueError: activations that are not finite, naming the row.
        """
        check_finite(inputs)
        inputs = np.asarray(inputs, dtype=np.float32)
        # Outputs are of the classes that training showed. The others keep a probability
        # of 0.
        maps = np.zeros((len(inputs), *self.prior.shape), dtype=np.float32)
        shape = (self.size, self.size)
        maps[..., self.trained] = self.weights.probabilities(inputs, shape)
        return maps

    def arrays(self) -> Mapping[str, Floats]:
        """The network's arrays, "prior", and "trained", the classes trained on."""
        trained = self.trained.astype(np.float32)
        return {**self.weights.arrays(), "prior": self.prior, "trained": trained}

    @classmethod
    def from_arrays(cls, variant: str, arrays: Mapping[str, Floats]) -> Self:
        """Restore a readout of this variant from `arrays`."""
        trained = arrays["trained"].astype(np.int64)
        weights: Weights
        if variant == "places":
            weights = ReaderWeights.from_arrays(arrays)
        elif variant in PLACES:
            weights = PlaceWeights.from_arrays(PLACES[variant], len(trained), arrays)
        else:
            weights = CellWeights.from_arrays(arrays)
        return cls(weights=weights, trained=trained, prior=arrays["prior"])


@dataclass(frozen=True)
class CogmapProbe:
    """Decodes the kind of every cell, or padding (Arghal et al. 2026, section 5.1).

    The kinds are those that the record names, in its order; in grids: empty, agent,
    goal and wall.
    """

    config: CogmapConfig
    concurrent: ClassVar[bool] = True

    @property
    def one_turn(self) -> bool:
        return self.config.turns == "one"

    @property
    def orders(self) -> int:
        return ORDERS if CLOSED_FORM.issuperset(self.variants) else 1

    @property
    def variants(self) -> tuple[str, ...]:
        return self.config.variants

    def capture(self, model: ModelInfo) -> CaptureRequest:
        return self.config.capture(model)

    @property
    def marks(self) -> Marks | None:
        return self.config.course.marks

    def labels(self, trajectory: Trajectory) -> ProbeLabels:
        """(T, size, size) index into the classes of the true map in every turn.

        Raises:
            GdeError: a turn without a recorded map, or a map larger than the decoded
                square.
        """
        size = self.config.size
        maps = [_cells(trajectory, turn, size) for turn in trajectory.turns]
        cells = np.array(maps, dtype=np.int64).reshape(-1, size, size)
        classes = decoded_classes(kinds_of(trajectory.world))
        return ProbeLabels(values=cells, classes=classes)

    def fit(
        self, variant: str, train: ProbeDataset, rng: np.random.Generator
    ) -> Readout:
        """Fit a decoder of all cells to the training turns.

        Raises:
            ValueError: activations that are not finite, naming the row; one world to
                train on, where left-out worlds choose a penalty.
        """
        check_finite(train.inputs)
        config = self.config
        trained, codes = np.unique(train.labels, return_inverse=True)
        codes = codes.reshape(len(train.labels), -1).astype(np.int64)
        n_classes = len(trained)

        is_mlp = variant == "mlp"
        rate = config.learning_rate if is_mlp else config.linear_learning_rate
        # A network without hidden units is the linear probe.
        settings = settings_of(config, config.hidden if is_mlp else 0, rate)
        settings = replace(settings, cells=config.cells)
        shape = (config.size, config.size)
        examples = examples_of(train.inputs, codes, shape, n_classes)

        weights: Weights
        if variant == "places":
            walls = [
                code
                for code in range(n_classes)
                if train.classes[trained[code]] in CLOSED
            ]
            weights = fit_reader(train.inputs, codes, walls, config.size, train.groups)
        elif variant == "ridge":
            weights = fit_ridge(
                train.inputs, codes, n_classes, train.groups, config.penalties
            )
        elif variant in PLACES:
            weights = fit_places(PLACES[variant], examples, n_classes, settings, rng)
        else:
            # The generator is that of the scikit-learn example with this random state.
            state = np.random.RandomState(int(rng.integers(2**31)))
            own = np.random.default_rng(state.randint(2**31))
            weights, _ = fit_network(examples, n_classes, settings, own)
        return CogmapReadout(
            weights=weights,
            trained=trained.astype(np.int64),
            prior=class_frequencies(train.labels, len(train.classes)),
        )

    def load(self, variant: str, arrays: Mapping[str, Floats]) -> Readout:
        return CogmapReadout.from_arrays(variant, arrays)

    def score(
        self, readout: Readout, test: ProbeDataset, rng: np.random.Generator
    ) -> Sequence[Measurement]:
        """Score the decoded maps, see `score_maps`.

        A class that was never trained on has a reason instead.
        """
        assert isinstance(readout, CogmapReadout)
        decoded = readout.predict(test.inputs)
        cells = test.labels.astype(np.int64)
        measurements = score_maps(
            decoded, cells, test.groups, test.classes, rng, readout.prior
        )
        # Their scores would be those of a probability of 0, and say nothing about the
        # activations.
        trained = {test.classes[code] for code in readout.trained}
        return of_known(measurements, {*test.classes} - trained)

    def turn_scores(self, decoded: Floats, test: ProbeDataset) -> Mapping[str, Doubles]:
        """(N,) "distance" and "top1" of every thing with one place, see `place_scores`."""
        return place_scores(decoded, test.labels.astype(np.int64), test.classes)

    def likelihoods(
        self, readout: Readout, turns: ProbeDataset
    ) -> Mapping[str, Likelihoods]:
        """Of the cell of every thing with one place and of walls, see
        `place_likelihoods` and `wall_likelihoods`.
        """
        decoded = readout.predict(turns.inputs)
        cells = turns.labels.astype(np.int64)
        return {
            **place_likelihoods(decoded, cells, turns.classes),
            **wall_likelihoods(decoded, cells, turns.classes),
        }


def _cells(trajectory: Trajectory, turn: Turn, size: int) -> Codes:
    where = f"cogmap: turn {turn.index} of episode {trajectory.key}"
    if turn.state is None:
        raise GdeError(
            f"{where} has no recorded state; choose an environment that gives one, e.g. grid"
        )
    try:
        return CellMap.from_record(trajectory.world, turn.state).padded(size)
    except ValueError as error:
        raise GdeError(f"{where}: {error}; the probe's size is {size}") from error
