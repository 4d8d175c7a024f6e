"""OmniBot: an expert with full view that works through a stack of subgoals.

It follows Choukrani et al. (2025), section 4.3.

This is a new implementation of the description. It differs from the published bot in
four ways: its paths are shortest in actions, not in cells; an action that somebody else
takes does not confuse it; it translates the rest of the mission again when its stack is
empty, where the published bot stops; and it searches where subgoals lead nowhere.
"""

from collections.abc import Sequence

from gde_plugins.babyai.oracle import walks
from gde_plugins.babyai.oracle.bounds import Bound
from gde_plugins.babyai.oracle.distances import facing
from gde_plugins.babyai.oracle.proof import is_impossible
from gde_plugins.babyai.oracle.search import Key, shortest
from gde_plugins.babyai.oracle.subgoals import Subgoal, of_mission
from gde_plugins.babyai.worlds.scene import FREE, Door
from gde_plugins.babyai.worlds.simulation import Simulation

PATIENCE = 60
"""Maximum number of changes of the stack without an action; then the bot gives up on
subgoals.
"""
MOST_ADDED = 60
"""Number of added subgoals above which the bot gives up on subgoals."""
BUDGET = 20_000
"""Number of states that the search may expand instead."""


class _NoHelp(Exception):
    """A subgoal cannot be reached."""


