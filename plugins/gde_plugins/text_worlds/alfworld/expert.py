"""An expert for ALFWorld's six types of tasks, with full view of the house.

It fetches the object, treats it if the task says so, and brings it to its receptacle.
It takes the fewest actions over all objects, appliances and receptacles that would do.
ALFWorld's own planner finds the same plans, but takes minutes on large kitchens.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import permutations, product
from typing import Any

from gde.data.grouping import collected

Step = tuple[str, Mapping[str, str]]
"""A domain action's name and the meaning of its parameters."""
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
    """All true facts, by predicate.

    Names are in lower case, as the planner has them.
    """

    def __init__(self, facts: Iterable[tuple[str, tuple[str, ...]]]) -> None:
        """Sort facts, each a predicate and its arguments."""
        self.true = collected((name.lower(), named) for name, named in sorted(facts))
        inside = self.true.get("inreceptacle", ())
        self.places = collected((thing, receptacle) for thing, receptacle in inside)
        """Receptacles of each object. If one receptacle stands on another, both count;
        an object picked up from one of them stays in the other.
        """
        self.location = self._pairs("receptacleatlocation")
        self.types = self._pairs("objecttype")
        self.receptacle_types = self._pairs("receptacletype")
        self.here = self._pairs("atlocation").get("agent1", "")
        self.held = self._pairs("holds").get("agent1")

    def objects(self, kind: str) -> list[str]:
        """Return the objects of a type that are held or in a receptacle."""
        found = []
        for thing, its_kind in self.types.items():
            # An object that is nowhere cannot be fetched.
            if its_kind == kind and (thing in self.places or thing == self.held):
                found.append(thing)
        return found

    def reach(self, thing: str) -> list[str]:
        """Return the receptacles that a thing can be taken from; one empty name if it
        is held.
        """
        return [""] if thing == self.held else self.places[thing]

    def receptacles(self, kind: str) -> list[str]:
        return [name for name, its in self.receptacle_types.items() if its == kind]

    def may_hold(self, receptacle: str, thing: str) -> bool:
        kind = self.receptacle_types[receptacle]
        return self.says("cancontain", kind, self.types[thing])

    def says(self, predicate: str, *arguments: str) -> bool:
        return arguments in self.true.get(predicate, ())

    def _pairs(self, predicate: str) -> dict[str, str]:
        pairs = {}
        for arguments in self.true.get(predicate, ()):
            pairs[arguments[0]] = arguments[1]
        return pairs


class Errand:
    """The steps of an agent through a house."""

    def __init__(self, house: House) -> None:
        self.steps: list[Step] = []
        self._house = house
        self._here = house.here
        self._held = house.held
        self._opened = {arguments[0] for arguments in house.true.get("opened", ())}
        # What is inside changes with the errand, the house does not.
        self._inside = set(house.true.get("inreceptacle", ()))

    def go(self, receptacle: str) -> None:
        location = self._house.location[receptacle]
        if location != self._here:
            # Several receptacles may share a location, and then no step is needed
            # between them.
            self.steps.append(("gotolocation", {"r": receptacle}))
            self._here = location

    def take(self, thing: str, place: str) -> None:
        """Take a thing from a place, after putting away a held one."""
        if thing == self._held:
            return
        if self._held is not None:
            self.put(self._held, self._nearest_holder(self._held))
        self._open(place)
        self.steps.append(("pickupobject", {"o": thing, "r": place}))
        self._held = thing
        self._inside.remove((thing, place))

    def put(self, thing: str, receptacle: str) -> None:
        """Put away the held thing, unless it counts as lying there."""
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
        if self._house.says("openable", receptacle) and receptacle not in self._opened:
            self.steps.append(("openobject", {"r": receptacle}))
            self._opened.add(receptacle)

    def _nearest_holder(self, thing: str) -> str:
        """Return a receptacle here that may hold a thing, or else the first by name."""
        house = self._house
        holders = [
            each for each in house.receptacle_types if house.may_hold(each, thing)
        ]
        here = [each for each in holders if house.location[each] == self._here]
        return (here or holders)[0]


def expert_steps(house: House, task: Mapping[str, Any]) -> list[Step]:
    """Find a short plan for the goal; empty if there is none.

    Args:
        house: what is true now.
        task: `task_type` and `pddl_params`, as ALFRED's record of a task has them.
    """
    params = {}
    for name, value in task["pddl_params"].items():
        params[name] = f"{value}type".lower()
    things = house.objects(params["object_target"])
    targets = house.receptacles(params.get("parent_target", ""))

    task_type = task["task_type"]
    ways: list[Errand] = []
    if task_type == "look_at_obj_in_light":
        for lamp, thing in product(house.objects(params["toggle_target"]), things):
            ways += _lit(house, lamp, thing)
    elif task_type in TREATMENTS:
        fact, able, action, kind = TREATMENTS[task_type]
        for thing in things:
            # A thing that is clean, hot or cool already only has to be brought.
            if house.says(fact, thing):
                ways += _brought(house, (thing,), targets)
            elif house.says(able, thing):
                appliances = house.receptacles(kind)
                ways += _treated(house, thing, action, appliances, targets)
    else:
        n_things = 2 if task_type == "pick_two_obj_and_place" else 1
        for group in permutations(things, n_things):
            ways += _brought(house, group, targets)

    # Of equally short ways the first is taken, so that the expert always says the same.
    lengths = [len(errand.steps) for errand in ways]
    return ways[lengths.index(min(lengths))].steps if ways else []


def _brought(
    house: House, things: Iterable[str], targets: Iterable[str]
) -> Iterator[Errand]:
    """Bring things to each target; things already there stay."""
    for receptacle in targets:
        missing = []
        for thing in things:
            if receptacle not in house.places.get(thing, ()):
                missing.append(thing)
        if not all(house.may_hold(receptacle, thing) for thing in missing):
            continue

        # Each thing can be taken from any of the receptacles that it counts as being
        # in.
        for places in product(*map(house.reach, missing)):
            errand = Errand(house)
            for thing, place in zip(missing, places, strict=True):
                errand.take(thing, place)
                errand.put(thing, receptacle)
            yield errand


def _treated(
    house: House,
    thing: str,
    action: str,
    appliances: Iterable[str],
    targets: Iterable[str],
) -> Iterator[Errand]:
    for place, appliance, receptacle in product(
        house.reach(thing), appliances, targets
    ):
        if house.may_hold(receptacle, thing):
            errand = Errand(house)
            errand.take(thing, place)
            errand.treat(action, thing, appliance)
            errand.put(thing, receptacle)
            yield errand


def _lit(house: House, lamp: str, thing: str) -> Iterator[Errand]:
    for place, stand in product(house.reach(thing), house.places[lamp]):
        errand = Errand(house)
        errand.take(thing, place)
        errand.go(stand)
        # A lamp that is on would be switched off.
        if not house.says("istoggled", lamp):
            errand.treat("toggleobject", lamp, stand)
        yield errand
