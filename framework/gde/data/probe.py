"""What a probe learns from and what it turns into."""

from dataclasses import dataclass, replace
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from gde.data.json import Labels
from gde.data.result import Measurement

InputForm = Literal["concatenated", "tokens"]
"""How a probe is given the activations of a position."""
Control = Literal["none", "coordinates", "shuffled", "untrained", "embeddings"]
CONTROLS: tuple[Control, ...] = ("coordinates", "shuffled", "untrained", "embeddings")
FIT = frozenset({"variant", "layer", "position", "control"})
"""The labels with which a result says which fit a number is of."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ProbeLabels:
    """The truth that a probe is to decode, one entry a turn of a trajectory."""

    values: NDArray[np.int64] | NDArray[np.float64]
    """(T, ...); the trailing shape is the same for every trajectory."""
    classes: tuple[str, ...] = ()
    """What the values 0, 1, ... stand for, the same for every trajectory; empty where they are no classes."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ProbeDataset:
    """Activations and labels of many turns."""

    inputs: NDArray[np.float32]
    """(N, D): the activations of the marked tokens, concatenated in order. For a probe that wants tokens (N, T, width),
    with NaN after the last token of a turn that has fewer than T, see `token_lengths`."""
    labels: NDArray[np.int64] | NDArray[np.float64]
    """(N, ...)."""
    groups: NDArray[np.str_]
    """(N,) world ids; no group is ever both trained and tested on."""
    classes: tuple[str, ...] = ()
    """What the labels stand for, as in `ProbeLabels`."""

    def __post_init__(self) -> None:
        lengths = (len(self.inputs), len(self.labels), len(self.groups))
        if len(set(lengths)) > 1:
            raise ValueError(f"inputs, labels and groups must be equally long, got {lengths}")

    def take(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> "ProbeDataset":
        """The dataset of the chosen rows."""
        return replace(self, inputs=self.inputs[rows], labels=self.labels[rows], groups=self.groups[rows])


def token_lengths(inputs: NDArray[np.float32]) -> NDArray[np.int64]:
    """(N,) tokens of each turn, from padded inputs (N, T, width)."""
    lengths: NDArray[np.int64] = (~np.isnan(inputs[:, :, 0])).sum(axis=1)
    return lengths


@dataclass(frozen=True, kw_only=True)
class Fit:
    """One fit of a probe: on which activations, and as which control."""

    probe: str
    """Name of the probe as chosen in the plan."""
    variant: str
    """A probe's own name for one of its models, e.g. "mlp"."""
    layer: int
    position: str
    control: Control = "none"

    @property
    def name(self) -> str:
        """A short unambiguous name, fit for a file."""
        return f"{self.probe}-{self.variant}-layer{self.layer}-{self.position}-{self.control}"

    @property
    def where(self) -> Labels:
        """What the numbers of a result are restricted to that are of this fit."""
        return {"variant": self.variant, "layer": self.layer, "position": self.position, "control": self.control}

    @classmethod
    def of(cls, one: Measurement) -> "Fit | None":
        """The fit that a number of a result is of; None for what a metric gives."""
        where = one.where
        own = f"{one.name}.".startswith(f"{one.source}.")
        if not one.source or not own or not where.keys() >= FIT:
            return None
        return cls(
            probe=one.source,
            variant=str(where["variant"]),
            layer=int(where["layer"]),
            position=str(where["position"]),
            control=cast("Control", where["control"]),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class ProbeReport:
    """What one fit decoded on held-out worlds."""

    fit: Fit
    measurements: tuple[Measurement, ...]
    n_train: int
    n_test: int
    rows: tuple[tuple[str, int], ...]
    """(episode key, turn index) of the held-out rows."""
    decoded: NDArray[np.float32]
    """(n_test, ...) the readout's predictions on them, e.g. class probabilities."""
    classes: tuple[str, ...] = ()
    """What the probe tells apart, as in `ProbeLabels`."""
    reason: str = ""
    """Why nothing was measured; empty when something was."""
