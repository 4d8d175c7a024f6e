"""Exact search for shortest solutions of a mission by A*.

The bound never overestimates, so the first solution found is shortest. If the search
ends without one, there is none.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import count
from typing import Protocol

from gde_plugins.babyai.oracle.distances import FAR
from gde_plugins.babyai.worlds.scene import ACTIONS
from gde_plugins.babyai.worlds.simulation import Simulation

Key = tuple[object, ...]


@dataclass(frozen=True)
class Found:
    """The result of a search."""

    actions: tuple[str, ...] | None
    """A shortest solution; None if there is none, or none was found."""
    certain: bool
    """Whether the result is proved; otherwise the budget was spent."""
    keys: tuple[Key, ...] = ()
    """The keys of the moments along the solution, first and last included."""
    lower: int = 0
    """A lower bound of the length of every solution."""
    expanded: Mapping[Key, int] = field(default_factory=dict)
    """Number of actions to each moment that was expanded."""
    length: int | None = None
    """The length of a shortest solution."""


class LowerBound(Protocol):
    """Bounds the actions to success from below, consistently."""

    def of(self, now: Simulation) -> int: ...


def shortest(
    start: Simulation,
    bound: LowerBound,
    budget: int,
    longest: int = FAR,
    known: Mapping[Key, int] | None = None,
) -> Found:
    """Find a shortest solution from a moment.

    Args:
        start: the moment; it is not changed.
        bound: the bound of its scene.
        budget: number of states that may be expanded.
        longest: the most actions that a solution may have.
        known: lengths of shortest solutions from other moments; the search ends at
            such a moment, and the solution with the actions to it.
    """
    known = known or {}
    # Of equal totals the deepest comes first, then the oldest. The number also keeps
    # moments from being compared.
    order = count()
    expanded: dict[Key, int] = {}
    cost_of: dict[Key, int] = {start.key: 0}
    came_from: dict[Key, tuple[Key, str]] = {}
    queue: list[tuple[int, int, int, Key, Simulation]] = []
    lower = bound.of(start)
    if lower <= longest and lower < FAR:
        heappush(queue, (lower, 0, next(order), start.key, start))

    while queue:
        total, minus_cost, _, key, now = heappop(queue)
        cost = -minus_cost
        # A shorter way to this moment was found after it had been queued.
        if cost > cost_of[key]:
            continue
        if now.succeeded or key in known:
            found = _solution(key, came_from)
            length = cost + known.get(key, 0)
            return replace(found, lower=length, length=length, expanded=expanded)
        if len(expanded) == budget:
            return Found(None, certain=False, lower=total, expanded=expanded)

        expanded[key] = cost
        cost += 1
        for action in ACTIONS:
            after = now.copy()
            after.act(action)

            # The key alone does not say whether the mission has ended.
            after_key = (*after.key, after.verdict) if after.over else after.key
            if cost >= cost_of.get(after_key, FAR):
                continue

            left = bound.of(after)
            if left < FAR and cost + left <= longest:
                cost_of[after_key] = cost
                came_from[after_key] = (key, action)
                heappush(queue, (cost + left, -cost, next(order), after_key, after))

    beyond = FAR if longest == FAR else longest + 1
    return Found(None, certain=True, lower=beyond, expanded=expanded)


def _solution(key: Key, came_from: dict[Key, tuple[Key, str]]) -> Found:
    actions: list[str] = []
    keys = [key]
    while key in came_from:
        key, action = came_from[key]
        actions.append(action)
        keys.append(key)
    return Found(tuple(reversed(actions)), certain=True, keys=tuple(reversed(keys)))
