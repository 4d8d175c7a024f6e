"""Activations at marked tokens, and the request for them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic_core import CoreSchema
from pydantic_core.core_schema import no_info_plain_validator_function

from gde.data.arrays import Floats, Indices, Ints
from gde.data.place import RESIDUAL, check_place

EMBEDDING = -1
"""The layer index that stands for the input embeddings, below layer 0."""
InterventionKind = Literal["add", "replace", "project_out"]
KINDS: tuple[InterventionKind, ...] = get_args(InterventionKind)


@dataclass(frozen=True, kw_only=True)
class CaptureRequest:
    """Which activations to keep."""

    layers: tuple[int, ...]
    """Decoder layers counted from 0, read at their output; EMBEDDING for the input
    embeddings.
    """
    positions: tuple[str, ...] = ("pre", "post")
    """Names of token positions of a completion (`Completion.positions`)."""
    place: str = RESIDUAL
    """Place of the layers (`gde.data.place`); the input embeddings have `residual` alone."""

    def __post_init__(self) -> None:
        check_place(self.place)


@dataclass(frozen=True, kw_only=True, eq=False)
class Intervention:
    """One change of the activations at a place of a layer.

    It applies to marked tokens. Equal changes are equal objects.

    Interventions at one place are made in their order. The effect of a change at a
    token reaches deeper layers of that token and, by attention, the tokens after it:
    the answer sees a changed prompt.
    """

    layer: int
    """A decoder layer counted from 0; EMBEDDING for the input embeddings."""
    position: str
    """A position of the prompt (`Completion.positions`) or of the request; in a replay any
    position of the sequence.
    """
    kind: InterventionKind
    """"add" the vector, "replace" the activation by it, or "project_out" its
    direction.
    """
    vector: Floats
    """(width,) for all tokens of the position, or (tokens of the position, width), as wide
    as the place. A read-only copy is kept.
    """
    place: str = RESIDUAL
    """Place of the layer: `residual`, at its output, `attention`, `mlp` or `head:N`
    (`gde.data.place`).
    """

    def __post_init__(self) -> None:
        # A copy: a change of the caller's array would change the identity.
        vector = np.array(self.vector, dtype=np.float32, order="C")
        vector.flags.writeable = False
        object.__setattr__(self, "vector", vector)

        check_place(self.place)
        if self.kind not in KINDS:
            raise ValueError(
                f"an intervention must be one of {', '.join(KINDS)}, got {self.kind!r}"
            )
        if vector.ndim not in {1, 2} or not vector.size:
            raise ValueError(
                f"the vector of an intervention must be (width,) or (tokens, width), got {vector.shape}"
            )
        if not np.isfinite(vector).all():
            raise ValueError("the vector of an intervention must be finite")
        if self.kind == "project_out" and not vector.any(axis=-1).all():
            raise ValueError("a zero vector has no direction to project out")

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: object) -> CoreSchema:
        """Read one from its fields, the vector as lists of numbers."""
        return no_info_plain_validator_function(lambda fields: cls(**fields))

    @cached_property
    def identity(self) -> str:
        """Equal for equal changes; every entry of the vector counts."""
        place = f"{self.layer} {self.position!r} {self.kind} {self.vector.shape} "
        if self.place != RESIDUAL:
            place = f"{self.place} {place}"
        # A fixed byte order gives the same identity on every machine.
        entries = self.vector.astype("<f4").tobytes()
        return sha256(place.encode() + entries).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Intervention) and self.identity == other.identity

    def __hash__(self) -> int:
        return hash(self.identity)

    def applied(self, stream: NDArray[np.floating]) -> NDArray[np.floating]:
        """The (tokens, width) activations after the change, in their own precision."""
        match self.kind:
            case "add":
                changed = stream + self.vector
            case "replace":
                changed = np.broadcast_to(self.vector, stream.shape)
            case "project_out":
                vector = self.vector.astype(np.float64)
                length = np.linalg.norm(vector, axis=-1, keepdims=True)
                direction = vector / length
                along = (stream * direction).sum(axis=-1, keepdims=True)
                changed = stream - along * direction
        return changed.astype(stream.dtype)


@dataclass(frozen=True, kw_only=True)
class TokenSequence:
    """One replayable sequence: all its tokens and where to read."""

    tokens: tuple[int, ...]
    positions: Mapping[str, tuple[int, ...]]
    interventions: tuple[Intervention, ...] = ()
    """Changes made while the sequence is replayed. What is read at their layer is read
    after them.
    """
    scored: int = 0
    """Number of last tokens whose log-probabilities are read in the same pass."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ActivationRecord:
    """The activations of one sequence at the requested place."""

    values: Mapping[tuple[int, str], Floats]
    """(layer, position) to a read-only (tokens of the position, width) array.

    A position that the sequence lacks is absent."""
    logprobs: tuple[float, ...] = ()
    """Log-probabilities of the scored tokens, before temperature."""
    deficits: tuple[float, ...] = ()
    """How far each of them is below that of the likeliest token; empty where the
    model's own settings change what is drawn at temperature 0.
    """


