"""The cognitive map: what each cell of the world holds, decoded from the activations of one turn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from gde.data.activations import CaptureRequest
from gde.data.cell_map import CellMap, decoded_classes, kinds_of
from gde.data.completion import ModelInfo
from gde.data.probe import ProbeDataset, ProbeLabels
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory, Turn
from gde.errors import GdeError
from gde.parts.probe import Readout
from gde_plugins.probes.config import CogmapConfig
from gde_plugins.probes.fitting.design import LatestDesign
from gde_plugins.probes.fitting.one_thread import one_thread
from gde_plugins.probes.fitting.places import Places, PlaceWeights
from gde_plugins.probes.fitting.ridge import fit_ridge
from gde_plugins.probes.fitting.weights import CellWeights, check_finite, class_probabilities
from gde_plugins.probes.maps.classifier import CogmapClassifier, class_weights
from gde_plugins.probes.maps.scores import of_known, score_maps

PLACES: Mapping[str, Places] = {"bilinear": "bilinear", "cellwise": "cellwise", "ridge": "cellwise"}
"""Variants whose weights belong to places."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CogmapReadout:
    """A fitted map decoder; needs NumPy alone."""

    weights: CellWeights | PlaceWeights
    size: int
    """Side of the decoded square."""
    n_classes: int
    """C: kinds of cells, and padding."""
    trained: NDArray[np.int64]
    """Classes that occurred in training, in the order of the network's outputs."""
    prior: NDArray[np.float32]
    """(size, size, C) share of the training turns in which a cell was of each class."""

    @one_thread()
    def predict(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """(N, D) activations to (N, size, size, C) probabilities of the classes; 0 for one never trained on.

        Raises:
            ValueError: activations that are not finite, naming the row.
        """
        check_finite(inputs)
        maps = np.zeros((len(inputs), self.size, self.size, self.n_classes), dtype=np.float32)
        shape, inputs = (self.size, self.size), np.asarray(inputs, dtype=np.float32)
        if isinstance(self.weights, PlaceWeights):
            maps[..., self.trained] = self.weights.probabilities(inputs, shape)
        else:
            maps[..., self.trained] = class_probabilities(self.weights, inputs, shape)
        return maps

    def arrays(self) -> Mapping[str, NDArray[np.float32]]:
        """The network's arrays, "prior", and "trained", the classes trained on."""
        return {**self.weights.arrays(), "prior": self.prior, "trained": self.trained.astype(np.float32)}

    @classmethod
    def from_arrays(cls, variant: str, arrays: Mapping[str, NDArray[np.float32]]) -> Self:
        """The inverse of `arrays`, of a readout of this variant."""
        places = PLACES.get(variant)
        return cls(
            weights=PlaceWeights.from_arrays(places, len(arrays["trained"]), arrays)
            if places
            else CellWeights.from_arrays(arrays),
            size=arrays["prior"].shape[0],
            n_classes=arrays["prior"].shape[-1],
            trained=arrays["trained"].astype(np.int64),
            prior=arrays["prior"],
        )


@dataclass(frozen=True)
class CogmapProbe:
    """Decodes for every cell of which kind it is, or that it is padding (Arghal et al. 2026, section 5.1).

    The kinds are those that the record names, in its order; in grids: empty, agent, goal and wall.
    """

    config: CogmapConfig
    prepare: LatestDesign = field(default_factory=LatestDesign, compare=False, repr=False)
    concurrent: ClassVar[bool] = True

    @property
    def variants(self) -> tuple[str, ...]:
        return self.config.variants

    def capture(self, model: ModelInfo) -> CaptureRequest:
        return self.config.capture(model)

    def labels(self, trajectory: Trajectory) -> ProbeLabels:
        """(T, size, size) index into the classes of the true map in every turn.

        Raises:
            GdeError: a turn without a recorded map, or a map larger than the decoded square.
        """
        size, maps = self.config.size, [self._cells(trajectory, turn) for turn in trajectory.turns]
        classes = decoded_classes(kinds_of(trajectory.world))
        return ProbeLabels(values=np.array(maps, dtype=np.int64).reshape(-1, size, size), classes=classes)

    def fit(self, variant: str, train: ProbeDataset, rng: np.random.Generator) -> Readout:
        """A network trained on all cells of the training turns.

        Raises:
            ValueError: activations that are not finite, naming the row; `ridge` with one world to train on.
        """
        check_finite(train.inputs)
        codes = train.labels.astype(np.int64)
        prior = np.stack([(codes == code).mean(axis=0) for code in range(len(train.classes))], axis=-1)
        weights, trained = (
            self._places(variant, train, rng) if variant in PLACES else self._network(variant == "linear", train, rng)
        )
        return CogmapReadout(
            weights=weights,
            size=self.config.size,
            n_classes=len(train.classes),
            trained=trained,
            prior=prior.astype(np.float32),
        )

    def _network(
        self, linear: bool, train: ProbeDataset, rng: np.random.Generator
    ) -> tuple[CellWeights, NDArray[np.int64]]:
        """The probe of the publication, and the classes that it was trained on."""
        config = self.config
        classifier = CogmapClassifier(
            hidden=0 if linear else config.hidden,
            whiten=config.whiten,
            epochs=config.epochs,
            batch=config.batch,
            cells=config.cells,
            learning_rate=config.linear_learning_rate if linear else config.learning_rate,
            weight_decay=config.weight_decay,
            balanced=config.balance == "classes",
            device=config.device,
            random_state=int(rng.integers(2**31)),
        ).fit(train.inputs, train.labels, prepare=self.prepare)
        return classifier.weights_, classifier.classes_

    def _places(
        self, variant: str, train: ProbeDataset, rng: np.random.Generator
    ) -> tuple[PlaceWeights, NDArray[np.int64]]:
        """A linear probe of places, and the classes that it was trained on."""
        trained, codes = np.unique(train.labels, return_inverse=True)
        codes = codes.reshape(len(train.labels), -1).astype(np.int64)
        fitted = (
            fit_ridge(train.inputs, codes, len(trained), train.groups, self.config.penalties)
            if variant == "ridge"
            else self._descended(PLACES[variant], train.inputs, codes, len(trained), rng)
        )
        return fitted, trained.astype(np.int64)

    def _descended(
        self,
        places: Places,
        inputs: NDArray[np.float32],
        codes: NDArray[np.int64],
        n_classes: int,
        rng: np.random.Generator,
    ) -> PlaceWeights:
        """A linear probe of places learned step by step."""
        # Imported here, like the classifier's network is by scikit-learn's users: a readout needs NumPy alone.
        from gde_plugins.probes.fitting.place_training import fit_places
        from gde_plugins.probes.fitting.training import Examples, Settings

        config = self.config
        balanced = config.balance == "classes"
        weights = class_weights(codes, n_classes) if balanced else np.ones(codes.shape)
        shape = (config.size, config.size)
        settings = Settings(
            hidden=0,
            whiten=config.whiten,
            epochs=config.epochs,
            batch=config.batch,
            cells=None,
            learning_rate=config.linear_learning_rate,
            weight_decay=config.weight_decay,
            device=config.device,
        )
        examples = Examples(inputs=inputs, shape=shape, targets=codes, weights=weights)
        return fit_places(places, examples, n_classes, settings, rng, self.prepare)

    def load(self, variant: str, arrays: Mapping[str, NDArray[np.float32]]) -> Readout:
        return CogmapReadout.from_arrays(variant, arrays)

    def score(self, readout: Readout, test: ProbeDataset, rng: np.random.Generator) -> Sequence[Measurement]:
        """See `score_maps`; of a class that was never trained on, the reason alone."""
        assert isinstance(readout, CogmapReadout)
        decoded, cells = readout.predict(test.inputs), test.labels.astype(np.int64)
        found = score_maps(decoded, cells, test.groups, test.classes, rng, readout.prior)
        return of_known(found, {name for code, name in enumerate(test.classes) if code not in readout.trained})

    def _cells(self, trajectory: Trajectory, turn: Turn) -> NDArray[np.int64]:
        where = f"cogmap: turn {turn.index} of episode {trajectory.key}"
        if turn.state is None:
            raise GdeError(f"{where} has no recorded state; choose an environment that gives one, e.g. grid")
        try:
            return CellMap.from_record(trajectory.world, turn.state).padded(self.config.size)
        except ValueError as error:
            raise GdeError(f"{where}: {error}; the probe's size is {self.config.size}") from error
