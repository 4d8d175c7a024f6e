"""How far the goal still is: the optimal remaining length, decoded from the activations of one turn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from gde.data.activations import CaptureRequest
from gde.data.completion import ModelInfo
from gde.data.probe import ProbeDataset, ProbeLabels
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.numerics.stats import cluster_mean, cluster_ratio
from gde.parts.probe import Readout
from gde_plugins.probes.config import DistanceConfig
from gde_plugins.probes.training import Examples, Settings, fit_network
from gde_plugins.probes.weights import CellWeights, cell_coordinates, check_finite, z_scores


@dataclass(frozen=True, kw_only=True, eq=False)
class DistanceReadout:
    """A fitted regression; needs NumPy alone."""

    weights: CellWeights

    def predict(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """(N, D) activations to (N,) steps to the goal.

        Raises:
            ValueError: activations that are not finite, naming the row.
        """
        check_finite(inputs)
        chunks = self.weights.logits(np.asarray(inputs, dtype=np.float32), cell_coordinates(()))
        return np.concatenate([steps[:, 0, 0] for _, steps in chunks])

    def arrays(self) -> Mapping[str, NDArray[np.float32]]:
        return self.weights.arrays()

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.float32]]) -> Self:
        """The inverse of `arrays`."""
        return cls(weights=CellWeights.from_arrays(arrays))


@dataclass(frozen=True)
class DistanceProbe:
    """Regresses the optimal remaining length (Arghal et al. 2026, appendix F.3)."""

    config: DistanceConfig

    @property
    def variants(self) -> tuple[str, ...]:
        return self.config.variants

    def capture(self, model: ModelInfo) -> CaptureRequest:
        return self.config.capture(model)

    def labels(self, trajectory: Trajectory) -> ProbeLabels:
        """(T,) steps to the goal by the shortest way: the optimal return with its sign turned.

        Raises:
            GdeError: a turn whose optimal value is not known.
        """
        values = [turn.value for turn in trajectory.turns]
        known = [0.0 - value for value in values if value is not None and np.isfinite(value)]
        if len(known) < len(values):
            raise GdeError(f"distance: episode {trajectory.key} has turns without an optimal value; choose --env grid")
        return ProbeLabels(values=np.array(known, dtype=np.float64))

    def fit(self, variant: str, train: ProbeDataset, rng: np.random.Generator) -> Readout:
        """A network of least squared error.

        Raises:
            ValueError: activations that are not finite, naming the row.
        """
        check_finite(train.inputs)
        config, linear = self.config, variant == "linear"
        steps = train.labels[:, None].astype(np.float64)
        mean, scale = z_scores(steps)
        scored = ((steps - mean) / scale).astype(np.float32)
        settings = Settings(
            hidden=0 if linear else config.hidden,
            whiten=config.whiten,
            epochs=config.epochs,
            batch=config.batch,
            cells=None,
            learning_rate=config.linear_learning_rate if linear else config.learning_rate,
            weight_decay=config.weight_decay,
            device=config.device,
        )
        examples = Examples(inputs=train.inputs, shape=(), targets=scored, weights=np.ones(scored.shape))
        weights, _ = fit_network(examples, 1, settings, rng)
        return DistanceReadout(weights=_in_steps(weights, mean, scale))

    def load(self, variant: str, arrays: Mapping[str, NDArray[np.float32]]) -> Readout:  # noqa: ARG002
        return DistanceReadout.from_arrays(arrays)

    def score(self, readout: Readout, test: ProbeDataset, rng: np.random.Generator) -> Sequence[Measurement]:
        """ "mae", the mean absolute error in steps, and "r2", the share of the variance explained."""
        errors = readout.predict(test.inputs) - test.labels
        deviations = test.labels - test.labels.mean()
        mae = cluster_mean(np.abs(errors), test.groups, rng).measurement("mae", "steps")
        if not deviations.any():
            reason = "all held-out distances are equal"
            return [mae, Measurement(name="r2", value=None, unit="share", n=len(errors), reason=reason)]
        explained = cluster_ratio(deviations**2 - errors**2, deviations**2, test.groups, rng)
        return [mae, explained.measurement("r2", "share")]


def _in_steps(weights: CellWeights, mean: NDArray[np.float32], scale: NDArray[np.float32]) -> CellWeights:
    """The network whose outputs are those of `weights` in units of `scale` from `mean`."""
    if weights.output is None or weights.output_bias is None:
        return replace(weights, activation=weights.activation * scale, bias=weights.bias * scale + mean)
    return replace(weights, output=weights.output * scale, output_bias=weights.output_bias * scale + mean)
