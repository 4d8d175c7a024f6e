"""A small probe of single tokens that decodes the agent's next actions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gde.data.activations import CaptureRequest
from gde.data.arrays import Doubles, Floats
from gde.data.completion import ModelInfo
from gde.data.probe import InputForm, ProbeDataset, ProbeLabels
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.numerics.stats import cluster_mean
from gde.parts.probe import Readout
from gde.testing.parts import ACTIONS

KINDS = len(ACTIONS) + 1
"""The actions, and "none" for a turn after the end or an answer that could not be
used.
"""


@dataclass(frozen=True, kw_only=True, eq=False)
class PlanReadout:
    """A linear map of the mean token of each turn."""

    weights: Floats
    """(width + 1, ahead * KINDS), the last row the bias."""

    def predict(self, inputs: Floats) -> Floats:
        """(N, ahead, KINDS) scores, the likeliest the largest.

        The input is (N, T, width) padded activations.
        """
        scores = _features(inputs) @ self.weights
        return scores.reshape(len(inputs), -1, KINDS).astype(np.float32)

    def arrays(self) -> Mapping[str, Floats]:
        return {"weights": self.weights}


@dataclass(frozen=True, kw_only=True)
class PlanProbe:
    """Decodes the next actions in a corridor by ridge regression."""

    ahead: int = 3
    """Actions, from the present turn on."""
    layers: tuple[int, ...] = (0,)
    position: str = "message"
    variants: tuple[str, ...] = ("ridge",)
    inputs: ClassVar[InputForm] = "tokens"

    def capture(self, model: ModelInfo) -> CaptureRequest:  # noqa: ARG002 - a layer too deep is the model's to refuse
        return CaptureRequest(layers=self.layers, positions=(self.position,))

    def labels(self, trajectory: Trajectory) -> ProbeLabels:
        """(T, ahead) index into ACTIONS, len(ACTIONS) for none."""
        taken = [turn.decision.action for turn in trajectory.turns]
        none = len(ACTIONS)
        classes = [ACTIONS.index(each) if each in ACTIONS else none for each in taken]
        classes += [none] * self.ahead
        padded = np.array(classes, dtype=np.int64)
        columns = [padded[i : i + len(taken)] for i in range(self.ahead)]
        return ProbeLabels(values=np.stack(columns, axis=1))

    def fit(
        self,
        variant: str,  # noqa: ARG002
        train: ProbeDataset,
        rng: np.random.Generator,  # noqa: ARG002
    ) -> Readout:
        features = _features(train.inputs)
        one_hot = np.eye(KINDS)[train.labels.astype(np.int64)]
        targets = one_hot.reshape(len(features), -1)
        # Ridge regression with a penalty of 1: (X'X + I) W = X'Y.
        gram = features.T @ features + np.eye(features.shape[1])
        weights = np.linalg.solve(gram, features.T @ targets)
        return PlanReadout(weights=weights.astype(np.float32))

    def load(self, variant: str, arrays: Mapping[str, Floats]) -> Readout:  # noqa: ARG002
        return PlanReadout(weights=arrays["weights"])

    def score(
        self, readout: Readout, test: ProbeDataset, rng: np.random.Generator
    ) -> Sequence[Measurement]:
        """ "accuracy": the share of the next actions that are decoded."""
        right = readout.predict(test.inputs).argmax(axis=-1) == test.labels
        accuracy = cluster_mean(right.mean(axis=1), test.groups, rng)
        return (accuracy.measurement("accuracy"),)


def _features(inputs: Floats) -> Doubles:
    """(N, width + 1) the mean over each turn's own tokens, and 1."""
    mean = np.nanmean(inputs.astype(np.float64), axis=1)
    return np.concatenate([mean, np.ones((len(mean), 1))], axis=1)
