"""Directed acyclic graphs, given as a mapping from every node to its parents."""

from collections.abc import Hashable, Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import combinations
from typing import TypeVar

NodeT = TypeVar("NodeT", bound=Hashable)


def ordered(parents: Mapping[NodeT, Iterable[NodeT]]) -> tuple[NodeT, ...]:
    """Return the nodes, parents before children; the same mapping gives the same order.

    Raises:
        ValueError: there is a cycle.
    """
    try:
        return tuple(TopologicalSorter(parents).static_order())
    except CycleError as error:
        cycle = " -> ".join(map(str, error.args[1]))
        raise ValueError(f"wanted a graph without cycles, got {cycle}") from None


def ancestors(
    parents: Mapping[NodeT, Iterable[NodeT]], nodes: Iterable[NodeT]
) -> set[NodeT]:
    """Return the nodes and everything that leads to them."""
    found: set[NodeT] = set()
    waiting = [*nodes]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += parents[node]
    return found


def descendants(parents: Mapping[NodeT, Iterable[NodeT]], node: NodeT) -> set[NodeT]:
    """Return the node and everything that it leads to."""
    return {other for other in parents if node in ancestors(parents, [other])}


def d_separated(
    parents: Mapping[NodeT, Iterable[NodeT]],
    first: Iterable[NodeT],
    second: Iterable[NodeT],
    given: Iterable[NodeT],
) -> bool:
    """Return whether `given` blocks every path between the two sets.

    It does where it cuts them in the moral graph of all ancestors (Lauritzen et al.
    1990). The nodes in `given` are separated from everything.
    """
    known = set(given)
    start = set(first) - known
    goal = set(second) - known
    relevant = ancestors(parents, start | goal | known)

    # The moral graph joins every node to its parents, and the parents of a node to each
    # other.
    neighbours: dict[NodeT, set[NodeT]] = {node: set() for node in relevant}
    for node in relevant:
        for one, other in combinations([node, *parents[node]], 2):
            neighbours[one].add(other)
            neighbours[other].add(one)

    # No path leads through the nodes in `given`.
    for around in neighbours.values():
        around.difference_update(known)
    reached = ancestors(neighbours, start)
    return goal.isdisjoint(reached)
