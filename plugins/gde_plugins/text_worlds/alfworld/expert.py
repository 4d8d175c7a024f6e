"""An expert for ALFWorld's six types of tasks, who sees the whole state of the house.

It goes for the object, treats it where the task says so, and brings it where it belongs, by the fewest actions over all
objects, appliances and receptacles that would do. ALFWorld's own planner searches for the same plans; on large kitchens
that takes minutes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import permutations, product
from typing import Any

Step = tuple[str, Mapping[str, str]]
"""An action of the domain, by its name there, and what its parameters are."""
TREATMENTS = {
    "pick_clean_then_place_in_recep": ("isclean", "cleanable", "cleanobject", "sinkbasintype"),
    "pick_heat_then_place_in_recep": ("ishot", "heatable", "heatobject", "microwavetype"),
    "pick_cool_then_place_in_recep": ("iscool", "coolable", "coolobject", "fridgetype"),
}
"""Task type to the fact that is wanted, what the object must be, the action, and the type of the appliance."""


class House:
    """Everything that is true, by predicate. Names are in lower case, as the planner has them."""

    def __init__(self, facts: Iterable[tuple[str, tuple[str, ...]]]) -> None:
        """Sort facts, each a predicate and its arguments."""
        self.true: dict[str, set[tuple[str, ...]]] = {}
        for predicate, arguments in facts:
            self.true.setdefault(predicate.lower(), set()).add(arguments)
        self.places: dict[str, list[str]] = {}
        """Object to the receptacles that it is in: one that stands upon another counts for both, and what is picked up
        from one of them stays in the other."""
        for thing, receptacle in self._pairs("inreceptacle"):
            self.places.setdefault(thing, []).append(receptacle)
        self.location = dict(self._pairs("receptacleatlocation"))
        self.types = dict(self._pairs("objecttype"))
        self.here = dict(self._pairs("atlocation")).get("agent1", "")
        self.held = dict(self._pairs("holds")).get("agent1")
        self._stands = dict(self._pairs("receptacletype"))

    def objects(self, kind: str) -> list[str]:
        """Of a type, held or in a receptacle, in the order of their names."""
        there = {*self.places, self.held}
        return sorted(each for each, its in self.types.items() if its == kind and each in there)

    def reach(self, thing: str) -> list[str]:
        """Receptacles that a thing can be taken from; where it is held, one that stands for that."""
        return [""] if thing == self.held else self.places[thing]

    def receptacles(self, kind: str) -> list[str]:
        return sorted(each for each, its in self._stands.items() if its == kind)

    def holders(self, thing: str) -> list[str]:
        """Receptacles that may hold a thing."""
        return [each for each, kind in sorted(self._stands.items()) if self.says("cancontain", kind, self.types[thing])]

    def says(self, predicate: str, *arguments: str) -> bool:
        return arguments in self.true.get(predicate, ())

    def _pairs(self, predicate: str) -> Iterator[tuple[str, str]]:
        yield from ((each[0], each[1]) for each in sorted(self.true.get(predicate, ())))


@dataclass
class Errand:
    """Steps through a house, one after the other."""

    house: House
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._here = self.house.here
        self._held = self.house.held
        self._opened = {each[0] for each in self.house.true.get("opened", ())}
        self._inside = {(thing, place) for thing, places in self.house.places.items() for place in places}

    def go(self, receptacle: str) -> None:
        if self.house.location[receptacle] != self._here:
            self.steps.append(("gotolocation", {"r": receptacle}))
            self._here = self.house.location[receptacle]

    def take(self, thing: str, place: str) -> None:
        """Hold a thing from a place, and put away first what is held."""
        if thing == self._held:
            return
        if self._held is not None:
            holders = self.house.holders(self._held)
            self.put(self._held, min(holders, key=lambda each: (self.house.location[each] != self._here, each)))
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


def expert_steps(house: House, task: Mapping[str, Any]) -> list[Step]:
    """A short way to the goal; empty where none is left.

    Args:
        house: what is true now.
        task: `task_type` and `pddl_params`, as ALFRED's record of a task has them.
    """
    params = {name: f"{value}type".lower() for name, value in task["pddl_params"].items()}
    ways = _WAYS.get(task["task_type"], _treated)(house, task["task_type"], params)
    return min((errand.steps for errand in ways), key=len, default=[])


def _placed(house: House, _: str, params: Mapping[str, str]) -> Iterator[Errand]:
    for thing in house.objects(params["object_target"]):
        yield from _brought(house, (thing,), params)


def _twice(house: House, _: str, params: Mapping[str, str]) -> Iterator[Errand]:
    for pair in permutations(house.objects(params["object_target"]), 2):
        yield from _brought(house, pair, params)


def _brought(house: House, things: Iterable[str], params: Mapping[str, str]) -> Iterator[Errand]:
    """To each receptacle of the wanted type; what lies there already stays."""
    for receptacle in house.receptacles(params["parent_target"]):
        missing = [thing for thing in things if receptacle not in house.places.get(thing, ())]
        if all(receptacle in house.holders(thing) for thing in missing):
            for places in product(*map(house.reach, missing)):
                errand = Errand(house)
                for thing, place in zip(missing, places, strict=True):
                    errand.take(thing, place)
                    errand.put(thing, receptacle)
                yield errand


def _treated(house: House, task_type: str, params: Mapping[str, str]) -> Iterator[Errand]:
    fact, able, action, kind = TREATMENTS[task_type]
    for thing in house.objects(params["object_target"]):
        if house.says(fact, thing):
            yield from _brought(house, (thing,), params)
        elif house.says(able, thing):
            wanted = [each for each in house.receptacles(params["parent_target"]) if each in house.holders(thing)]
            for place, appliance, receptacle in product(house.reach(thing), house.receptacles(kind), wanted):
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
            if not house.says("istoggled", lamp):
                errand.treat("toggleobject", lamp, stand)
            yield errand


_WAYS: Mapping[str, Callable[[House, str, Mapping[str, str]], Iterator[Errand]]] = {
    "pick_and_place_simple": _placed,
    "pick_two_obj_and_place": _twice,
    "look_at_obj_in_light": _lit,
}
"""Task type to its ways; those with a treatment are all alike."""
