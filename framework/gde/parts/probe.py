"""What is decoded from activations."""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from gde.data.activations import CaptureRequest
from gde.data.completion import ModelInfo
from gde.data.probe import ProbeDataset, ProbeLabels
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory


@runtime_checkable
class Readout(Protocol):
    """A fitted probe."""

    def predict(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """(N, D) activations to (N, ...) decoded beliefs, e.g. class probabilities a cell."""

    def arrays(self) -> Mapping[str, NDArray[np.float32]]:
        """All that was learned, to be stored as safetensors."""


@runtime_checkable
class Probe(Protocol):
    """A question put to the activations. Controls are run by the framework, not by the probe."""

    @property
    def variants(self) -> tuple[str, ...]:
        """Names of the models that the probe fits side by side, e.g. ("mlp", "linear"); the first is the main one."""

    def capture(self, model: ModelInfo) -> CaptureRequest:
        """Which activations of this model are read."""

    def labels(self, trajectory: Trajectory) -> ProbeLabels:
        """The truth in every turn of the trajectory."""

    def fit(self, variant: str, train: ProbeDataset, rng: np.random.Generator) -> Readout:
        """Learn to decode."""

    def load(self, variant: str, arrays: Mapping[str, NDArray[np.float32]]) -> Readout:
        """The readout that `fit` gave, from what its `arrays` stored."""

    def score(self, readout: Readout, test: ProbeDataset, rng: np.random.Generator) -> Sequence[Measurement]:
        """Held-out performance with intervals clustered by `test.groups`; resampling draws from `rng`."""
