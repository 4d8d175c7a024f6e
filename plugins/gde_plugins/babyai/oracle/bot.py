"""OmniBot: an expert that sees everything and works off a stack of subgoals (Choukrani
et al. 2025, section 4.3).

This is a new implementation of the description. It differs from the published bot in
four ways: its paths are shortest in actions, not in cells; an action that somebody else
takes does not confuse it; it translates the rest of the mission again when its stack is
empty, where the published bot stops; and it searches where subgoals lead nowhere.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gde_plugins.babyai.oracle import walks
from gde_plugins.babyai.oracle.bounds import Bound
from gde_plugins.babyai.oracle.proof import is_impossible
from gde_plugins.babyai.oracle.search import Key, shortest
from gde_plugins.babyai.oracle.subgoals import Subgoal, of_mission
from gde_plugins.babyai.worlds.scene import FREE, Door
from gde_plugins.babyai.worlds.simulation import Simulation

PATIENCE = 60
"""Changes of the stack without an action after which the bot gives up on subgoals."""
MOST_ADDED = 60
"""Number of added subgoals above which the bot gives up on subgoals."""
BUDGET = 20_000
"""Number of states that the search may expand instead."""
NO_HELP = ""
"""In place of an action: this subgoal cannot be reached."""


class OmniBot:
    """Suggests one action at a time; the caller acts in the world."""

    def __init__(
        self, now: Simulation, subgoals: Sequence[Subgoal] | None = None, sight: int = 0
    ) -> None:
        """Begin with given subgoals, in order, or else with a translation of the
        mission.

        Args:
            now: the world as it is. subgoals: given ones; they do not count as added,
            while those of a translation do. sight: ignore things farther away than so
            many cells; 0 ignores none.
        """
        self._sight = sight
        self._follows_given = subgoals is not None
        self.stack = [*reversed(subgoals or ())]
        self.n_added = 0
        self._paths: dict[object, _Path] = {}
        self._layout: object = None
        self._solution: dict[Key, str] = {}
        if not self._follows_given:
            self._push(*of_mission(now.scene.mission, now.done))

    def suggest(self, now: Simulation) -> str | None:
        """Return the next action; None if nothing is left to do or nothing helps."""
        for _ in range(PATIENCE):
            if not self.stack:
                if self._follows_given:
                    return None
                self._push(*of_mission(now.scene.mission, now.done))
            if self.n_added > MOST_ADDED and not self._follows_given:
                break

            action = self._pursue(self.stack[-1], now)
            if action == NO_HELP:
                break
            if action is not None:
                return action

        # Given subgoals are followed as they are, even if they lead nowhere.
        if self._follows_given:
            return None
        return self._search(now)

    def _search(self, now: Simulation) -> str | None:
        """Return the next action of a shortest solution, e.g. in a room too full to put
        things aside.
        """
        if now.key not in self._solution:
            if is_impossible(now):
                return None
            found = shortest(now, Bound(now), BUDGET)
            if not found.actions:
                return None
            # There is one key more than actions: that of the end.
            self._solution = dict(zip(found.keys, found.actions, strict=False))
        return self._solution[now.key]

    def _push(self, *subgoals: Subgoal) -> None:
        """Add subgoals of which the last is done first."""
        self.stack += subgoals
        self.n_added += len(subgoals)

    def _pursue(self, subgoal: Subgoal, now: Simulation) -> str | None:
        """Return an action, `NO_HELP`, or None after a change of the stack."""
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

    def _faces_its_cell(self, subgoal: Subgoal, now: Simulation) -> bool:
        """Return whether the agent still faces the cell that it began to act on; else
        make it turn back first.
        """
        if subgoal.begun and now.ahead != subgoal.cell:
            self._push(Subgoal("GoNextTo", cell=subgoal.cell))
            return False
        self.stack[-1] = subgoal.at(now.ahead)
        return True

    def _pick_up(self, subgoal: Subgoal, now: Simulation) -> str | None:
        is_done = (
            subgoal.begun and now.carrying >= 0 and now.cells[subgoal.cell] == FREE
        )
        if is_done:
            self.stack.pop()
            return None
        if not self._faces_its_cell(subgoal, now):
            return None

        thing = now.cells[now.ahead]
        can_be_carried = thing >= 0 and now.doors[thing] < 0
        if not can_be_carried:
            self.stack.pop()
            return None
        if now.carrying < 0:
            return "pickup"

        # Put down what is carried, and come back.
        place = walks.place_to_drop(now)
        if place < 0:
            return NO_HELP
        self._push(
            Subgoal("GoNextTo", cell=now.ahead),
            Subgoal("Drop"),
            Subgoal("GoNextTo", cell=place),
        )
        return None

    def _drop(self, subgoal: Subgoal, now: Simulation) -> str | None:
        is_free = now.cells[now.ahead] == FREE
        if now.carrying < 0 or (not subgoal.begun and not is_free):
            self.stack.pop()
            return None
        if not self._faces_its_cell(subgoal, now):
            return None
        if not is_free:
            self.stack.pop()
            return None
        return "drop"

    def _open(self, subgoal: Subgoal, now: Simulation) -> str | None:
        if not self._faces_its_cell(subgoal, now):
            return None
        thing = now.cells[now.ahead]
        must_be_opened = subgoal.purpose == "open" and not subgoal.begun
        is_filled_box = thing >= 0 and now.scene.things[thing].contains >= 0
        if is_filled_box and must_be_opened:
            return "toggle"

        is_door = thing >= 0 and now.doors[thing] >= 0
        if is_door and now.doors[thing] != Door.OPEN:
            needs_key = now.doors[thing] == Door.LOCKED and not now.has_key(thing)
            if not needs_key:
                return "toggle"
            self.stack.pop()
            return self._fetch_key(thing, now)

        # An open door has to be closed first where only opening counts.
        if is_door and must_be_opened:
            self._push(Subgoal("Close"))
        else:
            self.stack.pop()
        return None

    def _close(self, now: Simulation) -> str | None:
        door = now.cells[now.ahead]
        if door >= 0 and now.doors[door] == Door.OPEN:
            self.stack[-1] = self.stack[-1].at(now.ahead)
            return "toggle"
        self.stack.pop()
        return None

    def _fetch_key(self, door: int, now: Simulation) -> str | None:
        """Fetch the key, come back and open; what is carried is put down before and
        taken up again after.
        """
        fetch = self._plan_key(door, now)
        if not fetch:
            return NO_HELP
        come_back = (Subgoal("Open"), Subgoal("GoNextTo", cell=now.where[door]))
        if now.carrying < 0:
            self._push(*come_back, *fetch)
            return None

        place = walks.place_to_drop(now)
        if place < 0:
            return NO_HELP
        put_down = (Subgoal("Drop"), Subgoal("GoNextTo", cell=place))
        take_up = (Subgoal("Pickup"), Subgoal("GoNextTo", (now.carrying,)))
        self._push(*take_up, *come_back, *fetch, *put_down)
        return None

    def _plan_key(self, door: int, now: Simulation) -> tuple[Subgoal, ...]:
        """Return the subgoals that get the key of a door, from a box if need be; none
        if no key can be had.
        """
        color = now.scene.things[door].color
        keys = []
        in_reach = []
        for number, thing in enumerate(now.scene.things):
            if thing.kind != "key" or thing.color != color:
                continue
            keys.append(number)
            # A key behind another door of its colour is no help.
            cell = now.where[number]
            if cell >= 0 and self._reaches(cell, color, now):
                in_reach.append(number)
        if in_reach:
            return Subgoal("Pickup"), Subgoal("GoNextTo", tuple(in_reach))

        for box, thing in enumerate(now.scene.things):
            if thing.contains in keys and now.where[box] >= 0:
                return (
                    Subgoal("Pickup"),
                    Subgoal("GoNextTo", (thing.contains,)),
                    Subgoal("Open", purpose="open"),
                    Subgoal("GoNextTo", (box,)),
                )
        return ()

    def _reaches(self, cell: int, sealed: str, now: Simulation) -> bool:
        """Whether the agent can come to face a cell without passing doors of a
        colour.
        """
        ends = [(state, 0) for state in walks.facing(now, cell)]
        entering = walks.tolls(now, sealed)
        costs = walks.table(now, ends, entering, now.walking_state)
        return costs[now.walking_state] < walks.FAR

    def _go(self, subgoal: Subgoal, now: Simulation) -> str | None:
        if now.carrying in subgoal.things and subgoal.purpose == "":
            return self._put_down(now)

        path = self._path(subgoal, now)
        if now.walking_state in path.ends:
            if subgoal.purpose == "put" and now.cells[now.ahead] != FREE:
                return self._clear(now)
            self.stack.pop()
            return None
        if path.costs[now.walking_state] >= walks.FAR:
            return NO_HELP

        if path.lock >= 0:
            self.stack.pop()
            unlock = (
                Subgoal("Open"),
                Subgoal("GoNextTo", cell=now.where[path.lock], purpose="open"),
            )
            self._push(subgoal, *unlock)
            return None
        if path.locked_end >= 0 and now.carrying < 0:
            return self._fetch_key_first(path.locked_end, now)

        action = walks.next_action(
            now, path.costs, path.entering, now.position, now.direction
        )
        return self._enter(now) if action == "forward" else action

    def _enter(self, now: Simulation) -> str | None:
        """Go to the cell ahead, whatever it holds."""
        content = now.cells[now.ahead]
        if content == FREE or now.doors[content] == Door.OPEN:
            return "forward"
        if now.doors[content] < 0:
            return self._clear(now)
        self._push(Subgoal("Open"))
        return None

    def _put_down(self, now: Simulation) -> str | None:
        """Drop the carried thing that the agent is to go to: ahead, or else where it
        blocks nothing.
        """
        place = now.ahead
        if now.cells[place] != FREE:
            place = walks.place_to_drop(now)
        if place < 0:
            return NO_HELP
        self._push(Subgoal("Drop"), Subgoal("GoNextTo", cell=place))
        return None

    def _fetch_key_first(self, door: int, now: Simulation) -> str | None:
        """Fetch the key before going to the door, since the hands are empty."""
        fetch = self._plan_key(door, now)
        if not fetch:
            return NO_HELP
        self.stack.pop()
        self._push(Subgoal("GoNextTo", cell=now.where[door], purpose="open"), *fetch)
        return None

    def _clear(self, now: Simulation) -> str | None:
        """Move the thing ahead out of the way; what is carried is put down
        meanwhile.
        """
        place = walks.place_to_drop(now)
        if place < 0:
            return NO_HELP
        if now.carrying < 0:
            self._push(
                Subgoal("Drop"), Subgoal("GoNextTo", cell=place), Subgoal("Pickup")
            )
            return None

        other = walks.place_to_drop(now, avoid=place)
        if other < 0:
            return NO_HELP
        put_down = (Subgoal("Drop"), Subgoal("GoNextTo", cell=place))
        move = (
            Subgoal("Drop"),
            Subgoal("GoNextTo", cell=other),
            Subgoal("Pickup"),
            Subgoal("GoNextTo", cell=now.ahead),
        )
        take_up = (Subgoal("Pickup"), Subgoal("GoNextTo", (now.carrying,)))
        self._push(*take_up, *move, *put_down)
        return None

    def _path(self, subgoal: Subgoal, now: Simulation) -> "_Path":
        """Return the path of a subgoal; it holds until a thing moves or a lock is
        opened.
        """
        n_locked = now.doors.count(Door.LOCKED)
        # With limited sight the path changes with every step.
        seen_from = now.position if self._sight else 0
        layout = (tuple(now.where), now.carrying, n_locked, seen_from)
        if self._layout != layout:
            self._layout = layout
            self._paths = {}

        key = (subgoal.things, subgoal.cell, subgoal.purpose)
        path = self._paths.get(key)
        # A table is worked out only as far as the agent was; from farther away it must
        # be made again.
        if path is None or path.costs[now.walking_state] >= walks.FAR:
            path = self._plan_path(subgoal, now)
            self._paths[key] = path
        return path

    def _plan_path(self, subgoal: Subgoal, now: Simulation) -> "_Path":
        cells = []
        for thing in subgoal.things:
            # A thing that is carried or in a box cannot be gone to.
            if now.where[thing] >= 0:
                cells.append(now.where[thing])
        if not subgoal.things:
            cells.append(subgoal.cell)

        ends: dict[int, int] = {}
        for cell in cells:
            ends.update(walks.arrivals(cell, subgoal.purpose, now))

        entering = walks.tolls(
            now, sealed=self._sealed(subgoal, now), sight=self._sight
        )
        costs = walks.table(now, ends.items(), entering, now.walking_state)

        lock = -1
        last = now.walking_state
        if costs[last] < walks.FAR:
            lock, last = walks.follow(now, costs, entering, ends)

        locked_end = -1
        cell, direction = divmod(last, 4)
        faced = now.cells[cell + now.scene.steps[direction]]
        if subgoal.purpose == "open" and faced >= 0:
            is_locked = now.doors[faced] == Door.LOCKED
            if is_locked and not now.has_key(faced):
                locked_end = faced
        return _Path(costs, entering, ends, lock, locked_end)

    def _sealed(self, subgoal: Subgoal, now: Simulation) -> str:
        """Return the colour of the wanted key, whose own doors do not lead to it; empty
        for no key.
        """
        wanted = [now.scene.things[thing] for thing in subgoal.things]
        opens_after = any(each.name == "Open" for each in self.stack[-4:])
        if not wanted or not opens_after:
            return ""
        color = wanted[0].color
        for thing in wanted:
            if thing.kind != "key" or thing.color != color:
                return ""
        return color


class _Path(NamedTuple):
    """The path that a subgoal leads along."""

    costs: walks.Table
    entering: list[int]
    ends: Mapping[int, int]
    lock: int
    """The first locked door along it without its key; negative for none."""
    locked_end: int
    """The door at its end that cannot be opened yet; negative for none."""
