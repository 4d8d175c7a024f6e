"""Random arrangements and goals, and what can be reached, found without the planner."""

from collections import deque

import numpy as np

from gde_plugins.blocksworld.arrangement import TABLE, Below, successors
from gde_plugins.blocksworld.goal import Goal
from gde_plugins.blocksworld.problems import random_arrangement


def reachable(n_blocks: int) -> dict[Below, list[Below]]:
    """Every arrangement of so many blocks, hand included, with those that lead to it in
    one action.
    """
    start = (TABLE,) * n_blocks
    before: dict[Below, list[Below]] = {start: []}
    queue = deque([start])
    while queue:
        here = queue.popleft()
        for _, after in successors(here):
            if after not in before:
                before[after] = []
                queue.append(after)
            before[after].append(here)
    return before


def distances(goal: Goal, before: dict[Below, list[Below]]) -> dict[Below, int]:
    """Actions to the goal from everywhere, by search backwards from all arrangements
    that meet it.
    """
    found = {below: 0 for below in before if goal.holds(below)}
    queue = deque(found)
    while queue:
        here = queue.popleft()
        for earlier in before[here]:
            if earlier not in found:
                found[earlier] = found[here] + 1
                queue.append(earlier)
    return found


def random_goal(n_blocks: int, rng: np.random.Generator) -> Goal:
    """Some of what is true of a random arrangement."""
    end = random_arrangement(n_blocks, rng)
    under = {
        block: end[block]
        for block in range(n_blocks)
        if rng.random() < (0.6 if end[block] != TABLE else 0.3)
    }
    bare = [
        block for block in range(n_blocks) if block not in end and rng.random() < 0.4
    ]
    return Goal(under=under, clear=frozenset(bare), hand_empty=bool(rng.random() < 0.3))
