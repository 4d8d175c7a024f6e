"""Exact search for shortest ways to fulfil a mission: A* over everything that can change.

The bound never overestimates, so the first way found is shortest, and where the search ends without one there is none.
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
    """What a search found out."""

    actions: tuple[str, ...] | None
    """A shortest way; None where there is none, or none was found."""
    certain: bool
    """Whether that is proved; otherwise the search was stopped."""
    lower: int
    """A way takes at least as many actions."""
    looked_at: int
    """States whose successors were made."""
    keys: tuple[Key, ...] = ()
    """The moments along the way."""


def shortest(start: Simulation, bound: Bound, budget: int, longest: int = FAR) -> Found:
    """A shortest way from a moment to the fulfilled mission.

    Args:
        start: not changed.
        bound: of its scene.
        budget: states that may be looked at.
        longest: a way of more actions is of no use, and counts as none.
    """
    if start.succeeded:
        return Found((), certain=True, lower=0, looked_at=0, keys=(start.key,))
    order, looked_at, lower = count(), 0, bound.of(start)
    first = start.key
    best: dict[Key, int] = {first: 0}
    came: dict[Key, tuple[Key, str]] = {}
    queue: list[tuple[int, int, int, Key, Simulation]] = []
    if lower <= longest and lower < FAR:
        heappush(queue, (lower, 0, next(order), first, start))
    while queue:
        total, minus_cost, _, key, now = heappop(queue)
        cost = -minus_cost
        if cost > best[key]:
            continue
        lower = max(lower, total)
        if now.succeeded:
            actions, keys = _way(key, came)
            return Found(actions, certain=True, lower=cost, looked_at=looked_at, keys=keys)
        if looked_at == budget:
            return Found(None, certain=False, lower=lower, looked_at=looked_at)
        looked_at += 1
        for action in ACTIONS:
            after = now.copy()
            after.act(action)
            reached = after.key if not after.over else (*after.key, after.verdict)
            if cost + 1 < best.get(reached, FAR) and (left := bound.of(after)) < FAR and cost + 1 + left <= longest:
                best[reached] = cost + 1
                came[reached] = (key, action)
                heappush(queue, (cost + 1 + left, -cost - 1, next(order), reached, after))
    return Found(None, certain=True, lower=FAR, looked_at=looked_at)


def _way(key: Key, came: dict[Key, tuple[Key, str]]) -> tuple[tuple[str, ...], tuple[Key, ...]]:
    actions, keys = list[str](), [key]
    while key in came:
        key, action = came[key]
        actions.append(action)
        keys.append(key)
    return tuple(reversed(actions)), tuple(reversed(keys))
