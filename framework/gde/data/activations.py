"""Residual-stream activations at marked tokens, and the request for them."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

EMBEDDING = -1
"""The layer index that stands for the input embeddings, below layer 0."""


@dataclass(frozen=True, kw_only=True)
class CaptureRequest:
    """Which activations to keep."""

    layers: tuple[int, ...]
    """Decoder layers counted from 0, read at their output; EMBEDDING for the input embeddings."""
    marks: tuple[str, ...] = ("pre", "post")
    """Names of token marks of a completion (`Completion.marks`)."""


@dataclass(frozen=True, kw_only=True)
class TokenSequence:
    """One replayable sequence: all its tokens and where to read."""

    tokens: tuple[int, ...]
    marks: Mapping[str, tuple[int, ...]]


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
