"""How many actions a mission takes at least from a moment on: an admissible bound, which makes the search exact."""

from gde_plugins.babyai.oracle.distances import FAR, Distances
from gde_plugins.babyai.worlds.mission import Clause, GoTo, Open, Pickup, PutNext
from gde_plugins.babyai.worlds.scene import Door
from gde_plugins.babyai.worlds.simulation import Simulation


class Bound:
    """The bound for one scene."""

    def __init__(self, now: Simulation) -> None:
        self._distances = Distances(now.scene)

    def of(self, now: Simulation) -> int:
        """Actions that are needed at least; `distances.FAR` or more where no action leads to success any more.

        Every clause that is left has to be fulfilled, and the last of each stage takes at least one action more than
        all of the stages before it unless one action fulfils both.
        """
        if now.over:
            return 0 if now.succeeded else FAR
        doors = tuple(now.doors)
        left = [one for one, done in enumerate(now.done) if not done]
        return max(1, *(self._clause(now.judge.clauses[one], now, doors) for one in left))

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
        stays = tables.by_way_of(now.where[a], place, doors, beside=True)[state] + 1
        moved_first = tables.by_way_of(place, now.where[a], doors, beside=False)[state] + 3
        moved_after = tables.by_way_of(now.where[a], place, doors, beside=False)[state] + 5
        return min(stays, moved_first, moved_after) + (now.carrying >= 0)