class Stored(Protocol):
    """A (S, width) array, or one that is read from files as its rows are used."""

    @property
    def shape(self) -> tuple[int, ...]:
        """As of an array."""

    def __getitem__(self, rows: Any, /) -> Any:
        """The chosen rows, an array."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ActivationTable:
    """All activations of a run at one layer and position.

    The number of tokens may differ between turns.
    """

    values: Stored
    """(S, width), C-ordered: the marked tokens of all turns, those of a turn together
    and in order.
    """
    lengths: Ints
    """(N,) marked tokens of each turn, one or more; they sum to S."""
    rows: tuple[tuple[str, int], ...]
    """(episode key, turn index) of each of the N turns."""

    def concatenated(self, turns: Indices | None = None) -> Floats:
        """(N, tokens * width): the tokens of each turn side by side.

        Of an array, all turns are given without a copy.

        Args:
            turns: those that are wanted; None for all.

        Raises:
            ValueError: the turns have different numbers of tokens.
        """
        fewest = self.lengths.min()
        most = self.lengths.max()
        if fewest < most:
            advice = 'set `inputs = "tokens"` on the probe, which then receives single tokens'
            raise ValueError(
                f"wanted equally many tokens at the position in every turn, got {fewest} to {most}: {advice}"
            )
        return self._tokens(turns).reshape(-1, fewest * self.values.shape[-1])

    def padded(self, turns: Indices | None = None) -> Floats:
        """(N, T, width) activations, T the tokens of the longest of all turns.

        NaN follows the last token of a shorter turn.

        NaN, because a probe that takes padding for activations should get no number at
        all.

        Args:
            turns: those that are wanted; None for all.

        Raises:
            ValueError: activations that are not finite and could be taken for padding.
        """
        values = self._tokens(turns)
        if not np.isfinite(values).all():
            raise ValueError("wanted finite activations, got some that are not")

        # (N, T) True for the tokens that a turn has.
        lengths = self.lengths if turns is None else self.lengths[turns]
        there = np.arange(self.lengths.max()) < lengths[:, None]

        padded = np.full((*there.shape, values.shape[-1]), np.nan, dtype=np.float32)
        padded[there] = values
        padded.flags.writeable = False
        return padded

    def _tokens(self, turns: Indices | None) -> Floats:
        """The tokens of some turns, one after another."""
        chosen: Any = slice(None)
        if turns is not None:
            begins = np.cumsum(self.lengths) - self.lengths
            places = [np.arange(begins[i], begins[i] + self.lengths[i]) for i in turns]
            # Of no turns as well.
            chosen = np.concatenate([begins[:0], *places])
        tokens: Floats = self.values[chosen]
        return tokens
