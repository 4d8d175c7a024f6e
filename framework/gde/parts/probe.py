"""Probes, which decode beliefs from activations."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, get_args, runtime_checkable

import numpy as np

from gde.data.activations import CaptureRequest, TokenSequence
from gde.data.arrays import Doubles, Floats
from gde.data.completion import Completion, ModelInfo, Tokenization
from gde.data.probe import InputForm, Likelihoods, ProbeDataset, ProbeLabels
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.errors import GdeError

Tokenize = Callable[[str], Tokenization]
"""As `gde.parts.language_model.WhiteBox.tokenize`."""
Marked = Mapping[str, tuple[int, ...] | str]
"""Position to indices into the tokens of prompt and completion, or why it is not there."""
Marks = Callable[[Completion, TokenSequence, Tokenize], Marked]


@runtime_checkable
class Readout(Protocol):
    """A fitted probe."""

    def predict(self, inputs: Floats) -> Floats:
        """Decode beliefs (N, ...), e.g. class probabilities, from activations.

        Activations have the form of `ProbeDataset.inputs`.
        """

    def arrays(self) -> Mapping[str, Floats]:
        """All that was learned, to be stored as safetensors."""


@runtime_checkable
class Probe(Protocol):
    """Decodes something from activations; the framework runs the controls.

    A probe with an attribute `inputs = "tokens"` gets the marked tokens one by one,
    however many a turn has. Without, or with "concatenated", it gets them side by side,
    equally many in every turn.

    A probe with an attribute `one_turn = True` is fitted to, and scored on, one random
    turn of each world: turns of one world tell little more than one of them.

    A probe with an attribute `orders` learns in so many orders of the worlds, of which
    code lengths and learning curves are the mean. Without it is one.

    A probe with an attribute `marks` finds positions itself, such as tokens of certain
    words, in each completion and all its tokens (`Marks`). Activations are stored by
    the position's name, so that a name must stand for one way to find it.

    A probe with an attribute `concurrent = True` may be called by several threads at
    once. Its fits must not share anything that changes, such as the generator of torch.
    """

    @property
    def variants(self) -> tuple[str, ...]:
        """Names of the models that the probe fits, the main one first.

        For example ("mlp", "linear").
        """

    def capture(self, model: ModelInfo) -> CaptureRequest:
        """The activations of this model that the probe reads."""

    def labels(self, trajectory: Trajectory) -> ProbeLabels:
        """The truth in every turn of the trajectory."""

    def fit(
        self, variant: str, train: ProbeDataset, rng: np.random.Generator
    ) -> Readout:
        """Learn to decode."""

    def load(self, variant: str, arrays: Mapping[str, Floats]) -> Readout:
        """The readout that `fit` gave, from what its `arrays` stored."""

    def score(
        self, readout: Readout, test: ProbeDataset, rng: np.random.Generator
    ) -> Sequence[Measurement]:
        """Held-out performance with intervals clustered by `test.groups`.

        Resampling draws from `rng`.
        """


@runtime_checkable
class ScoresTurns(Protocol):
    """A probe whose measurements are means over turns.

    Only such a probe can be tested against its controls: both are scored on the same
    turns, so that their difference is paired by world.
    """

    def turn_scores(self, decoded: Floats, test: ProbeDataset) -> Mapping[str, Doubles]:
        """Score each held-out turn.

        Args:
            decoded: what `Readout.predict` decodes from `test.inputs`.
            test: the held-out turns.

        Returns:
            (N,) scores by the name of a measurement of `score`, whose value is their
            mean; NaN for a turn that does not count.
        """


@runtime_checkable
class PredictsLabels(Protocol):
    """A probe that gives labels probabilities, from which their code length follows."""

    def likelihoods(
        self, readout: Readout, turns: ProbeDataset
    ) -> Mapping[str, Likelihoods]:
        """The probabilities of the true labels of all turns, by what they are of.

        The turns are the same for every fit of a code. What `uniform` takes as known of
        them, such as the sizes of their maps or the range of their labels, may be used
        for `fitted` too. `uniform` does not depend on the fit.
        """


def input_form(probe: Probe) -> InputForm:
    """How the probe wants its activations.

    Raises:
        GdeError: its attribute `inputs` names no form.
    """
    form: InputForm = getattr(probe, "inputs", "concatenated")
    if form not in get_args(InputForm):
        raise GdeError(
            f"inputs of {type(probe).__name__}: wanted {' or '.join(get_args(InputForm))}, got {form!r}"
        )
    return form


def marks_of(probe: Probe) -> Marks | None:
    """How the probe finds positions itself; None if it does not."""
    marks: Marks | None = getattr(probe, "marks", None)
    return marks


def is_concurrent(probe: Probe) -> bool:
    """Whether several threads may call the probe at once.

    Raises:
        GdeError: its attribute `concurrent` is neither True nor False.
    """
    return _flag(probe, "concurrent")


def reads_one_turn(probe: Probe) -> bool:
    """Whether one turn of each world counts.

    Raises:
        GdeError: its attribute `one_turn` is neither True nor False.
    """
    return _flag(probe, "one_turn")


def orders_of(probe: Probe) -> int:
    """In how many orders of the worlds the probe learns.

    Raises:
        GdeError: its attribute `orders` is no number above 0.
    """
    given = getattr(probe, "orders", 1)
    if not isinstance(given, int) or isinstance(given, bool) or given < 1:
        raise GdeError(
            f"orders of {type(probe).__name__}: wanted a number above 0, got {given!r}"
        )
    return given


def _flag(probe: Probe, name: str) -> bool:
    given = getattr(probe, name, False)
    if not isinstance(given, bool):
        raise GdeError(
            f"{name} of {type(probe).__name__}: wanted True or False, got {given!r}"
        )
    return given
