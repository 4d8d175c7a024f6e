"""The cognitive map: what each cell of the grid holds, decoded from the activations of one turn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from gde.data.activations import CaptureRequest
from gde.data.completion import ModelInfo
from gde.data.grid import Cell, Grid
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
    classes: NDArray[np.int64]
    """(C,) `Cell` codes that occurred in training, in the order of the network's outputs."""

    def predict(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """(N, D) activations to (N, size, size, 5) probabilities by `Cell` code; 0 for one never trained on.

        Raises:
            ValueError: activations that are not finite, naming the row.
        """
        check_finite(inputs)
        maps = np.zeros((len(inputs), self.size, self.size, len(Cell)), dtype=np.float32)
        shape = (self.size, self.size)
        maps[..., self.classes] = class_probabilities(self.weights, np.asarray(inputs, dtype=np.float32), shape)
        return maps

    def arrays(self) -> Mapping[str, NDArray[np.float32]]:
        """The network's arrays, and "size" (1,) and "classes" (C,)."""
        extra = {"size": np.array([self.size], np.float32), "classes": self.classes.astype(np.float32)}
        return {**self.weights.arrays(), **extra}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.float32]]) -> Self:
        """The inverse of `arrays`."""
        return cls(
            weights=CellWeights.from_arrays(arrays),
            size=int(arrays["size"][0]),
            classes=arrays["classes"].astype(np.int64),
        )


@dataclass(frozen=True)
class CogmapProbe:
    """Decodes empty, agent, goal, wall and padding for every cell (Arghal et al. 2026, section 5.1)."""

    config: CogmapConfig

    @property
    def variants(self) -> tuple[str, ...]:
        return self.config.variants

    def capture(self, model: ModelInfo) -> CaptureRequest:
        return self.config.capture(model)

    def labels(self, trajectory: Trajectory) -> ProbeLabels:
        """(T, size, size) `Cell` codes of the true grid in every turn.

        Raises:
            GdeError: a turn without a recorded grid, or a grid larger than the decoded square.
        """
        maps = [self._cells(trajectory, turn) for turn in trajectory.turns]
        return ProbeLabels(values=np.array(maps, dtype=np.int64).reshape(-1, self.config.size, self.config.size))

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
        return CogmapReadout(weights=classifier.weights_, size=config.size, classes=classifier.classes_)

    def load(self, variant: str, arrays: Mapping[str, NDArray[np.float32]]) -> Readout:  # noqa: ARG002
        return CogmapReadout.from_arrays(arrays)

    def score(self, readout: Readout, test: ProbeDataset, rng: np.random.Generator) -> Sequence[Measurement]:
        """See `score_maps`."""
        return score_maps(readout.predict(test.inputs), test.labels.astype(np.int64), test.groups, rng)

    def _cells(self, trajectory: Trajectory, turn: Turn) -> NDArray[np.int64]:
        where = f"cogmap: turn {turn.index} of episode {trajectory.key}"
        if turn.state is None:
            raise GdeError(f"{where} has no recorded state; choose an environment that gives one, e.g. grid")
        try:
            return Grid.from_record(trajectory.world, turn.state).cells(self.config.size)
        except ValueError as error:
            raise GdeError(f"{where}: {error}; the probe's size is {self.config.size}") from error
