"""Residual-stream activations at marked tokens, and the request for them."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

import numpy as np
from numpy.typing import NDArray

EMBEDDING = -1
"""The layer index that stands for the input embeddings, below layer 0."""


InterventionKind = Literal["add", "replace", "project_out"]


@dataclass(frozen=True, kw_only=True)
class CaptureRequest:
    """Which activations to keep."""

    layers: tuple[int, ...]
    """Decoder layers counted from 0, read at their output; EMBEDDING for the input embeddings."""
    marks: tuple[str, ...] = ("pre", "post")
    """Names of token marks of a completion (`Completion.marks`)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Intervention:
    """One change of the residual stream at the output of a layer, at marked tokens."""

    layer: int
    mark: str
    """A mark of the prompt (`Completion.marks`)."""
    kind: InterventionKind
    """"add" the vector, "replace" the activation by it, or "project_out" its direction."""
    vector: NDArray[np.float32]
    """(width,) for all tokens of the mark, or (tokens of the mark, width)."""

    def __post_init__(self) -> None:
        if not np.isfinite(self.vector).all():
            raise ValueError("the vector of an intervention must be finite")

    @property
    def identity(self) -> str:
        """Equal for equal changes; every entry of the vector counts."""
        vector = np.ascontiguousarray(self.vector, dtype="<f4")
        place = f"{self.layer} {self.mark!r} {self.kind} {vector.shape} "
        return sha256(place.encode() + vector.tobytes()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class TokenSequence:
    """One replayable sequence: all its tokens and where to read."""

    tokens: tuple[int, ...]
    marks: Mapping[str, tuple[int, ...]]
    interventions: tuple[Intervention, ...] = ()
    """Changes made while the sequence is replayed."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ActivationRecord:
    """What one sequence left in the residual stream."""

    values: Mapping[tuple[int, str], NDArray[np.float32]]
    """(layer, mark) to a read-only (tokens of the mark, width) array; absent where the sequence lacks the mark."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ActivationTable:
    """All activations of a run at one layer and mark, one row a turn."""

    values: NDArray[np.float32]
    """(N, tokens, width), C-ordered."""
    rows: tuple[tuple[str, int], ...]
    """(episode key, turn index) of each row."""
