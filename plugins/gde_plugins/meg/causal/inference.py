"""Exact inference by variable elimination."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from gde.data.arrays import Doubles
from gde_plugins.meg.causal.diagram import Diagram

LARGEST = 2**24
"""Entries of the largest table that is made: 128 MiB."""


@dataclass(frozen=True, eq=False)
class Factor:
    """A table with a variable for each axis."""

    names: tuple[str, ...]
    table: Doubles


def response(diagram: Diagram, names: Sequence[str]) -> Doubles:
    """Return P(names || decisions): the product of all tables but the policies, summed
    over every other variable.

    Multiplied by policies it is their joint distribution, if `names` holds the
    decisions and their parents: the truncated factorisation of Definition 2.1.

    Raises:
        ValueError: a table would exceed `LARGEST`.
    """
    factors = [family(diagram, name) for name in diagram.names("chance")]
    # A factor of ones gives the axis of a decision its size where no chance variable
    # depends on it.
    for name in diagram.decisions:
        n_options = diagram.cardinalities[name]
        factors.append(Factor((name,), np.ones(n_options)))
    return contract(factors, names)


def family(diagram: Diagram, name: str) -> Factor:
    """Return the table of a variable as a factor."""
    names = (*diagram.parents[name], name)
    return Factor(names, diagram.nodes[name].table)


def contract(factors: Sequence[Factor], keep: Sequence[str]) -> Doubles:
    """Multiply the factors and sum over every variable that is not in `keep`; axes in
    the order of `keep`.

    Raises:
        ValueError: a variable is in `keep` twice, or a table would exceed `LARGEST`.
    """
    if len({*keep}) < len(keep):
        raise ValueError(f"wanted every variable once, got {', '.join(keep)}")
    sizes: dict[str, int] = {}
    for factor in factors:
        sizes.update(zip(factor.names, factor.table.shape, strict=True))
    left = [*factors]
    waiting = [name for name in sizes if name not in keep]

    # Greedy order: the variable whose sum leaves the smallest table comes first.
    while waiting:
        name = min(waiting, key=lambda name: _size(_after(left, name), sizes))
        waiting.remove(name)
        touched = []
        untouched = []
        for factor in left:
            if name in factor.names:
                touched.append(factor)
            else:
                untouched.append(factor)
        summed = _multiply(touched, _after(touched, name), sizes)
        left = [*untouched, summed]
    return _multiply(left, tuple(keep), sizes).table


def _after(factors: Sequence[Factor], name: str) -> tuple[str, ...]:
    """Return the variables of the table that summing out `name` leaves."""
    names: dict[str, None] = {}
    for factor in factors:
        if name in factor.names:
            names.update(dict.fromkeys(factor.names))
    names.pop(name, None)
    return tuple(names)


def _size(names: Sequence[str], sizes: dict[str, int]) -> int:
    return prod(sizes[name] for name in names)


def _multiply(
    factors: Sequence[Factor], keep: tuple[str, ...], sizes: dict[str, int]
) -> Factor:
    """Multiply the factors and sum over every variable that is not in `keep`."""
    entries = _size(keep, sizes)
    if entries > LARGEST:
        variables = ", ".join(keep)
        raise ValueError(
            f"exact inference needs a table of {entries:,} entries over {variables}, wanted at most {LARGEST:,}:"
            " name fewer targets or decisions, or merge values of variables"
        )

    # For einsum, variables are numbers.
    numbers: dict[str, int] = {}
    operands: list[Any] = []
    for factor in factors:
        operands.append(factor.table)
        operands.append(
            [numbers.setdefault(name, len(numbers)) for name in factor.names]
        )
    output = [numbers[name] for name in keep]

    # A path through few factors takes longer to find than it saves.
    many = len(factors) > 2
    table: Doubles = np.einsum(*operands, output, optimize=many)
    return Factor(keep, table)
