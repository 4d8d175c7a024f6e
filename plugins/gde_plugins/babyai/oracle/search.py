"""Exact search for shortest solutions of a mission by A*.

The bound never overestimates, so the first solution found is shortest. If the search
ends without one, there is none.
"""

from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count

from gde_plugins.babyai.oracle.bounds import Bound
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


def shortest(start: Simulation, bound: Bound, budget: int, longest: int = FAR) -> Found:
    """Find a shortest solution from a moment.

    Args:
        start: the moment; it is not changed.
        bound: the bound of its scene.
        budget: number of states that may be expanded.
        longest: the most actions that a solution may have.
    """
    # Of equal totals the deepest comes first, then the oldest. The number also keeps
    # moments from being compared.
    order = count()
    expanded = 0
    cost_of: dict[Key, int] = {start.key: 0}
    came_from: dict[Key, tuple[Key, str]] = {}
    queue: list[tuple[int, int, int, Key, Simulation]] = []
    lower = bound.of(start)
    if lower <= longest and lower < FAR:
        heappush(queue, (lower, 0, next(order), start.key, start))

    while queue:
        _, minus_cost, _, key, now = heappop(queue)
        cost = -minus_cost
        # A shorter way to this moment was found after it had been queued.
        if cost > cost_of[key]:
            continue
        if now.succeeded:
            return _solution(key, came_from)
        if expanded == budget:
            return Found(None, certain=False)

        expanded += 1
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

    return Found(None, certain=True)


def _solution(key: Key, came_from: dict[Key, tuple[Key, str]]) -> Found:
    actions: list[str] = []
    keys = [key]
    while key in came_from:
        key, action = came_from[key]
        actions.append(action)
        keys.append(key)
    return Found(tuple(reversed(actions)), certain=True, keys=tuple(reversed(keys)))
