"""BabyAI's rooms: the agent where its mission takes it, and things as the mission wants
them.
"""

from collections.abc import Iterator

from gde.data.transcript import Transcript
from gde_plugins.statefactory.rules.baby_mission import Clause, Stages, stages
from gde_plugins.statefactory.rules.room_memory import NOTHING, Rooms
from gde_plugins.statefactory.rules.room_texts import Moment, moment
from gde_plugins.statefactory.rules.worlds import AGENT, Given, Rules, lines, seen
from gde_plugins.statefactory.state import Item, Items

FULFILLED = {"status": "fulfilled"}
OPEN = {"status": "to do"}
SHARES = {"go to": 1, "pick up": 1, "open": 2, "put": 2}
"""Goal objects of a clause: as many before, while and after it is worked at, so that
its weight stays the same.
"""


class Progress:
    """Which clauses of a mission are fulfilled."""

    def __init__(self, wanted: Stages) -> None:
        self._wanted = wanted
        self._done: set[Clause] = set()

    def follow(self, rooms: Rooms, action: str) -> None:
        """Mark the clauses that an action fulfilled; later stages wait for the earlier
        ones.
        """
        for stage in self._wanted:
            self._done |= {
                clause for clause in stage if _is_fulfilled(clause, rooms, action)
            }
            if not self._done.issuperset(stage):
                return

    def state(self) -> Iterator[Item]:
        """Every clause with its status."""
        for clause in self._clauses():
            yield Item(clause.text, FULFILLED if clause in self._done else OPEN)

    def goal(self, rooms: Rooms) -> Iterator[Item]:
        """Wishes of the clauses that are due; the others as fulfilled."""
        due = next(
            (stage for stage in self._wanted if not self._done.issuperset(stage)), ()
        )
        for clause in self._clauses():
            if clause in due and clause not in self._done:
                yield from _wishes(clause, rooms)
            else:
                yield from [Item(clause.text, FULFILLED)] * SHARES[clause.verb]

    def _clauses(self) -> Iterator[Clause]:
        for stage in self._wanted:
            yield from stage


def _is_fulfilled(clause: Clause, rooms: Rooms, action: str) -> bool:
    meant = rooms.meant(clause.thing)
    match clause.verb:
        case "go to":
            return rooms.ahead() in meant
        case "pick up":
            return action == "pickup" and rooms.held in meant
        case "open":
            ahead = rooms.ahead()
            return (
                action == "toggle" and ahead in meant and bool(rooms.things[ahead].open)
            )
        case "put":
            fixed = rooms.meant(clause.beside) if clause.beside else []
            return rooms.dropped in meant and not set(fixed).isdisjoint(
                rooms.beside(rooms.dropped)
            )


def _wishes(clause: Clause, rooms: Rooms) -> list[Item]:
    """Wanted objects with the names and places known by now; in general words where
    none are known.
    """
    name = _chosen(clause, rooms)
    there = _lines(rooms, name) if name in rooms.things else {}
    match clause.verb:
        case "go to":
            return [Item(AGENT, {**there, "faces": name})]
        case "pick up":
            return [Item(AGENT, {**there, "carries": name})]
        case "open":
            return [Item(AGENT, {**there, "faces": name}), Item(name, {"door": "open"})]
        case "put":
            fixed = NOTHING
            if clause.beside:
                fixed = next(iter(rooms.meant(clause.beside)), str(clause.beside))
            beside = _lines(rooms, fixed) if fixed in rooms.things else {}
            return [
                Item(AGENT, {**there, "carries": name}),
                Item(name, {**beside, "lies beside": fixed}),
            ]


def _chosen(clause: Clause, rooms: Rooms) -> str:
    """The thing that a clause is about: the carried one if it fits, else the
    nearest.
    """
    meant = rooms.meant(clause.thing)
    if rooms.held in meant:
        return rooms.held
    return next(iter(meant), str(clause.thing))


def _lines(rooms: Rooms, name: str) -> dict[str, str]:
    x, y = rooms.things[name].place
    return lines(y, x, *rooms.now.size)


def _state(rooms: Rooms) -> Iterator[Item]:
    x, y = rooms.now.agent
    yield Item(
        AGENT,
        {
            **lines(y, x, *rooms.now.size),
            "faces": rooms.ahead(),
            "carries": rooms.held or NOTHING,
        },
    )
    for name, thing in rooms.things.items():
        door = {}
        if thing.kind == "door":
            door = {"door": "open" if thing.open else "closed"}
        beside = ", ".join(rooms.beside(name)) or NOTHING
        yield Item(name, {**_lines(rooms, name), **door, "lies beside": beside})


def _read(transcript: Transcript, objective: str) -> Given | None:
    wanted = stages(objective)
    shown: list[Moment] = []
    for text in seen(transcript):
        now = moment(text)
        if not now:
            return None
        shown.append(now)
    if not wanted or not shown:
        return None

    rooms = Rooms(shown[0])
    progress = Progress(wanted)
    states: list[Items] = []
    goals: list[Items] = []
    for now, step in zip(shown, transcript.steps, strict=True):
        if states:  # the first moment is what the rooms were made of
            rooms.see(now, step.action)
        progress.follow(rooms, step.action)
        states.append([*_state(rooms), *progress.state()])
        goals.append([*progress.goal(rooms)])
    return Given(states, goals)


RULES = Rules("rooms", _read)
