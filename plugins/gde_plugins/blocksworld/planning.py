"""Exact distances to a goal, and thus all optimal actions.

Lifting a block and putting it somewhere is a move of two actions. A block *must move*
if it stands where it may not, or above a block that must. One move is enough unless its
last place is not ready when it has to make room: then it *waits* on the table, and
moves twice. Which blocks wait is all that a plan has to choose (Slaney and Thiébaux
2001): the fewest whose waiting breaks every circle of moves that have to come before
each other. They are a smallest hitting set of these circles, found by integer
programming with circles added as they show.
"""

from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.optimize import LinearConstraint, milp

from gde_plugins.blocksworld.arrangement import (
    TABLE,
    Action,
    Below,
    blocks_above,
    held,
    put,
    successors,
    tops,
)
from gde_plugins.blocksworld.goal import Goal

FIRST, LAST = 0, 1
"""The moves of a block; they are one unless it waits."""
Move = tuple[int, int]
"""A block, and which of its moves."""


class Circle(NamedTuple):
    """Moves that have to come before each other."""

    orders: frozenset[tuple[Move, Move]]
    """Pairs of an earlier and a later move."""
    waiting: frozenset[int]
    """Blocks of which one has to wait."""


@dataclass(frozen=True)
class Planner:
    """Plans for one goal and caches its searches."""

    goal: Goal
    _moves: dict[Below, int] = field(default_factory=dict)
    _circles: set[Circle] = field(default_factory=set)
    """All that were found; most are those of later arrangements too."""

    def distance(self, below: Below) -> int:
        """Return the least number of actions from an arrangement to the goal."""
        if self.goal.holds(below):
            return 0
        block = held(below)
        if block is None:
            return 2 * self._needed_moves(below) - self._ends_in_the_hand(below)

        # It is never worse to put the block in its last place, or else on the table.
        under = self.goal.under.get(block, TABLE)
        is_open = under in tops(below) and under not in must_move(below, self.goal)
        return 1 + self.distance(put(below, block, under if is_open else TABLE))

    def optimal(self, below: Below) -> list[Action]:
        """Return all actions that bring the goal nearer; none at the goal."""
        here = self.distance(below)
        if here == 0:
            return []
        return [
            action for action, after in successors(below) if self.distance(after) < here
        ]

    def plan(self, below: Below) -> list[Action]:
        """Return an optimal plan; of several the one whose actions come first."""
        actions: list[Action] = []
        left = self.distance(below)
        while left > 0:
            for action, after in successors(below):
                if self.distance(after) < left:
                    actions.append(action)
                    below = after
                    break
            left = self.distance(below)
        return actions

    def _ends_in_the_hand(self, below: Below) -> bool:
        """Return whether the last block may stay in the hand.

        It may if the goal asks only for its absence, and it can be moved last.
        """
        goal = self.goal
        if goal.hand_empty:
            return False
        moving = must_move(below, goal)
        for block, under in enumerate(below):
            is_in_the_way = under in goal.clear and under not in moving
            if is_in_the_way and goal.unconstrained(block):
                return True
        return False

    def _needed_moves(self, below: Below) -> int:
        """Return the least number of moves."""
        if below not in self._moves:
            moving = must_move(below, self.goal)
            orders = self._orders(below, moving)
            # Of the circles of other arrangements, those are also circles of this one.
            known = {one for one in self._circles if one.orders <= orders}
            waiting = _fewest(known)
            while new := _circles(orders, moving, waiting):
                known |= new
                waiting = _fewest(known)
            self._circles.update(known)
            self._moves[below] = len(moving) + len(waiting)
        return self._moves[below]

    def _orders(self, below: Below, moving: set[int]) -> set[tuple[Move, Move]]:
        """Return which moves have to come before which."""
        above = blocks_above(below)
        orders: set[tuple[Move, Move]] = set()
        for block in moving:
            if block in above:
                orders.add(((above[block], FIRST), (block, FIRST)))
            under = self.goal.under.get(block, TABLE)
            if under in moving:
                orders.add(((under, LAST), (block, LAST)))
            elif under in above:
                orders.add(((above[under], FIRST), (block, LAST)))
        return orders


def _fewest(circles: set[Circle]) -> set[int]:
    """Return a smallest set of blocks whose waiting breaks all of these circles."""
    alone = {next(iter(one.waiting)) for one in circles if len(one.waiting) == 1}
    left = [one.waiting - alone for one in circles if not one.waiting & alone]
    if not left:
        return alone
    blocks = sorted(set.union(*map(set, left)))
    rows = [[block in waiting for block in blocks] for waiting in left]
    n = len(blocks)
    at_least_one = LinearConstraint(np.array(rows, dtype=np.float64), lb=1)
    found = milp(
        np.ones(n), integrality=np.ones(n), bounds=(0, 1), constraints=at_least_one
    )
    return alone | {
        block for block, is_in in zip(blocks, found.x, strict=True) if is_in > 0.5
    }


def _circles(
    orders: set[tuple[Move, Move]], moving: set[int], waiting: set[int]
) -> set[Circle]:
    """Return circles that no waiting block breaks; none if a plan has enough waiting."""
    found: set[Circle] = set()
    waits = {*waiting}
    while True:
        before: dict[Move, set[Move]] = {}
        written: dict[tuple[Move, Move], tuple[Move, Move]] = {}
        for block in waits & moving:
            before[block, LAST] = {(block, FIRST)}
        for order in orders:
            # The moves of a block that does not wait are one.
            earlier, later = (
                move if move[0] in waits else (move[0], FIRST) for move in order
            )
            before.setdefault(later, set()).add(earlier)
            written[earlier, later] = order
        try:
            TopologicalSorter(before).prepare()
        except CycleError as error:
            cycle = error.args[1]
        else:
            return found

        used = [written[pair] for pair in pairwise(cycle) if pair in written]
        breaking = set()
        for (_, reached), (left, _) in zip([*used[-1:], *used], used, strict=False):
            if reached == (left[0], LAST) and left[1] == FIRST:
                breaking.add(left[0])
        found.add(Circle(frozenset(used), frozenset(breaking)))
        # Others may show once this one is broken.
        waits.add(min(breaking))


def must_move(below: Below, goal: Goal) -> set[int]:
    """Return the blocks that every plan moves; the one in the hand is not counted."""
    above = blocks_above(below)
    found: set[int] = set()
    for lowest, under in enumerate(below):
        if under != TABLE:
            continue
        # Up the tower: once one block must move, so must all above it.
        wrong = False
        block: int | None = lowest
        while block is not None:
            wrong = wrong or _misplaced(block, below[block], goal)
            if wrong:
                found.add(block)
            block = above.get(block)
    return found


def _misplaced(block: int, under: int, goal: Goal) -> bool:
    if goal.under.get(block, under) != under:
        return True
    if under == TABLE:
        return False
    # The block may also be in the way of another one, or of nothing at all.
    return under in goal.clear or goal.over.get(under, block) != block
