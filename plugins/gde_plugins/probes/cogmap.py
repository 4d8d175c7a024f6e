"""The cognitive map: what each cell of the world holds, decoded from the activations of one turn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

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
from gde_plugins.probes.classifier import CogmapClassifier
from gde_plugins.probes.config import CogmapConfig
from gde_plugins.probes.map_scores import score_maps
from gde_plugins.probes.weights import CellWeights, check_finite, class_probabilities


@dataclass(frozen=True, kw_only=True, eq=False)
class CogmapReadout:
    """A fitted map decoder; needs NumPy alone."""

    weights: CellWeights
    size: int
    """Side of the decoded square."""
    n_classes: int
    """C: kinds of cells, and padding."""
    trained: NDArray[np.int64]
    """Classes that occurred in training, in the order of the network's outputs."""

    def predict(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """(N, D) activations to (N, size, size, C) probabilities of the classes; 0 for one never trained on.

        Raises:
            ValueError: activations that are not finite, naming the row.
        """
        check_finite(inputs)
        maps = np.zeros((len(inputs), self.size, self.size, self.n_classes), dtype=np.float32)
        shape = (self.size, self.size)
        maps[..., self.trained] = class_probabilities(self.weights, np.asarray(inputs, dtype=np.float32), shape)
        return maps

    def arrays(self) -> Mapping[str, NDArray[np.float32]]:
        """The network's arrays, and "size" (1,), "n_classes" (1,) and "trained", the classes trained on."""
        counts = {"size": self.size, "n_classes": self.n_classes}
        extra = {name: np.array([count], np.float32) for name, count in counts.items()}
        return {**self.weights.arrays(), **extra, "trained": self.trained.astype(np.float32)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.float32]]) -> Self:
        """The inverse of `arrays`."""
        return cls(
            weights=CellWeights.from_arrays(arrays),
            size=int(arrays["size"][0]),
            n_classes=int(arrays["n_classes"][0]),
            trained=arrays["trained"].astype(np.int64),
        )


@dataclass(frozen=True)
class CogmapProbe:
    """Decodes for every cell of which kind it is, or that it is padding (Arghal et al. 2026, section 5.1).

    The kinds are those that the record names, in its order; in grids: empty, agent, goal and wall.
    """

    config: CogmapConfig

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
            ValueError: activations that are not finite, naming the row.
        """
        check_finite(train.inputs)
        config, linear = self.config, variant == "linear"
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
        ).fit(train.inputs, train.labels)
        return CogmapReadout(
            weights=classifier.weights_,
            size=config.size,
            n_classes=len(train.classes),
            trained=classifier.classes_,
        )

    def load(self, variant: str, arrays: Mapping[str, NDArray[np.float32]]) -> Readout:  # noqa: ARG002
        return CogmapReadout.from_arrays(arrays)

    def score(self, readout: Readout, test: ProbeDataset, rng: np.random.Generator) -> Sequence[Measurement]:
        """See `score_maps`."""
        return score_maps(readout.predict(test.inputs), test.labels.astype(np.int64), test.groups, test.classes, rng)

    def _cells(self, trajectory: Trajectory, turn: Turn) -> NDArray[np.int64]:
        where = f"cogmap: turn {turn.index} of episode {trajectory.key}"
        if turn.state is None:
            raise GdeError(f"{where} has no recorded state; choose an environment that gives one, e.g. grid")
        try:
            return CellMap.from_record(trajectory.world, turn.state).padded(self.config.size)
        except ValueError as error:
            raise GdeError(f"{where}: {error}; the probe's size is {self.config.size}") from error
