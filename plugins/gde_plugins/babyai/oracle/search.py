"""Exact search for shortest solutions of a mission: A* over everything that can change.

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
    lower: int
    """A lower bound on the number of actions of any solution."""
    looked_at: int
    """Number of states expanded."""
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
    first = start.key
    if start.succeeded:
        return Found((), certain=True, lower=0, looked_at=0, keys=(first,))

    # Of equal totals the deepest comes first, then the oldest. The number also keeps
    # moments from being compared.
    order = count()
    looked_at = 0
    lower = bound.of(start)
    cost_of: dict[Key, int] = {first: 0}
    came_from: dict[Key, tuple[Key, str]] = {}
    queue: list[tuple[int, int, int, Key, Simulation]] = []
    if lower <= longest and lower < FAR:
        heappush(queue, (lower, 0, next(order), first, start))

    while queue:
        total, minus_cost, _, key, now = heappop(queue)
        cost = -minus_cost
        # A shorter way to this moment was found after it had been queued.
        if cost > cost_of[key]:
            continue

        # The least total in the queue bounds all solutions that are not found yet.
        lower = max(lower, total)
        if now.succeeded:
            actions, keys = _solution(key, came_from)
            return Found(
                actions, certain=True, lower=cost, looked_at=looked_at, keys=keys
            )
        if looked_at == budget:
            return Found(None, certain=False, lower=lower, looked_at=looked_at)

        looked_at += 1
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

    return Found(None, certain=True, lower=FAR, looked_at=looked_at)


def _solution(
    key: Key, came_from: dict[Key, tuple[Key, str]]
) -> tuple[tuple[str, ...], tuple[Key, ...]]:
    actions: list[str] = []
    keys = [key]
    while key in came_from:
        key, action = came_from[key]
        actions.append(action)
        keys.append(key)
    return tuple(reversed(actions)), tuple(reversed(keys))
