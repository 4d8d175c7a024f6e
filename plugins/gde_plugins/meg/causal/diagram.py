"""Causal Bayesian networks and influence diagrams (MacDermott et al. 2024, Definitions
2.1 and 2.2) as tables.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from gde.data.arrays import Doubles
from gde.data.mdp import TOLERANCE
from gde_plugins.meg.causal.graph import ordered

Kind = Literal["chance", "decision", "utility"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Node:
    """One variable; its values are 0, 1, ... Made by `chance`, `decision` or
    `utility`.
    """

    name: str
    kind: Kind
    parents: tuple[str, ...]
    table: Doubles
    """Conditional probabilities, indexed by the parents' values in their order and then
    by the own value; of a utility numbers, indexed by the parents' values.
    """
    cardinality: int
    """The number of values of the variable; 1 for a utility, whose value is a
    number.
    """


def chance(name: str, table: ArrayLike, parents: Sequence[str] = ()) -> Node:
    """Make a chance variable of P(value | parents), shape (*cardinalities of the
    parents, own cardinality).

    Raises:
        ValueError: these are no probabilities, or the number of axes does not fit the
            parents.
    """
    return _probabilistic("chance", name, table, parents)


def decision(name: str, policy: ArrayLike, parents: Sequence[str] = ()) -> Node:
    """Make a decision with the policy that is followed, shape as for `chance`;
    `Diagram.follow` replaces it.

    Raises:
        ValueError: as `chance`.
    """
    return _probabilistic("decision", name, policy, parents)


def utility(name: str, table: ArrayLike, parents: Sequence[str]) -> Node:
    """Make a utility: a number for all values of its parents, shape (*cardinalities of
    the parents).

    Raises:
        ValueError: a number is not finite.
    """
    values = _numbers(f"utility {name!r}", table, parents)
    if not np.isfinite(values).all():
        raise ValueError(
            f"utility {name!r}: wanted finite numbers, got NaN or infinity"
        )
    return Node(
        name=name,
        kind="utility",
        parents=tuple(parents),
        table=values,
        cardinality=1,
    )


def _probabilistic(
    kind: Literal["chance", "decision"],
    name: str,
    table: ArrayLike,
    parents: Sequence[str],
) -> Node:
    values = _numbers(f"table of {name!r}", table, parents)
    if values.ndim != len(parents) + 1 or not values.size:
        names = ", ".join(parents) or "none"
        wanted = (
            f"one axis for each of the parents ({names}) and one for {name!r} itself"
        )
        raise ValueError(
            f"table of {name!r}: wanted {wanted}, got shape {values.shape}"
        )

    # Stated so that NaN, which compares as False with everything, is an error too.
    off = np.abs(values.sum(axis=-1) - 1)
    valid = off.max() <= TOLERANCE and values.min() >= 0
    if not valid:
        error = np.maximum(off, -values.min(axis=-1))
        worst = np.unravel_index(np.argmax(error), off.shape)
        row = tuple(map(int, worst))
        got = values[row]
        raise ValueError(
            f"table of {name!r}, row {row}: wanted probabilities that sum to one, got {got}"
        )
    return Node(
        name=name,
        kind=kind,
        parents=tuple(parents),
        table=values,
        cardinality=values.shape[-1],
    )


def _numbers(what: str, table: ArrayLike, parents: Sequence[str]) -> Doubles:
    """Return the table of a node with these parents as an array.

    Raises:
        ValueError: it is no array of numbers, or the parents are no list.
    """
    # A text is a sequence too: 'S1' would be read as the parents 'S' and '1'.
    if isinstance(parents, str):
        raise ValueError(
            f"{what}: wanted a list of parents, got the text {parents!r}: give [{parents!r}]"
        )
    try:
        return np.asarray(table, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{what}: wanted an array of numbers, got {table!r}") from None


class Diagram:
    """A causal Bayesian network; with decisions and utilities, a causal influence
    diagram with a policy.

    Args:
        nodes: in any order.

    Raises:
        ValueError: a name is given twice, a parent is no node or a utility, there is a
            cycle, or a table does not fit the cardinalities of the parents.
    """

    def __init__(self, *nodes: Node) -> None:
        by_name: dict[str, Node] = {}
        for node in nodes:
            if node.name in by_name:
                raise ValueError(f"wanted every variable once, got {node.name!r} twice")
            by_name[node.name] = node

        # Parents may come after their children, so they are looked up when all names
        # are known.
        for node in nodes:
            _check_parents(node, by_name)
        order = ordered({node.name: node.parents for node in nodes})
        self.nodes: Mapping[str, Node] = {name: by_name[name] for name in order}
        """By name, parents before children."""

    @cached_property
    def parents(self) -> dict[str, tuple[str, ...]]:
        """The graph."""
        return {name: node.parents for name, node in self.nodes.items()}

    @cached_property
    def cardinalities(self) -> dict[str, int]:
        """The number of values of each variable."""
        return {name: node.cardinality for name, node in self.nodes.items()}

    @property
    def decisions(self) -> tuple[str, ...]:
        """Names of the decisions, in topological order."""
        return self.names("decision")

    def names(self, kind: Kind) -> tuple[str, ...]:
        """Return the names of the variables of one kind, in topological order."""
        return tuple(name for name, node in self.nodes.items() if node.kind == kind)

    def check(self, names: Iterable[str]) -> None:
        """Do nothing if these are variables.

        Raises:
            ValueError: a name is no variable, or a utility, or there is one text
                instead of a list.
        """
        if isinstance(names, str):
            raise ValueError(
                f"wanted a list of variables, got the text {names!r}: give [{names!r}]"
            )
        # A utility has no values of its own: it is what others aim at.
        variables = [
            name for name, node in self.nodes.items() if node.kind != "utility"
        ]
        for name in names:
            if name not in variables:
                raise ValueError(
                    f"wanted a variable of the diagram ({', '.join(variables)}), got {name!r}"
                )

    def posit(
        self, decisions: Sequence[str] = (), utilities: Sequence[Node] = ()
    ) -> "Diagram":
        """Return the diagram under a hypothesis: these variables decide, for the sake
        of these utilities (Fig. 1c).

        Raises:
            ValueError: a decision is no variable, or a utility does not fit.
        """
        self.check(decisions)
        nodes = dict(self.nodes)
        for name in decisions:
            nodes[name] = replace(nodes[name], kind="decision")
        return Diagram(*nodes.values(), *utilities)

    def follow(self, policies: Mapping[str, ArrayLike]) -> "Diagram":
        """Return the diagram with other policies, by decision.

        Raises:
            ValueError: a name is no decision, or a policy does not fit.
        """
        nodes = dict(self.nodes)
        for name, table in policies.items():
            if name not in self.decisions:
                known = ", ".join(self.decisions) or "there is none"
                raise ValueError(f"wanted a decision ({known}), got {name!r}")
            nodes[name] = decision(name, table, self.parents[name])
        return Diagram(*nodes.values())


def _check_parents(node: Node, nodes: Mapping[str, Node]) -> None:
    """Raise ValueError where the parents or the shape of the table do not fit the other
    nodes.
    """
    axes: list[str] = []
    wanted: list[int] = []
    for parent in node.parents:
        if parent not in nodes:
            known = ", ".join(nodes)
            raise ValueError(
                f"{node.name!r}: the parent {parent!r} is no variable of the diagram: {known}"
            )
        if nodes[parent].kind == "utility":
            raise ValueError(
                f"{node.name!r}: the parent {parent!r} is a utility, which has no children"
            )
        axes.append(parent)
        wanted.append(nodes[parent].cardinality)
    if len(set(axes)) < len(axes):
        raise ValueError(
            f"{node.name!r}: wanted every parent once, got {', '.join(axes)}"
        )

    # The value of a utility is a number, which needs no axis.
    if node.kind != "utility":
        axes.append(node.name)
        wanted.append(node.cardinality)
    shape = tuple(wanted)
    if node.table.shape != shape:
        over = ", ".join(axes)
        raise ValueError(
            f"table of {node.name!r}: wanted shape {shape} over ({over}), got {node.table.shape}"
        )
