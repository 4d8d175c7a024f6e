"""Exact inference by variable elimination."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from string import ascii_letters

import numpy as np

from gde.data.mdp import Floats
from gde_plugins.meg.causal.diagram import Diagram

LARGEST = 2**24
"""Entries of the largest table that is made: 128 MiB."""


@dataclass(frozen=True, eq=False)
class Factor:
    """A table with a variable for each axis."""

    names: tuple[str, ...]
    table: Floats


def joint(diagram: Diagram, names: Sequence[str]) -> Floats:
    """P(names), one axis for each name in the order given, decisions taken by their policies.

    Raises:
        ValueError: a name is no variable or given twice, or a table would exceed `LARGEST`.
    """
    diagram.check(names)
    factors = [family(diagram, name) for name in diagram.nodes if diagram.nodes[name].kind != "utility"]
    return contract(factors, names)


def response(diagram: Diagram, names: Sequence[str]) -> Floats:
    """P(names || decisions): the product of all tables but the policies, summed over every variable not named.

    Times the policies it is the joint distribution, whatever they are, as long as `names` holds the decisions and
    their parents: the truncated factorisation of Definition 2.1.

    Raises:
        ValueError: a table would exceed `LARGEST`.
    """
    factors = [family(diagram, name) for name in diagram.names("chance")]
    decided = [Factor((name,), np.ones(diagram.cardinalities[name])) for name in diagram.decisions]
    return contract([*factors, *decided], names)


def family(diagram: Diagram, name: str) -> Factor:
    """Return the table of a variable as a factor."""
    return Factor((*diagram.parents[name], name), diagram.nodes[name].table)


def contract(factors: Sequence[Factor], keep: Sequence[str]) -> Floats:
    """Multiply the factors and sum over every variable that is not in `keep`; axes in the order of `keep`.

    Variables are summed out one after the other, the one that leaves the smallest table first.

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
    while waiting:
        name = min(waiting, key=lambda name: _size(_after(left, name), sizes))
        touched = [factor for factor in left if name in factor.names]
        left = [factor for factor in left if name not in factor.names]
        left.append(_multiply(touched, _after(touched, name), sizes))
        waiting.remove(name)
    return _multiply(left, tuple(keep), sizes).table


def _after(factors: Sequence[Factor], name: str) -> tuple[str, ...]:
    """Return the variables of the table that summing out `name` leaves."""
    touched = [factor.names for factor in factors if name in factor.names]
    return tuple(dict.fromkeys(other for names in touched for other in names if other != name))


def _size(names: Sequence[str], sizes: dict[str, int]) -> int:
    return prod(sizes[name] for name in names)


def _multiply(factors: Sequence[Factor], keep: tuple[str, ...], sizes: dict[str, int]) -> Factor:
    entries = _size(keep, sizes)
    if entries > LARGEST:
        raise ValueError(
            f"exact inference needs a table of {entries:,} entries over {', '.join(keep)}, wanted at most {LARGEST:,}:"
            " name fewer targets or decisions, or merge values of variables"
        )
    letters = dict(zip(dict.fromkeys(name for factor in factors for name in factor.names), ascii_letters, strict=False))
    inputs = ",".join("".join(letters[name] for name in factor.names) for factor in factors)
    subscripts = f"{inputs}->{''.join(letters[name] for name in keep)}"
    table: Floats = np.einsum(subscripts, *(factor.table for factor in factors), optimize=len(factors) > 2)
    return Factor(keep, table)
