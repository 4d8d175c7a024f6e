"""A lower bound on the actions that a mission still takes, which makes the A* search
exact.
"""

from collections.abc import Iterator, Mapping
from itertools import product

from gde_plugins.babyai.oracle.distances import FAR, Distances, View
from gde_plugins.babyai.worlds.mission import Clause, GoTo, Open, Pickup, PutNext
from gde_plugins.babyai.worlds.scene import Door
from gde_plugins.babyai.worlds.simulation import Simulation

HANDS: Mapping[type[Clause], int] = {GoTo: 0, Open: 1, Pickup: 1, PutNext: 2}
"""Number of actions of a clause that are not movements."""


class Bound:
    """The lower bound for the moments of one scene. It never overestimates."""

    def __init__(self, now: Simulation) -> None:
        self._distances = Distances(now.scene)

    def of(self, now: Simulation) -> int:
        """Return the least number of actions to success, or `distances.FAR` or more if
        success is out of reach.

        It is the largest of the bounds of the clauses that are left and of the pairs of
        them.
        """
        if now.over:
            return 0 if now.succeeded else FAR

        view = self._distances.under(tuple(now.doors))
        bound = 1
        for clause, done in zip(now.judge.clauses, now.done, strict=True):
            if not done:
                bound = max(bound, self._clause(clause, now, view))

        # Pairs say more than their clauses only if two are left and each is in reach.
        n_left = now.done.count(False)
        if bound >= FAR or n_left < 2:
            return bound

        for first, then in _ordered_pairs(now):
            bound = self._in_order(first, then, now, view, bound)
        for one, other in _unordered_pairs(now):
            one_first = self._in_order(one, other, now, view, bound)
            if one_first > bound:
                other_first = self._in_order(other, one, now, view, bound)
                bound = min(one_first, other_first)
        return bound

    def _clause(self, clause: Clause, now: Simulation, view: View) -> int:
        """Return the least over the things that the clause may mean."""
        match clause:
            case GoTo(thing):
                return min(self._go_to(one, now, view) for one in thing.things)
            case Open(thing):
                return min(self._open(one, now, view) for one in thing.things)
            case Pickup(thing):
                return min(self._pick_up(one, now, view) for one in thing.things)
            case PutNext(thing, fixed):
                to_a = {a: self._face(now.where[a], now, view) for a in thing.things}
                to_b = {b: self._face(now.where[b], now, view) for b in fixed.things}
                least = FAR
                for a, b in product(to_a, to_b):
                    # A quick lower bound: `a` is faced first and two actions follow, or
                    # `b` and four.
                    quick = min(to_a[a] + 2, to_b[b] + 4)
                    if now.carrying in (a, b):
                        quick = 0
                    # Nothing can be put beside itself.
                    if a != b and quick < least:
                        least = min(least, self._put_next(a, b, now, view))
                return least

    def _face(self, cell: int, now: Simulation, view: View) -> int:
        if cell < 0:
            return FAR
        return view.to_face(cell)[now.walking_state]

    def _go_to(self, thing: int, now: Simulation, view: View) -> int:
        # A carried thing is gone to by dropping it ahead.
        if now.carrying == thing:
            return 1
        # The verifier accepts the cell where the thing was seen last, too.
        to_known = self._face(now.known[thing], now, view)
        to_actual = self._face(now.where[thing], now, view)
        return min(to_known, to_actual)

    def _open(self, thing: int, now: Simulation, view: View) -> int:
        # Only opening counts, so a door that stands open is closed first.
        is_open = now.doors[thing] == Door.OPEN
        toggles = 2 if is_open else 1
        return self._face(now.where[thing], now, view) + toggles

    def _pick_up(self, thing: int, now: Simulation, view: View) -> int:
        # Only picking up counts, so what is carried is dropped first.
        if now.carrying == thing:
            return 2
        has_free_hands = now.carrying < 0
        hands = 1 if has_free_hands else 2
        return self._face(now.where[thing], now, view) + hands

    def _put_next(self, a: int, b: int, now: Simulation, view: View) -> int:
        """Return the least to drop `a` beside `b`, which stays, or moves before or
        after `a` is picked up.
        """
        state = now.walking_state
        a_cell = now.where[a]
        b_cell = now.where[b]

        # Drop b, pick up a, drop a.
        if now.carrying == b:
            return self._face(a_cell, now, view) + 3
        if b_cell < 0:
            return FAR

        if now.carrying == a:
            # Drop a beside b, or: drop a, pick up b, drop b, pick up a, drop a.
            b_stays = view.to_put_beside(b_cell)[state] + 1
            b_moves = self._face(b_cell, now, view) + 5
            return min(b_stays, b_moves)
        if a_cell < 0:
            return FAR

        # Each thing that moves is picked up and dropped. If b moves after a, then a is
        # picked up twice.
        a_to_beside_b = view.by_way_of(state, a_cell, b_cell, beside=True)
        b_to_a = view.by_way_of(state, b_cell, a_cell)
        a_to_b = view.by_way_of(state, a_cell, b_cell)
        b_stays = a_to_beside_b + 2
        b_moves_first = b_to_a + 4
        b_moves_after = a_to_b + 6
        if now.doors[b] >= 0:
            b_moves_first = b_moves_after = FAR

        # Anything else that is carried is dropped first.
        empty_hands = 1 if now.carrying >= 0 else 0
        return min(b_stays, b_moves_first, b_moves_after) + empty_hands

    def _in_order(
        self, first: Clause, then: Clause, now: Simulation, view: View, known: int
    ) -> int:
        """Return the least for two clauses, over the things that they may mean.

        It is at least the `known` bound, where the search for the least thus ends.
        """
        hands_first = HANDS[type(first)]
        hands_then = HANDS[type(then)]
        least = FAR
        for a, b in product(first.thing.things, then.thing.things):
            least = min(least, self._both(a, b, hands_first, hands_then, now, view))
            if least <= known:
                return known
        return least

    def _both(
        self,
        a: int,
        b: int,
        hands_a: int,
        hands_b: int,
        now: Simulation,
        view: View,
    ) -> int:
        """Return the least to face `a`, then `b`. Facing `b` before helps only if it is
        picked up there.
        """
        a_cell = now.where[a]
        b_cell = now.where[b]

        # A thing that is carried, or not where the mission takes it to be, may be faced
        # elsewhere: no bound.
        if a_cell < 0 or b_cell < 0:
            return 0
        if a_cell != now.known[a] or b_cell != now.known[b]:
            return 0
        if a == b:
            return self._face(a_cell, now, view) + max(hands_a, hands_b)

        state = now.walking_state
        a_to_b = view.by_way_of(state, a_cell, b_cell)
        in_order = a_to_b + hands_a + hands_b
        b_is_door = now.doors[b] >= 0
        if b_is_door:
            return in_order

        # To pick up b on the way takes at least one action, even if its clause asks for
        # none.
        b_to_a = view.by_way_of(state, b_cell, a_cell)
        b_carried = b_to_a + hands_a + max(hands_b, 1)
        return min(in_order, b_carried)


def _unordered_pairs(now: Simulation) -> Iterator[tuple[Clause, Clause]]:
    """The two clauses of a stage, where both are left."""
    for stage in now.judge.stages:
        left = _left(stage, now)
        if len(left) == 2:
            yield left[0], left[1]


def _ordered_pairs(now: Simulation) -> Iterator[tuple[Clause, Clause]]:
    """Each clause that is left in the first stage with each of the second."""
    if len(now.judge.stages) == 2:
        first_stage, second_stage = now.judge.stages
        left_of_second = _left(second_stage, now)
        for first in _left(first_stage, now):
            for then in left_of_second:
                yield first, then


def _left(stage: tuple[int, ...], now: Simulation) -> list[Clause]:
    """The clauses of a stage that are not fulfilled yet."""
    left = []
    for index in stage:
        if not now.done[index]:
            left.append(now.judge.clauses[index])
    return left
