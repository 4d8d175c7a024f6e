"""The leading principal components of the hidden state, a small and unsupervised
summary of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from gde.data.activations import CaptureRequest
from gde.data.completion import ModelInfo
from gde.data.probe import ProbeDataset, ProbeLabels
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.numerics.stats import cluster_ratio
from gde.parts.probe import Readout
from gde_plugins.meg.config import ComponentsConfig


@dataclass(frozen=True, kw_only=True, eq=False)
class ComponentsReadout:
    """A fitted projection."""

    mean: NDArray[np.float32]
    """(D,)."""
    axes: NDArray[np.float32]
    """(K, D) orthonormal, by falling variance."""
    scale: NDArray[np.float32]
    """(K,) standard deviation along each axis, in training; 1 where there is none."""

    def predict(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """Project (N, D) activations to (N, K) components in training standard
        deviations.
        """
        centred = inputs - self.mean
        projected = centred @ self.axes.T / self.scale
        return projected.astype(np.float32)

    def arrays(self) -> Mapping[str, NDArray[np.float32]]:
        """Return all that has to be stored, by name."""
        return {"mean": self.mean, "axes": self.axes, "scale": self.scale}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.float32]]) -> Self:
        """Make a readout of stored arrays, the inverse of `arrays`."""
        return cls(**arrays)


@dataclass(frozen=True)
class ComponentsProbe:
    """Principal component analysis. It learns from no truth, so its labels are empty
    and shuffling changes nothing.

    Other metrics use the components, for example `meg.inside`.
    """

    config: ComponentsConfig
    variants: tuple[str, ...] = ("pca",)

    def capture(self, model: ModelInfo) -> CaptureRequest:
        """Return the configured layer and positions, see `ComponentsConfig.capture`."""
        return self.config.capture(model)

    def labels(self, trajectory: Trajectory) -> ProbeLabels:
        """Return (T, 0) labels: no truth is learned."""
        n_turns = len(trajectory.turns)
        return ProbeLabels(values=np.zeros((n_turns, 0)))

    def fit(
        self,
        variant: str,  # noqa: ARG002
        train: ProbeDataset,
        rng: np.random.Generator,  # noqa: ARG002
    ) -> Readout:
        """Find the axes of largest variance of the training turns.

        Raises:
            ValueError: activations that are not finite, or fewer turns than components.
        """
        inputs = train.inputs
        count = self.config.count
        if not np.isfinite(inputs).all():
            raise ValueError("activations must be finite")
        if len(inputs) <= count:
            raise ValueError(
                f"wanted more turns than components, {count}, got {len(inputs)}"
            )

        mean = inputs.mean(axis=0, dtype=np.float64)
        _, spread, axes = np.linalg.svd(inputs - mean, full_matrices=False)
        axes = axes[:count]
        spread = spread[:count] / np.sqrt(len(inputs))

        # The sign of an axis is arbitrary: its largest entry is made positive, so that
        # it is the same everywhere.
        largest = np.abs(axes).argmax(axis=1)
        signs = np.sign(axes[np.arange(len(axes)), largest])
        axes *= signs[:, None]

        # An axis without variance would divide by zero.
        scale = np.where(spread > 0, spread, 1.0)
        return ComponentsReadout(
            mean=_single(mean), axes=_single(axes), scale=_single(scale)
        )

    def load(self, variant: str, arrays: Mapping[str, NDArray[np.float32]]) -> Readout:  # noqa: ARG002
        """Make the readout of its stored arrays."""
        return ComponentsReadout.from_arrays(arrays)

    def score(
        self, readout: Readout, test: ProbeDataset, rng: np.random.Generator
    ) -> Sequence[Measurement]:
        """Measure "explained", the share of the variance of held-out activations that
        the components keep.
        """
        assert isinstance(readout, ComponentsReadout)
        # Axes are orthonormal, so squared lengths before and after the projection
        # compare.
        projected = (readout.predict(test.inputs) * readout.scale).astype(np.float64)
        centred = (test.inputs - readout.mean).astype(np.float64)
        kept = (projected**2).sum(axis=1)
        total = (centred**2).sum(axis=1)
        if not total.any():
            reason = "all held-out activations are equal"
            return [
                Measurement(
                    name="explained",
                    value=None,
                    unit="share",
                    n=len(total),
                    reason=reason,
                )
            ]
        estimate = cluster_ratio(kept, total, test.groups, rng)
        return [estimate.measurement("explained", "share")]


def _single(values: NDArray[np.float64]) -> NDArray[np.float32]:
    return np.ascontiguousarray(values, dtype=np.float32)
