"""BabyAI's rooms: the agent is to be where its mission takes it, and things are to be as the mission wants them."""

from collections.abc import Iterator

from gde.data.trajectory import Trajectory
from gde_plugins.statefactory.rules.baby_mission import Clause, Stages, stages
from gde_plugins.statefactory.rules.given import Rules, Told, seen
from gde_plugins.statefactory.rules.maps import lines
from gde_plugins.statefactory.rules.room_memory import NOTHING, Rooms
from gde_plugins.statefactory.rules.room_texts import moment
from gde_plugins.statefactory.state import Item, Items

AGENT = "agent"
FULFILLED, OPEN = {"status": "fulfilled"}, {"status": "to do"}
SHARES = {"go to": 1, "pick up": 1, "open": 2, "put": 2}
"""Objects of a goal that a clause gives, so that it weighs the same before, while and after it is worked at."""


class Progress:
    """Which clauses of a mission are fulfilled."""

    def __init__(self, wanted: Stages) -> None:
        self._wanted = wanted
        self._done: set[Clause] = set()

    def follow(self, rooms: Rooms, action: str) -> None:
        """Take down what an action fulfilled."""
        for stage in self._wanted:
            self._done |= {clause for clause in stage if _is_fulfilled(clause, rooms, action)}
            if not self._done.issuperset(stage):
                return

    def state(self) -> Iterator[Item]:
        """Every clause with what has become of it."""
        for clause in self._clauses():
            yield Item(clause.text, FULFILLED if clause in self._done else OPEN)

    def goal(self, rooms: Rooms) -> Iterator[Item]:
        """What the clauses that are due want of the agent and of things, and that the others be fulfilled."""
        due = next((stage for stage in self._wanted if not self._done.issuperset(stage)), ())
        for clause in self._clauses():
            at_work = clause in due and clause not in self._done
            yield from _wishes(clause, rooms) if at_work else [Item(clause.text, FULFILLED)] * SHARES[clause.verb]

    def _clauses(self) -> Iterator[Clause]:
        return (clause for stage in self._wanted for clause in stage)


def _is_fulfilled(clause: Clause, rooms: Rooms, action: str) -> bool:
    meant = rooms.meant(clause.thing)
    match clause.verb:
        case "go to":
            return rooms.ahead() in meant
        case "pick up":
            return action == "pickup" and rooms.held in meant
        case "open":
            ahead = rooms.ahead()
            return action == "toggle" and ahead in meant and bool(rooms.things[ahead].open)
    fixed = rooms.meant(clause.beside) if clause.beside else []
    return rooms.dropped in meant and not set(fixed).isdisjoint(rooms.beside(rooms.dropped))


def _wishes(clause: Clause, rooms: Rooms) -> list[Item]:
    """What is wanted by the names and at the places that are known by now; in general words where they are not."""
    name = _chosen(clause, rooms)
    there = _lines(rooms, name) if name in rooms.things else {}
    match clause.verb:
        case "go to":
            return [Item(AGENT, {**there, "faces": name})]
        case "pick up":
            return [Item(AGENT, {**there, "carries": name})]
        case "open":
            return [Item(AGENT, {**there, "faces": name}), Item(name, {"door": "open"})]
    fixed = next(iter(rooms.meant(clause.beside)), str(clause.beside)) if clause.beside else NOTHING
    beside = _lines(rooms, fixed) if fixed in rooms.things else {}
    return [Item(AGENT, {**there, "carries": name}), Item(name, {**beside, "lies beside": fixed})]


def _chosen(clause: Clause, rooms: Rooms) -> str:
    meant = rooms.meant(clause.thing)
    return rooms.held if rooms.held in meant else next(iter(meant), str(clause.thing))


def _lines(rooms: Rooms, name: str) -> dict[str, str]:
    x, y = rooms.things[name].place
    return lines(y, x, *rooms.now.size)


def _state(rooms: Rooms) -> Iterator[Item]:
    x, y = rooms.now.agent
    yield Item(AGENT, {**lines(y, x, *rooms.now.size), "faces": rooms.ahead(), "carries": rooms.held or NOTHING})
    for name, thing in rooms.things.items():
        door = {"door": "open" if thing.open else "closed"} if thing.kind == "door" else {}
        yield Item(name, {**_lines(rooms, name), **door, "lies beside": ", ".join(rooms.beside(name)) or NOTHING})


def _read(trajectory: Trajectory, objective: str) -> Told | None:
    wanted, told = stages(objective), [moment(text) for text in seen(trajectory)]
    shown = [one for one in told if one]
    if not wanted or not shown or len(shown) < len(told):
        return None
    rooms, progress = Rooms(shown[0]), Progress(wanted)
    actions = ["", *(turn.decision.action or "" for turn in trajectory.turns)]
    states: list[Items] = []
    goals: list[Items] = []
    for now, action in zip(shown, actions, strict=False):
        if states:
            rooms.see(now, action)
        progress.follow(rooms, action)
        states.append([*_state(rooms), *progress.state()])
        goals.append([*progress.goal(rooms)])
    return Told(states, goals)


RULES = Rules("rooms", _read)
