"""OmniBot: an expert that sees everything and works off a stack of subgoals (Choukrani et al. 2025, section 4.3).

Written anew from the description. It differs from the published bot: its walks are shortest in actions, not in cells;
an action of somebody else does not confuse it; and begun with a mission, it translates what is left of it again when
its stack has run empty, where the published bot stops, and searches where subgoals lead nowhere.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from gde_plugins.babyai.oracle import walks
from gde_plugins.babyai.oracle.bounds import Bound
from gde_plugins.babyai.oracle.proof import is_impossible
from gde_plugins.babyai.oracle.search import Key, shortest
from gde_plugins.babyai.oracle.subgoals import Purpose, Subgoal, of_mission
from gde_plugins.babyai.worlds.scene import FREE, Door
from gde_plugins.babyai.worlds.simulation import Simulation

PATIENCE = 60
"""Changes of the stack without an action, after which subgoals are taken to lead nowhere,"""
MANY = 60
"""additions after which they are, too, and"""
BUDGET = 20_000
"""states that the search that is tried then may look at."""


class OmniBot:
    """Suggests one action after another; the world is the caller's."""

    def __init__(self, now: Simulation, subgoals: Sequence[Subgoal] | None = None, sight: int = 0) -> None:
        """Begin with the given subgoals, the first to be done first, or else with the translated mission.

        The pushes of a translation are counted among the additions, the given subgoals are not. With `sight`, things
        that lie farther than so many cells are not taken into account.
        """
        self._sight = sight
        self._given = subgoals is not None
        self.stack = [*reversed(subgoals or ())]
        self.n_added = 0
        self._ways: dict[object, _Way] = {}
        self._lying: object = None
        self._found: dict[Key, str] = {}
        if not self._given:
            self._push(*of_mission(now.scene.mission, now.done))

    def suggest(self, now: Simulation) -> str | None:
        """The next action; None when there is nothing left to do, or no way to do it."""
        for _ in range(PATIENCE):
            if not self.stack:
                if self._given:
                    return None
                self._push(*of_mission(now.scene.mission, now.done))
            if not self._given and self.n_added > MANY:
                break
            action = self._pursue(self.stack[-1], now)
            if action:
                return action
            if action is not None:
                break
        return None if self._given else self._searched(now)

    def _searched(self, now: Simulation) -> str | None:
        """Where subgoals lead nowhere, e.g. in a room too full to put things aside: exact search."""
        if now.key not in self._found:
            found = shortest(now, Bound(now), BUDGET) if not is_impossible(now) else None
            if found is None or not found.actions:
                return None
            self._found = dict(zip(found.keys, found.actions, strict=False))
        return self._found[now.key]

    def _push(self, *subgoals: Subgoal) -> None:
        """The last is done first."""
        self.stack += subgoals
        self.n_added += len(subgoals)

    def _pursue(self, subgoal: Subgoal, now: Simulation) -> str | None:
        """An action; None where the stack was changed instead, and "" where nothing helps."""
        match subgoal.name:
            case "GoNextTo":
                return self._go(subgoal, now)
            case "Pickup":
                return self._pick_up(subgoal, now)
            case "Drop":
                return self._drop(subgoal, now)
            case "Open":
                return self._open(subgoal, now)
            case "Close":
                return self._close(now)

    def _faced(self, subgoal: Subgoal, now: Simulation) -> bool:
        """Whether the agent still faces what it began to act on; else it turns back first."""
        if subgoal.begun and now.ahead != subgoal.cell:
            self._push(Subgoal("GoNextTo", cell=subgoal.cell))
            return False
        self.stack[-1] = subgoal.at(now.ahead)
        return True

    def _pick_up(self, subgoal: Subgoal, now: Simulation) -> str | None:
        if subgoal.begun and now.carrying >= 0 and now.cells[subgoal.cell] == FREE:
            self.stack.pop()
            return None
        if not self._faced(subgoal, now):
            return None
        thing = now.cells[now.ahead]
        if thing < 0 or now.doors[thing] >= 0:
            self.stack.pop()
            return None
        if now.carrying < 0:
            return "pickup"
        if (place := walks.place_to_drop(now)) < 0:
            return ""
        self._push(Subgoal("GoNextTo", cell=now.ahead), Subgoal("Drop"), Subgoal("GoNextTo", cell=place))
        return None

    def _drop(self, subgoal: Subgoal, now: Simulation) -> str | None:
        if now.carrying < 0 or (not subgoal.begun and now.cells[now.ahead] != FREE):
            self.stack.pop()
            return None
        if not self._faced(subgoal, now):
            return None
        if now.cells[now.ahead] != FREE:
            self.stack.pop()
            return None
        return "drop"

    def _open(self, subgoal: Subgoal, now: Simulation) -> str | None:
        if not self._faced(subgoal, now):
            return None
        door, counts = now.cells[now.ahead], subgoal.purpose == "open" and not subgoal.begun
        if door >= 0 and now.scene.things[door].contains >= 0 and counts:
            return "toggle"
        if door < 0 or now.doors[door] in (-1, Door.OPEN):
            if door >= 0 and now.doors[door] == Door.OPEN and counts:
                self._push(Subgoal("Close"))  # to be opened again
            else:
                self.stack.pop()
            return None
        if now.doors[door] == Door.LOCKED and not now.has_key(door):
            self.stack.pop()
            return self._fetch_key(door, now)
        return "toggle"

    def _close(self, now: Simulation) -> str | None:
        door = now.cells[now.ahead]
        if door >= 0 and now.doors[door] == Door.OPEN:
            self.stack[-1] = self.stack[-1].at(now.ahead)
            return "toggle"
        self.stack.pop()
        return None

    def _fetch_key(self, door: int, now: Simulation) -> str | None:
        """Get the key, come back and open; what is carried is put down before and taken up again after."""
        if not (fetch := self._fetching(door, now)):
            return ""
        back = Subgoal("Open"), Subgoal("GoNextTo", cell=now.where[door])
        if now.carrying < 0:
            self._push(*back, *fetch)
            return None
        if (place := walks.place_to_drop(now)) < 0:
            return ""
        again = Subgoal("Pickup"), Subgoal("GoNextTo", (now.carrying,))
        self._push(*again, *back, *fetch, Subgoal("Drop"), Subgoal("GoNextTo", cell=place))
        return None

    def _fetching(self, door: int, now: Simulation) -> tuple[Subgoal, ...]:
        """How to get the key of a door without opening any door of its colour; nothing where that cannot be."""
        scene, color = now.scene, now.scene.things[door].color
        alike = {one for one, thing in enumerate(scene.things) if thing.kind == "key" and thing.color == color}
        keys = tuple(one for one in alike if now.where[one] >= 0 and self._reaches(now.where[one], color, now))
        if keys:
            return Subgoal("Pickup"), Subgoal("GoNextTo", keys)
        boxes = (one for one, thing in enumerate(scene.things) if thing.contains in alike and now.where[one] >= 0)
        for box in boxes:
            inside = (scene.things[box].contains,)
            fetch = Subgoal("Pickup"), Subgoal("GoNextTo", inside)
            return *fetch, Subgoal("Open", purpose="open"), Subgoal("GoNextTo", (box,))
        return ()

    def _reaches(self, cell: int, sealed: str, now: Simulation) -> bool:
        state, entering = 4 * now.position + now.direction, walks.tolls(now, sealed)
        costs = walks.table(now, ((end, 0) for end in walks.facing(now, cell)), entering, state)
        return costs[state] < walks.FAR

    def _go(self, subgoal: Subgoal, now: Simulation) -> str | None:
        if now.carrying in subgoal.things and subgoal.purpose == "":
            return self._put_down(now)
        way, state = self._way(subgoal, now), 4 * now.position + now.direction
        if state in way.ends:
            if subgoal.purpose == "put" and now.cells[now.ahead] != FREE:
                return self._clear(now)
            self.stack.pop()
            return None
        if way.costs[state] >= walks.FAR:
            return ""
        if way.lock >= 0:
            self.stack.pop()
            self._push(subgoal, Subgoal("Open"), Subgoal("GoNextTo", cell=now.where[way.lock], purpose="open"))
            return None
        if way.locked_end >= 0 and now.carrying < 0:
            return self._fetch_first(way.locked_end, now)
        action = walks.next_action(now, way.costs, way.entering, now.position, now.direction)
        return self._enter(now) if action == "forward" else action

    def _enter(self, now: Simulation) -> str | None:
        """Go on to the cell ahead, whatever is in it."""
        inside = now.cells[now.ahead]
        if inside == FREE or now.doors[inside] == Door.OPEN:
            return "forward"
        if now.doors[inside] < 0:
            return self._clear(now)
        self._push(Subgoal("Open"))
        return None

    def _put_down(self, now: Simulation) -> str | None:
        """What is to be gone to is in the agent's hands: drop it ahead, or where it is in nobody's way."""
        place = now.ahead if now.cells[now.ahead] == FREE else walks.place_to_drop(now)
        if place < 0:
            return ""
        self._push(Subgoal("Drop"), Subgoal("GoNextTo", cell=place))
        return None

    def _fetch_first(self, door: int, now: Simulation) -> str | None:
        """With empty hands it is better to have the key before the door is gone to."""
        if not (fetch := self._fetching(door, now)):
            return ""
        self.stack.pop()
        self._push(Subgoal("GoNextTo", cell=now.where[door], purpose="open"), *fetch)
        return None

    def _clear(self, now: Simulation) -> str | None:
        """Take the thing ahead out of the way; what is carried is put down meanwhile."""
        place = walks.place_to_drop(now)
        if place < 0:
            return ""
        if now.carrying < 0:
            self._push(Subgoal("Drop"), Subgoal("GoNextTo", cell=place), Subgoal("Pickup"))
            return None
        if (other := walks.place_to_drop(now, avoid=place)) < 0:
            return ""
        again = Subgoal("Pickup"), Subgoal("GoNextTo", (now.carrying,))
        moved = Subgoal("Drop"), Subgoal("GoNextTo", cell=other), Subgoal("Pickup"), Subgoal("GoNextTo", cell=now.ahead)
        self._push(*again, *moved, Subgoal("Drop"), Subgoal("GoNextTo", cell=place))
        return None

    def _way(self, subgoal: Subgoal, now: Simulation) -> "_Way":
        """The way to where a subgoal leads, kept as long as nothing lies elsewhere and no lock is opened."""
        lying = (tuple(now.where), now.carrying, now.doors.count(Door.LOCKED), self._sight and now.position)
        if self._lying != lying:
            self._lying, self._ways = lying, {}
        key, state = (subgoal.things, subgoal.cell, subgoal.purpose), 4 * now.position + now.direction
        if key not in self._ways or self._ways[key].costs[state] >= walks.FAR:
            self._ways[key] = self._plan(subgoal, now, state)
        return self._ways[key]

    def _plan(self, subgoal: Subgoal, now: Simulation, state: int) -> "_Way":
        ends = {end: extra for cell in _aims(subgoal, now) for end, extra in _arrivals(cell, subgoal.purpose, now)}
        entering = walks.tolls(now, sealed=self._sealed(subgoal, now), sight=self._sight)
        costs = walks.table(now, ends.items(), entering, state)
        lock, last = walks.follow(now, costs, entering, ends) if costs[state] < walks.FAR else (-1, state)
        faced = now.cells[last // 4 + now.scene.steps[last % 4]]
        locked = subgoal.purpose == "open" and faced >= 0 and now.doors[faced] == Door.LOCKED and not now.has_key(faced)
        return _Way(costs, entering, ends, lock, faced if locked else -1)

    def _sealed(self, subgoal: Subgoal, now: Simulation) -> str:
        """The colour of the key that is wanted: its own doors do not lead to it."""
        wanted = [now.scene.things[one] for one in subgoal.things]
        below = [each.name for each in self.stack[-4:]]
        is_key = wanted and all(each.kind == "key" and each.color == wanted[0].color for each in wanted)
        return wanted[0].color if is_key and "Open" in below else ""


class _Way(NamedTuple):
    """Where to go."""

    costs: walks.Table
    entering: list[int]
    ends: Mapping[int, int]
    lock: int
    """The first locked door on it without its key."""
    locked_end: int
    """The door that it leads to and that cannot be opened yet."""


def _aims(subgoal: Subgoal, now: Simulation) -> Iterable[int]:
    """The cells that a subgoal is about."""
    return (now.where[one] for one in subgoal.things if now.where[one] >= 0) if subgoal.things else (subgoal.cell,)


def _arrivals(cell: int, purpose: Purpose, now: Simulation) -> Iterator[tuple[int, int]]:
    """The walking states in which the agent is there, with what is left to be done then in steps."""
    if purpose != "put":
        yield from ((state, 0) for state in walks.facing(now, cell))
        return
    for step in now.scene.steps:
        inside = now.cells[cell + step]
        if inside == FREE or (inside >= 0 and now.doors[inside] < 0):
            extra = 0 if inside == FREE else walks.OBSTACLE
            yield from ((state, extra) for state in walks.facing(now, cell + step))
