"""How many actions a mission takes at least from a moment on: an admissible bound, which makes the search exact."""

from collections.abc import Iterator, Mapping

from gde_plugins.babyai.oracle.distances import FAR, Distances
from gde_plugins.babyai.worlds.mission import Clause, GoTo, Open, Pickup, PutNext
from gde_plugins.babyai.worlds.scene import Door
from gde_plugins.babyai.worlds.simulation import Simulation

HANDS: Mapping[type[Clause], int] = {GoTo: 0, Open: 1, Pickup: 1, PutNext: 2}
"""Actions of a clause that are no walking."""


class Bound:
    """The bound for one scene."""

    def __init__(self, now: Simulation) -> None:
        self._distances = Distances(now.scene)

    def of(self, now: Simulation) -> int:
        """Actions that are needed at least; `distances.FAR` or more where no action leads to success any more.

        Every clause that is left has to be fulfilled, and every two of them one after the other.
        """
        if now.over:
            return 0 if now.succeeded else FAR
        doors = tuple(now.doors)
        left = [one for one, done in enumerate(now.done) if not done]
        single = max(1, *(self._clause(now.judge.clauses[one], now, doors) for one in left))
        return max(single, *self._pairs(now, doors)) if len(left) > 1 and single < FAR else single

    def _clause(self, clause: Clause, now: Simulation, doors: tuple[int, ...]) -> int:
        match clause:
            case GoTo(thing):
                return min(self._go_to(one, now, doors) for one in thing.things)
            case Open(thing):
                return min(self._open(one, now, doors) for one in thing.things)
            case Pickup(thing):
                return min(self._pick_up(one, now, doors) for one in thing.things)
            case PutNext(thing, fixed):
                pairs = ((a, b) for a in thing.things for b in fixed.things if a != b)
                return min((self._put_next(a, b, now, doors) for a, b in pairs), default=FAR)

    def _face(self, cell: int, now: Simulation, doors: tuple[int, ...]) -> int:
        if cell < 0:
            return FAR
        return self._distances.to_face(cell, doors)[4 * now.position + now.direction]

    def _go_to(self, one: int, now: Simulation, doors: tuple[int, ...]) -> int:
        """A thing that is carried is gone to by dropping it; where it was seen last counts, too."""
        if now.carrying == one:
            return 1
        return min(self._face(now.known[one], now, doors), self._face(now.where[one], now, doors))

    def _open(self, one: int, now: Simulation, doors: tuple[int, ...]) -> int:
        return self._face(now.where[one], now, doors) + (2 if now.doors[one] == Door.OPEN else 1)

    def _pick_up(self, one: int, now: Simulation, doors: tuple[int, ...]) -> int:
        if now.carrying == one:
            return 2
        return self._face(now.where[one], now, doors) + (1 if now.carrying < 0 else 2)

    def _put_next(self, a: int, b: int, now: Simulation, doors: tuple[int, ...]) -> int:
        """Either `b` stays where it is, or it is moved, before `a` is first touched or after."""
        state, place, tables = 4 * now.position + now.direction, now.where[b], self._distances
        if now.carrying == b:
            return self._face(now.where[a], now, doors) + 3
        if place < 0:
            return FAR
        if now.carrying == a:
            return min(tables.to_put_beside(place, doors)[state] + 1, self._face(place, now, doors) + 5)
        if now.where[a] < 0:
            return FAR
        stays = tables.by_way_of(now.where[a], place, doors, beside=True)[state] + 2
        moved_first = tables.by_way_of(place, now.where[a], doors)[state] + 4
        moved_after = tables.by_way_of(now.where[a], place, doors)[state] + 6
        return min(stays, moved_first, moved_after) + (now.carrying >= 0)

    def _pairs(self, now: Simulation, doors: tuple[int, ...]) -> Iterator[int]:
        """Bounds from two clauses that are both left: what each begins with has to be faced, one after the other."""
        for stage in now.judge.stages:
            left = [now.judge.clauses[one] for one in stage if not now.done[one]]
            if len(left) == 2:
                first, second = left
                orders = self._in_order(first, second, now, doors), self._in_order(second, first, now, doors)
                yield min(orders)
        if len(now.judge.stages) == 2 and not all(now.done[one] for one in now.judge.stages[0]):
            before, after = (
                [now.judge.clauses[one] for one in stage if not now.done[one]] for stage in now.judge.stages
            )
            yield from (self._in_order(first, then, now, doors) for first in before for then in after)

    def _in_order(self, first: Clause, then: Clause, now: Simulation, doors: tuple[int, ...]) -> int:
        """The least over the things that are meant."""
        pairs = ((a, b) for a in first.thing.things for b in then.thing.things)
        return min(self._both(a, b, HANDS[type(first)], HANDS[type(then)], now, doors) for a, b in pairs)

    def _both(self, a: int, b: int, hands_a: int, hands_b: int, now: Simulation, doors: tuple[int, ...]) -> int:
        """Face `a`, then `b`; or face `b` before, which is no use unless it is picked up there.

        Nothing is said of things that lie elsewhere than where the mission takes them to be, or in the hands.
        """
        places = now.where[a], now.where[b]
        if min(places) < 0 or places != (now.known[a], now.known[b]):
            return 0
        state = 4 * now.position + now.direction
        if a == b:
            return self._face(places[0], now, doors) + max(hands_a, hands_b)
        in_order = self._distances.by_way_of(*places, doors)[state] + hands_a + hands_b
        if now.doors[b] >= 0:
            return in_order
        carried = self._distances.by_way_of(places[1], places[0], doors)[state] + hands_a + max(hands_b, 1)
        return min(in_order, carried)