class OmniBot:
    """Suggests one action at a time; the caller acts in the world."""

    def __init__(
        self,
        now: Simulation,
        subgoals: Sequence[Subgoal] | None = None,
        budget: int = BUDGET,
    ) -> None:
        """Begin with given subgoals, in order, or with a translation of the mission.

        Args:
            now: the world as it is.
            subgoals: given ones; they do not count as added, while those of a
                translation do.
            budget: states that a search may expand where subgoals lead nowhere.
        """
        self._budget = budget
        self._follows_given = subgoals is not None
        self.stack = [*reversed(subgoals or ())]
        self.n_added = 0
        self._paths: dict[object, walks.Path] = {}
        self._layout: object = None
        self._solution: dict[Key, str] = {}
        if not self._follows_given:
            self._push(*of_mission(now.scene.mission, now.done))

    def suggest(self, now: Simulation) -> str | None:
        """Return the next action; None if nothing is left to do or nothing helps."""
        try:
            for _ in range(PATIENCE):
                if self._follows_given and not self.stack:
                    return None
                if not self.stack:
                    self._push(*of_mission(now.scene.mission, now.done))
                if self.n_added > MOST_ADDED and not self._follows_given:
                    break
                action = self._pursue(self.stack[-1], now)
                if action is not None:
                    return action
        except _NoHelp:
            pass

        # Given subgoals are followed as they are, even if they lead nowhere.
        if self._follows_given:
            return None
        return self._search(now)

    def _search(self, now: Simulation) -> str | None:
        """Return the next action of a shortest solution.

        It is needed e.g. in a room too full to put things aside.
        """
        if now.key not in self._solution:
            if not self._budget or is_impossible(now):
                return None
            found = shortest(now, Bound(now), self._budget)
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
        """Return an action, or None after a change of the stack.

        Raises:
            _NoHelp: the subgoal cannot be reached.
        """
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
                if now.is_open(now.faced):
                    self.stack[-1] = subgoal.at(now.ahead)
                    return "toggle"
                self.stack.pop()
                return None

    def _faces_its_cell(self, subgoal: Subgoal, now: Simulation) -> bool:
        """Return whether the agent faces the cell of its action; else make it turn
        back.
        """
        if subgoal.begun and now.ahead != subgoal.cell:
            self._push(Subgoal("GoNextTo", cell=subgoal.cell))
            return False
        self.stack[-1] = subgoal.at(now.ahead)
        return True

    def _pick_up(self, subgoal: Subgoal, now: Simulation) -> str | None:
        is_gone = subgoal.begun and now.cells[subgoal.cell] == FREE
        if is_gone and now.carrying >= 0:
            self.stack.pop()
        elif self._faces_its_cell(subgoal, now):
            if not now.can_carry(now.faced):
                self.stack.pop()
            elif now.carrying < 0:
                return "pickup"
            else:
                come_back = Subgoal("GoNextTo", cell=now.ahead)
                self._push(come_back, *_put_down(_place_to_drop(now)))
        return None

    def _drop(self, subgoal: Subgoal, now: Simulation) -> str | None:
        is_free = now.faced == FREE
        if now.carrying < 0 or (not subgoal.begun and not is_free):
            self.stack.pop()
        elif self._faces_its_cell(subgoal, now):
            if is_free:
                return "drop"
            self.stack.pop()
        return None

    def _open(self, subgoal: Subgoal, now: Simulation) -> str | None:
        if not self._faces_its_cell(subgoal, now):
            return None
        thing = now.faced
        must_be_opened = subgoal.purpose == "open" and not subgoal.begun
        is_filled_box = thing >= 0 and now.scene.things[thing].contains >= 0
        if is_filled_box and must_be_opened:
            return "toggle"

        if thing >= 0 and now.doors[thing] in (Door.CLOSED, Door.LOCKED):
            if not now.lacks_key(thing):
                return "toggle"
            self.stack.pop()
            self._fetch_key(thing, now)
        elif must_be_opened and now.is_open(thing):
            # Only opening counts, so a door that stands open is closed first.
            self._push(Subgoal("Close"))
        else:
            self.stack.pop()
        return None

    def _fetch_key(self, door: int, now: Simulation) -> None:
        """Fetch the key, come back and open.

        A carried object is put down before and taken up again after.
        """
        fetch = self._plan_key(door, now)
        unlock = (Subgoal("Open"), Subgoal("GoNextTo", cell=now.where[door]))
        if now.carrying < 0:
            self._push(*unlock, *fetch)
        else:
            put_down = _put_down(_place_to_drop(now))
            self._push(*_take_up(now.carrying), *unlock, *fetch, *put_down)

    def _plan_key(self, door: int, now: Simulation) -> tuple[Subgoal, ...]:
        """Return the subgoals that get the key of a door, from a box if need be."""
        color = now.scene.things[door].color
        keys = []
        in_reach = []
        for number, thing in enumerate(now.scene.things):
            if thing.kind != "key" or thing.color != color:
                continue
            keys.append(number)
            # A key behind another door of its colour is no help.
            cell = now.where[number]
            if cell >= 0:
                ends = dict.fromkeys(facing(now.scene, cell), 0)
                if walks.Path(now, ends, color).leads_from(now):
                    in_reach.append(number)
        if in_reach:
            return _take_up(*in_reach)

        for box, thing in enumerate(now.scene.things):
            if thing.contains in keys and now.where[box] >= 0:
                open_box = Subgoal("Open", purpose="open"), Subgoal("GoNextTo", (box,))
                return (*_take_up(thing.contains), *open_box)
        raise _NoHelp

    def _go(self, subgoal: Subgoal, now: Simulation) -> str | None:
        if now.carrying in subgoal.things and subgoal.purpose == "":
            place = now.ahead if now.faced == FREE else _place_to_drop(now)
            self._push(*_put_down(place))
            return None

        path = self._path(subgoal, now)
        if now.walking_state in path.ends:
            if subgoal.purpose == "put" and now.faced != FREE:
                self._clear(now)
            else:
                self.stack.pop()
            return None
        if not path.leads_from(now):
            raise _NoHelp

        if path.lock >= 0:
            self.stack.pop()
            to_lock = Subgoal("GoNextTo", cell=now.where[path.lock], purpose="open")
            self._push(subgoal, Subgoal("Open"), to_lock)
            return None
        can_fetch = subgoal.purpose == "open" and now.carrying < 0
        if can_fetch and path.locked_end >= 0:
            # The key is fetched before going to the door, since the hands are empty.
            fetch = self._plan_key(path.locked_end, now)
            self.stack.pop()
            cell = now.where[path.locked_end]
            self._push(Subgoal("GoNextTo", cell=cell, purpose="open"), *fetch)
            return None

        action = path.action(now.position, now.direction)
        if action != "forward" or now.faced == FREE or now.is_open(now.faced):
            return action
        if now.can_carry(now.faced):
            self._clear(now)
        else:
            self._push(Subgoal("Open"))
        return None

    def _clear(self, now: Simulation) -> None:
        """Move the thing ahead out of the way; a carried one is put down meanwhile."""
        place = _place_to_drop(now)
        if now.carrying < 0:
            self._push(*_put_down(place), Subgoal("Pickup"))
            return
        move = (
            *_put_down(_place_to_drop(now, avoid=place)),
            Subgoal("Pickup"),
            Subgoal("GoNextTo", cell=now.ahead),
        )
        self._push(*_take_up(now.carrying), *move, *_put_down(place))

    def _path(self, subgoal: Subgoal, now: Simulation) -> walks.Path:
        """Return the path of a subgoal; it holds until a thing moves or a lock is
        opened.
        """
        n_locked = now.doors.count(Door.LOCKED)
        layout = (tuple(now.where), now.carrying, n_locked)
        if self._layout != layout:
            self._layout = layout
            self._paths = {}

        key = (subgoal.things, subgoal.cell, subgoal.purpose)
        path = self._paths.get(key)
        if path is None:
            # A thing that is carried or in a box cannot be gone to.
            cells = [now.where[thing] for thing in subgoal.things]
            if not subgoal.things:
                cells = [subgoal.cell]
            ends: dict[int, int] = {}
            for cell in cells:
                if cell >= 0:
                    ends.update(walks.arrivals(cell, subgoal.purpose, now))
            path = walks.Path(now, ends, self._sealed(subgoal, now))
            self._paths[key] = path
        return path

    def _sealed(self, subgoal: Subgoal, now: Simulation) -> str:
        """Return the colour of the wanted key; empty for no key.

        Doors of that colour do not lead to it.
        """
        wanted = {str(now.scene.things[thing]) for thing in subgoal.things}
        opens_after = any(each.name == "Open" for each in self.stack[-4:])
        if len(wanted) == 1 and opens_after:
            color, _, kind = wanted.pop().partition(" ")
            if kind == "key":
                return color
        return ""


def _place_to_drop(now: Simulation, avoid: int = -1) -> int:
    place = walks.place_to_drop(now, avoid)
    if place < 0:
        raise _NoHelp
    return place


def _put_down(cell: int) -> tuple[Subgoal, ...]:
    return Subgoal("Drop"), Subgoal("GoNextTo", cell=cell)


def _take_up(*things: int) -> tuple[Subgoal, ...]:
    return Subgoal("Pickup"), Subgoal("GoNextTo", things)
