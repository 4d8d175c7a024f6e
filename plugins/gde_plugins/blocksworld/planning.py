"""Exact distances to a goal, and thus all optimal actions.

Lifting a block and putting it somewhere is a move of two actions. A block *must move*
if it stands where it may not, or above a block that must. It must move *twice* if it is
above a block that it has to stand on in the end and that must move itself. The number
of these moves is a lower bound, the heuristic of an A* search over moves. Two rules
keep the search small and its result exact (Slaney and Thiébaux 2001): a block that can
go to its last place goes there at once, and any other move goes to the table.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from gde.errors import GdeError
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

LIMIT = 200_000
"""Maximum number of arrangements that one search visits."""


@dataclass(frozen=True)
class Planner:
    """Plans for one goal and caches its searches."""

    goal: Goal
    _moves: dict[Below, int] = field(default_factory=dict)

    def distance(self, below: Below) -> int:
        """Return the least number of actions from an arrangement to the goal.

        Raises:
            GdeError: the search grows beyond its limit.
        """
        if self.goal.holds(below):
            return 0
        block = held(below)
        if block is None:
            return 2 * self._needed_moves(below) - self._ends_in_the_hand(below)

        # It is never worse to put the block in its last place, or else on the table.
        moving = must_move(below, self.goal)
        target = self._last_place(block, moving, set(tops(below)))
        if target is None:
            target = TABLE
        after = put(below, block, target)
        return 1 + self.distance(after)

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

    def _last_place(self, block: int, moving: set[int], free: set[int]) -> int | None:
        """Return the final place open to a clear or held block; None without one."""
        under = self.goal.under.get(block, TABLE)
        if under == TABLE or (under in free and under not in moving):
            return under
        return None

    def _needed_moves(self, start: Below) -> int:
        """Return the least number of moves, by A*."""
        if start in self._moves:
            return self._moves[start]

        # Of equally promising arrangements the one with more moves behind it comes
        # first.
        queue = [(self._bound(start), 0, start)]
        moves_to = {start: 0}
        while queue:
            _, minus_done, below = heappop(queue)
            done = -minus_done
            if done > moves_to[below]:
                continue
            moving = must_move(below, self.goal)
            if not moving:
                self._moves[start] = done
                return done
            if len(moves_to) > LIMIT:
                raise GdeError(
                    f"blocksworld: no plan of {len(start)} blocks is proven optimal in {LIMIT} arrangements"
                )

            done += 1
            for after in self._worth_trying(below, moving):
                if after not in moves_to or done < moves_to[after]:
                    moves_to[after] = done
                    heappush(queue, (done + self._bound(after), -done, after))
        raise AssertionError("every goal without contradiction can be reached")

    def _bound(self, below: Below) -> int:
        """Return a lower bound on the number of moves."""
        moving = must_move(below, self.goal)
        bound = len(moving)
        for block in moving:
            wanted = self.goal.under.get(block, TABLE)
            if wanted in moving:
                # A block above the one that it has to stand on moves twice.
                lower = below[block]
                while lower not in (wanted, TABLE):
                    lower = below[lower]
                bound += lower == wanted
        return bound

    def _worth_trying(self, below: Below, moving: set[int]) -> Sequence[Below]:
        free = tops(below)
        to_table = []
        for block in free:
            if block not in moving:
                continue
            place = self._last_place(block, moving, set(free))
            # A move to the last place is never wrong, so no other need be tried.
            if place is not None:
                return [put(below, block, place)]
            if below[block] != TABLE:
                to_table.append(put(below, block, TABLE))
        return to_table


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
