"""The data that a probe is fitted to, and the report of a fit."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from gde.data.arrays import Bools, Doubles, Floats, Indices, Ints
from gde.data.json import Labels
from gde.data.result import Measurement

InputForm = Literal["concatenated", "tokens"]
"""The form in which a probe gets the activations of a position."""
Control = Literal[
    "none", "no_activations", "prompt", "conditions", "shuffled", "untrained"
]
CONTROLS: tuple[Control, ...] = (
    "no_activations",
    "prompt",
    "conditions",
    "shuffled",
    "untrained",
)
FIT = frozenset({"variant", "layer", "position", "control"})
"""The labels of a number in a result that name its fit."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ProbeLabels:
    """The truth that a probe decodes, one entry for each turn of a trajectory."""

    values: Ints | Doubles
    """(T, ...); the trailing shape is the same for every trajectory. A turn with
    NaN has no label: the probe leaves it out, and no control gives it one.
    """
    classes: tuple[str, ...] = ()
    """Names of the values 0, 1, ..., the same for every trajectory; empty where they
    are no classes.
    """


@dataclass(frozen=True, kw_only=True, eq=False)
class ProbeDataset:
    """Activations and labels of many turns."""

    inputs: Floats
    """(N, D): the activations of the marked tokens, concatenated in order. A probe with
    `inputs = "tokens"` gets (N, T, width), with NaN after the last token of a turn that
    has fewer than T.
    """
    labels: Ints | Doubles
    """(N, ...)."""
    groups: NDArray[np.str_]
    """(N,) world ids; no group is ever both trained and tested on."""
    classes: tuple[str, ...] = ()
    """Names of the labels, as in `ProbeLabels`."""

    def __post_init__(self) -> None:
        lengths = (len(self.inputs), len(self.labels), len(self.groups))
        if len(set(lengths)) > 1:
            raise ValueError(
                f"inputs, labels and groups must be equally long, got {lengths}"
            )

    def take(self, rows: Indices | Bools) -> "ProbeDataset":
        """The dataset of the chosen rows."""
        return replace(
            self,
            inputs=self.inputs[rows],
            labels=self.labels[rows],
            groups=self.groups[rows],
        )


@dataclass(frozen=True, kw_only=True)
class Fit:
    """One fit of a probe: its variant, its activations, and its control."""

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
        """The labels of this fit's numbers in a result."""
        return {
            "variant": self.variant,
            "layer": self.layer,
            "position": self.position,
            "control": self.control,
        }

    @classmethod
    def of(cls, one: Measurement) -> "Fit | None":
        """The fit of a number in a result; None for the number of a metric."""
        where = one.where
        # A metric may break its numbers down by the labels of fits, but only probes
        # begin names with their own.
        is_own = one.source and f"{one.name}.".startswith(f"{one.source}.")
        if not is_own or not where.keys() >= FIT:
            return None
        return cls(
            probe=one.source,
            variant=str(where["variant"]),
            layer=int(where["layer"]),
            position=str(where["position"]),
            control=cast("Control", where["control"]),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Likelihoods:
    """The probabilities of true labels: L labels for each of N turns."""

    fitted: Doubles
    """(N, L) as a probe predicts; NaN where a turn has fewer labels."""
    uniform: Doubles
    """(N, L) one over the number of values that are possible there."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CodedTurns:
    """Training turns that a probe has predicted before it was fitted to them."""

    rows: tuple[tuple[str, int], ...] = ()
    """(episode key, turn index)."""
    worlds: tuple[str, ...] = ()
    """(N,) the world of each row."""
    scores: Mapping[str, Floats] = field(default_factory=dict)
    """(K, N) code lengths by the name of the measurement that is their mean."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ProbeReport:
    """The predictions and numbers of one fit on held-out worlds."""

    fit: Fit
    measurements: tuple[Measurement, ...]
    n_train: int
    n_test: int
    rows: tuple[tuple[str, int], ...]
    """(episode key, turn index) of the N held-out turns, of which `n_test` count."""
    decoded: Floats
    """(N, ...) the readout's predictions on them, e.g. class probabilities; of a
    control of several draws, those of the first.
    """
    further: tuple[Floats, ...] = ()
    """The same of the further draws."""
    classes: tuple[str, ...] = ()
    """Names of the classes, as in `ProbeLabels`."""
    worlds: tuple[str, ...] = ()
    """(N,) the world of each row."""
    scores: Mapping[str, Floats] = field(default_factory=dict)
    """(K, N) scores of the turns by the name of the measurement that is their
    mean, from each of K draws: see `gde.parts.probe.ScoresTurns`. NaN in turns that do
    not count.
    """
    coded: CodedTurns = field(default_factory=CodedTurns)
    model: str = ""
    """The language model whose activations were read, by the user's name."""
    unread: str = ""
    """How many turns have no activations, and why; empty where all have."""
    reason: str = ""
    """Why nothing was measured; empty when something was."""
    absent: bool = False
    """Whether the reason is that the model never reasons, so that the position does not
    exist. That is no failure.
    """
