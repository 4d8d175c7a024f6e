"""Directed acyclic graphs, given as a mapping from every node to its parents."""

from collections.abc import Hashable, Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import combinations
from typing import TypeVar

NodeT = TypeVar("NodeT", bound=Hashable)


def ordered(parents: Mapping[NodeT, Iterable[NodeT]]) -> tuple[NodeT, ...]:
    """The nodes, parents before children; the same mapping gives the same order.

    Raises:
        ValueError: there is a cycle.
    """
    try:
        return tuple(TopologicalSorter(parents).static_order())
    except CycleError as error:
        raise ValueError(f"wanted a graph without cycles, got {' -> '.join(map(str, error.args[1]))}") from None


def ancestors(parents: Mapping[NodeT, Iterable[NodeT]], nodes: Iterable[NodeT]) -> set[NodeT]:
    """The nodes and everything that leads to them."""
    found: set[NodeT] = set()
    open_ = [*nodes]
    while open_:
        node = open_.pop()
        if node not in found:
            found.add(node)
            open_ += parents[node]
    return found


def descendants(parents: Mapping[NodeT, Iterable[NodeT]], node: NodeT) -> set[NodeT]:
    """The node and everything that it leads to."""
    return {other for other in parents if node in ancestors(parents, [other])}


def d_separated(
    parents: Mapping[NodeT, Iterable[NodeT]], first: Iterable[NodeT], second: Iterable[NodeT], given: Iterable[NodeT]
) -> bool:
    """Whether `given` blocks every path between the two sets: whether it cuts them in the moral graph of all ancestors
    (Lauritzen et al. 1990). What is in `given` is separated from everything.
    """
    known = set(given)
    start = set(first) - known
    goal = set(second) - known
    relevant = ancestors(parents, start | goal | known)
    neighbours: dict[NodeT, set[NodeT]] = {node: set() for node in relevant}
    for node in relevant:
        for one, other in combinations([node, *parents[node]], 2):
            neighbours[one].add(other)
            neighbours[other].add(one)
    reached = set(known)
    open_ = [*start]
    while open_:
        node = open_.pop()
        if node not in reached:
            reached.add(node)
            open_ += neighbours[node] - reached
    return not goal & (reached - known)
