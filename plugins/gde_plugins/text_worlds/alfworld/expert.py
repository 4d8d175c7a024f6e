"""An expert for ALFWorld's six types of tasks; it sees the whole state of the house.

It fetches the object, treats it if the task says so, and brings it to its receptacle.
It takes the fewest actions over all objects, appliances and receptacles that would do.
ALFWorld's own planner finds the same plans, but takes minutes on large kitchens.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import permutations, product
from typing import Any

Step = tuple[str, Mapping[str, str]]
"""An action of the domain, by its name there, and what its parameters are."""
TREATMENTS = {
    "pick_clean_then_place_in_recep": (
        "isclean",
        "cleanable",
        "cleanobject",
        "sinkbasintype",
    ),
    "pick_heat_then_place_in_recep": (
        "ishot",
        "heatable",
        "heatobject",
        "microwavetype",
    ),
    "pick_cool_then_place_in_recep": ("iscool", "coolable", "coolobject", "fridgetype"),
}
"""Task type to the wanted fact, the property that the object needs, the action, and the
type of the appliance.
"""


class House:
    """Everything that is true, by predicate. Names are in lower case, as the planner
    has them.
    """

    def __init__(self, facts: Iterable[tuple[str, tuple[str, ...]]]) -> None:
        """Sort facts, each a predicate and its arguments."""
        self.true: dict[str, set[tuple[str, ...]]] = {}
        for predicate, arguments in facts:
            known = self.true.setdefault(predicate.lower(), set())
            known.add(arguments)

        self.places: dict[str, list[str]] = {}
        """The receptacles that each object is in. If one receptacle stands on another,
        both count; what is picked up from one of them stays in the other.
        """
        for thing, receptacle in self._pairs("inreceptacle"):
            self.places.setdefault(thing, []).append(receptacle)

        self.location = dict(self._pairs("receptacleatlocation"))
        self.types = dict(self._pairs("objecttype"))
        self._receptacle_types = dict(self._pairs("receptacletype"))

        location_of_agent = dict(self._pairs("atlocation"))
        self.here = location_of_agent.get("agent1", "")
        held_by_agent = dict(self._pairs("holds"))
        self.held = held_by_agent.get("agent1")

    def objects(self, kind: str) -> list[str]:
        """Return the objects of a type that are held or in a receptacle, in the order
        of their names.
        """
        found = []
        for thing, its_kind in self.types.items():
            # An object that is nowhere cannot be fetched.
            exists = thing in self.places or thing == self.held
            if its_kind == kind and exists:
                found.append(thing)
        return sorted(found)

    def reach(self, thing: str) -> list[str]:
        """Return the receptacles that a thing can be taken from; one empty name if it
        is held.
        """
        if thing == self.held:
            return [""]
        return self.places[thing]

    def receptacles(self, kind: str) -> list[str]:
        return sorted(
            name
            for name, its_kind in self._receptacle_types.items()
            if its_kind == kind
        )

    def holders(self, thing: str) -> list[str]:
        """Return the receptacles that may hold a thing, in the order of their names."""
        kind = self.types[thing]
        found = []
        for receptacle, its_kind in sorted(self._receptacle_types.items()):
            if self.says("cancontain", its_kind, kind):
                found.append(receptacle)
        return found

    def says(self, predicate: str, *arguments: str) -> bool:
        return arguments in self.true.get(predicate, ())

    def _pairs(self, predicate: str) -> Iterator[tuple[str, str]]:
        for arguments in sorted(self.true.get(predicate, ())):
            yield arguments[0], arguments[1]


@dataclass
class Errand:
    """Steps through a house, one after the other."""

    house: House
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._here = self.house.here
        self._held = self.house.held
        self._opened = {arguments[0] for arguments in self.house.true.get("opened", ())}
        # What is inside changes with the errand, the house does not.
        self._inside: set[tuple[str, str]] = set()
        for thing, places in self.house.places.items():
            for place in places:
                self._inside.add((thing, place))

    def go(self, receptacle: str) -> None:
        location = self.house.location[receptacle]
        if location != self._here:
            # Several receptacles may share a location, and then no step is needed
            # between them.
            self.steps.append(("gotolocation", {"r": receptacle}))
            self._here = location

    def take(self, thing: str, place: str) -> None:
        """Take a thing from a place, after putting away what is held."""
        if thing == self._held:
            return
        if self._held is not None:
            self.put(self._held, self._nearest_holder(self._held))
        self._open(place)
        self.steps.append(("pickupobject", {"o": thing, "r": place}))
        self._held = thing
        self._inside.remove((thing, place))

    def put(self, thing: str, receptacle: str) -> None:
        """Put away what is held, unless it counts as lying there."""
        if (thing, receptacle) in self._inside:
            return
        self._open(receptacle)
        self.steps.append(("putobject", {"o": thing, "r": receptacle}))
        self._held = None
        self._inside.add((thing, receptacle))

    def treat(self, action: str, thing: str, appliance: str) -> None:
        self.go(appliance)
        self.steps.append((action, {"o": thing, "r": appliance}))

    def _open(self, receptacle: str) -> None:
        self.go(receptacle)
        if self.house.says("openable", receptacle) and receptacle not in self._opened:
            self.steps.append(("openobject", {"r": receptacle}))
            self._opened.add(receptacle)

    def _nearest_holder(self, thing: str) -> str:
        """Return a receptacle here that may hold a thing, or else the first by name."""
        holders = self.house.holders(thing)
        for receptacle in holders:
            if self.house.location[receptacle] == self._here:
                return receptacle
        return holders[0]


def expert_steps(house: House, task: Mapping[str, Any]) -> list[Step]:
    """Find a short way to the goal; empty if there is none.

    Args:
        house: what is true now.
        task: `task_type` and `pddl_params`, as ALFRED's record of a task has them.
    """
    params = {}
    for name, value in task["pddl_params"].items():
        params[name] = f"{value}type".lower()

    task_type = task["task_type"]
    find_ways = _WAYS.get(task_type, _treated)
    shortest = None
    for errand in find_ways(house, task_type, params):
        # Of equally short ways the first is taken, so that the expert always says the
        # same.
        if shortest is None or len(errand.steps) < len(shortest):
            shortest = errand.steps
    return shortest or []


def _placed(house: House, _: str, params: Mapping[str, str]) -> Iterator[Errand]:
    for thing in house.objects(params["object_target"]):
        yield from _brought(house, (thing,), params)


def _twice(house: House, _: str, params: Mapping[str, str]) -> Iterator[Errand]:
    things = house.objects(params["object_target"])
    for pair in permutations(things, 2):
        yield from _brought(house, pair, params)


def _brought(
    house: House, things: Iterable[str], params: Mapping[str, str]
) -> Iterator[Errand]:
    """Bring things to each receptacle of the wanted type; what lies there already
    stays.
    """
    for receptacle in house.receptacles(params["parent_target"]):
        missing = []
        for thing in things:
            if receptacle not in house.places.get(thing, ()):
                missing.append(thing)
        if not all(receptacle in house.holders(thing) for thing in missing):
            continue

        # Each thing can be taken from any of the receptacles that it counts as being
        # in.
        reached_from = [house.reach(thing) for thing in missing]
        for places in product(*reached_from):
            errand = Errand(house)
            for thing, place in zip(missing, places, strict=True):
                errand.take(thing, place)
                errand.put(thing, receptacle)
            yield errand


def _treated(
    house: House, task_type: str, params: Mapping[str, str]
) -> Iterator[Errand]:
    fact, able, action, kind = TREATMENTS[task_type]
    for thing in house.objects(params["object_target"]):
        # A thing that is clean, hot or cool already only has to be brought.
        if house.says(fact, thing):
            yield from _brought(house, (thing,), params)
            continue
        if not house.says(able, thing):
            continue

        holders = house.holders(thing)
        wanted = [
            receptacle
            for receptacle in house.receptacles(params["parent_target"])
            if receptacle in holders
        ]
        appliances = house.receptacles(kind)
        for place, appliance, receptacle in product(
            house.reach(thing), appliances, wanted
        ):
            errand = Errand(house)
            errand.take(thing, place)
            errand.treat(action, thing, appliance)
            errand.put(thing, receptacle)
            yield errand


def _lit(house: House, _: str, params: Mapping[str, str]) -> Iterator[Errand]:
    lamps = house.objects(params["toggle_target"])
    things = house.objects(params["object_target"])
    for lamp, thing in product(lamps, things):
        for place, stand in product(house.reach(thing), house.places[lamp]):
            errand = Errand(house)
            errand.take(thing, place)
            errand.go(stand)
            # A lamp that is on would be switched off.
            if not house.says("istoggled", lamp):
                errand.treat("toggleobject", lamp, stand)
            yield errand


_WAYS: Mapping[str, Callable[[House, str, Mapping[str, str]], Iterator[Errand]]] = {
    "pick_and_place_simple": _placed,
    "pick_two_obj_and_place": _twice,
    "look_at_obj_in_light": _lit,
}
"""Task type to its ways; all other types have a treatment."""
