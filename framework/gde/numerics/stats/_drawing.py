"""Sums of many values that are drawn at random, in blocks that fit into memory.

Where many values are equal, numbers of equal values are drawn in place of the values.
The sums have the same distribution, and drawing takes a thousandth of the time.
"""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from gde.data.arrays import Doubles, Indices

Values = TypeVar("Values", Doubles, NDArray[np.complex128])
DRAWN_AT_ONCE = 2**20
"""Most numbers drawn in one block. Up to one block, values are drawn one by one."""
EQUAL = 8
"""Fewest values for each distinct one from which on their numbers are drawn."""


def resampled(values: Values, rng: np.random.Generator, resamples: int) -> Values:
    """(R,) sums of as many values as there are, drawn from values (G,) with
    replacement.

    Sums of pairs are those of complex numbers.
    """
    G = len(values)
    kinds = _kinds(values) if resamples * G > DRAWN_AT_ONCE else None
    if kinds is None:

        def each(rows: int) -> Values:
            return values[rng.integers(G, size=(rows, G), dtype=np.int32)]

        return _sums(each, resamples, G)

    distinct, counts = kinds

    def numbers(rows: int) -> Values:
        return rng.multinomial(G, counts / G, size=rows) * distinct

    return _sums(numbers, resamples, len(distinct))


def flipped(sizes: Doubles, rng: np.random.Generator, permutations: int) -> Doubles:
    """(P,) sums of sizes (G,), each with a random sign."""
    G = len(sizes)
    kinds = _kinds(sizes)
    if kinds is None:

        def each(rows: int) -> Doubles:
            positive = rng.integers(2, size=(rows, G), dtype=np.int8)
            return np.where(positive, sizes, -sizes)

        return _sums(each, permutations, G)

    distinct, counts = kinds

    def numbers(rows: int) -> Doubles:
        positive = rng.binomial(counts, 0.5, size=(rows, len(counts)))
        return (2 * positive - counts) * distinct

    return _sums(numbers, permutations, len(distinct))


def at_once(width: int) -> int:
    """The number of rows of this width that are drawn in one block."""
    return max(1, DRAWN_AT_ONCE // width)


def _kinds(values: Values) -> tuple[Values, Indices] | None:
    """The distinct values and how often each occurs; None where few are equal."""
    distinct, counts = np.unique(values, return_counts=True)
    return (distinct, counts) if len(distinct) * EQUAL <= len(values) else None


def _sums(draw: Callable[[int], Values], rows: int, width: int) -> Values:
    """The sums of rows of this width, of which `draw` draws a number."""
    full, rest = divmod(rows, at_once(width))
    blocks = [at_once(width)] * full + [rest] * bool(rest)
    # No matrix product, whose rounding depends on the size of the block.
    return np.concatenate([draw(n).sum(axis=1) for n in blocks])
