"""Exact distances to a goal, and with them all optimal actions.

Lifting a block and putting it somewhere is a move of two actions. A block *must move* when it stands where it may not,
or above one that must. It has to move *twice* when it is above one that it must come to stand on and that must move
itself. So many moves are needed at least, which is the heuristic of an A* search over moves. Two rules keep the search
small and its result exact (Slaney and Thiébaux 2001): a block that can go to its last place goes there at once, and any
other move goes to the table.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from gde.errors import GdeError
from gde_plugins.blocksworld.arrangement import TABLE, Action, Below, held, put, successors, tops
from gde_plugins.blocksworld.goal import Goal

LIMIT = 200_000
"""Arrangements that one search may visit."""


@dataclass(frozen=True)
class Planner:
    """Answers for one goal; what has been searched once is remembered."""

    goal: Goal
    _moves: dict[Below, int] = field(default_factory=dict)

    def distance(self, below: Below) -> int:
        """The least number of actions from an arrangement to the goal.

        Raises:
            GdeError: the search grows beyond its limit.
        """
        if self.goal.holds(below):
            return 0
        block = held(below)
        if block is not None:
            moving = must_move(below, self.goal)
            target = self._last_place(block, moving, {*tops(below)})
            return 1 + self.distance(put(below, block, TABLE if target is None else target))
        return 2 * self._needed(below) - self._ends_in_the_hand(below)

    def optimal(self, below: Below) -> list[Action]:
        """All actions that bring the goal nearer; none at the goal."""
        here = self.distance(below)
        return [action for action, after in successors(below) if here and self.distance(after) < here]

    def plan(self, below: Below) -> list[Action]:
        """An optimal plan, of several the one whose actions come first."""
        actions: list[Action] = []
        while left := self.distance(below):
            action, below = next(one for one in successors(below) if self.distance(one[1]) < left)
            actions.append(action)
        return actions

    def _ends_in_the_hand(self, below: Below) -> bool:
        """Whether the last block may stay in the hand: only its absence is asked for, and it can come last."""
        goal = self.goal
        if goal.hand_empty:
            return False
        moving = must_move(below, goal)
        return any(
            under in goal.clear and under not in moving and goal.unconstrained(block)
            for block, under in enumerate(below)
        )

    def _last_place(self, block: int, moving: set[int], free: set[int]) -> int | None:
        """Where the block, which is clear or held, can go for good now; None where it cannot."""
        under = self.goal.under.get(block, TABLE)
        return under if under == TABLE or (under in free and under not in moving) else None

    def _needed(self, start: Below) -> int:
        """The least number of moves, by A*; of equally promising arrangements the further one comes first."""
        if start in self._moves:
            return self._moves[start]
        queue, best = [(self._bound(start), 0, start)], {start: 0}
        while queue:
            _, before, below = heappop(queue)
            done = -before
            if done > best[below]:
                continue
            moving = must_move(below, self.goal)
            if not moving:
                self._moves[start] = done
                return done
            if len(best) > LIMIT:
                raise GdeError(f"blocksworld: no plan of {len(start)} blocks is proven optimal in {LIMIT} arrangements")
            for after in self._worth_trying(below, moving):
                if done + 1 < best.get(after, done + 2):
                    best[after] = done + 1
                    heappush(queue, (done + 1 + self._bound(after), -done - 1, after))
        raise AssertionError("every goal without contradiction can be reached")

    def _bound(self, below: Below) -> int:
        """A number of moves that no plan is below."""
        moving = must_move(below, self.goal)
        return len(moving) + sum(_twice(block, below, moving, self.goal) for block in moving)

    def _worth_trying(self, below: Below, moving: set[int]) -> Sequence[Below]:
        free = tops(below)
        candidates = [block for block in free if block in moving]
        for block in candidates:
            if (place := self._last_place(block, moving, {*free})) is not None:
                return [put(below, block, place)]
        return [put(below, block, TABLE) for block in candidates if below[block] != TABLE]


def must_move(below: Below, goal: Goal) -> set[int]:
    """The blocks that every plan moves; the one in the hand is not counted."""
    above = {under: block for block, under in enumerate(below) if under >= 0}
    found: set[int] = set()
    for block, under in enumerate(below):
        if under == TABLE:
            wrong = goal.under.get(block, TABLE) != TABLE
            at: int | None = block
            while at is not None:
                wrong = wrong or _misplaced(at, below[at], goal)
                if wrong:
                    found.add(at)
                at = above.get(at)
    return found


def _misplaced(block: int, under: int, goal: Goal) -> bool:
    if goal.under.get(block, under) != under:
        return True
    return under != TABLE and (under in goal.clear or goal.over.get(under, block) != block)


def _twice(block: int, below: Below, moving: set[int], goal: Goal) -> bool:
    wanted = goal.under.get(block, TABLE)
    if wanted == TABLE or wanted not in moving:
        return False
    at = below[block]
    while at not in {wanted, TABLE}:
        at = below[at]
    return at == wanted
