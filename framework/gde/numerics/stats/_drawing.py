"""Sums of many values that are drawn at random, in blocks that fit into memory.

Where many values are equal, numbers of equal values are drawn in place of the values.
The sums have the same distribution, and drawing takes a thousandth of the time.
"""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Values = TypeVar("Values", NDArray[np.float64], NDArray[np.complex128])
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
    distinct, counts = np.unique(values, return_counts=True)
    by_number = resamples * G > DRAWN_AT_ONCE and are_equal(values)

    def block(rows: int) -> Values:
        if by_number:
            drawn = rng.multinomial(G, counts / G, size=rows)
            # Not a matrix product, whose rounding depends on the size of the block.
            return np.asarray((drawn * distinct).sum(axis=1))
        return np.asarray(
            values[rng.integers(G, size=(rows, G), dtype=np.int32)].sum(axis=1)
        )

    width = len(distinct) if by_number else G
    return np.concatenate([block(rows) for rows in _blocks(resamples, width)])


def flipped(
    sizes: NDArray[np.float64], rng: np.random.Generator, permutations: int
) -> NDArray[np.float64]:
    """(P,) sums of sizes (G,), each with a random sign."""
    G = len(sizes)
    distinct, counts = np.unique(sizes, return_counts=True)
    by_number = are_equal(sizes)

    def block(rows: int) -> NDArray[np.float64]:
        if by_number:
            positive = rng.binomial(counts, 0.5, size=(rows, len(distinct)))
            return np.asarray(((2 * positive - counts) * distinct).sum(axis=1))
        positive = rng.integers(2, size=(rows, G), dtype=np.int8)
        return np.asarray(np.where(positive, sizes, -sizes).sum(axis=1))

    width = len(distinct) if by_number else G
    return np.concatenate([block(rows) for rows in _blocks(permutations, width)])


def are_equal(values: Values) -> bool:
    """Whether so many of the values (G,) are equal that their numbers are drawn."""
    return len(np.unique(values)) * EQUAL <= len(values)


def at_once(width: int) -> int:
    """The number of rows of this width that are drawn in one block."""
    return max(1, DRAWN_AT_ONCE // width)


def _blocks(rows: int, width: int) -> list[int]:
    """The numbers of rows of the blocks in which rows of this width are drawn."""
    full, rest = divmod(rows, at_once(width))
    return [at_once(width)] * full + [rest] * bool(rest)
