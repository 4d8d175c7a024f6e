"""Writes a household and an aim as a PDDL problem of ALFWorld's domain."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from alfworld.gen.constants import OPENABLE_CLASS_SET, VAL_ACTION_OBJECTS, VAL_RECEPTACLE_OBJECTS

ALWAYS_OBJECTS, ALWAYS_RECEPTACLES = ("Knife", "ButterKnife"), ("SinkBasin", "Microwave", "Fridge")
"""Types that the domain's actions name, there or not."""
TREATMENTS = {"cleanable": "Cleanable", "heatable": "Heatable", "coolable": "Coolable", "sliceable": "Sliceable"}
"""Predicate to ALFWorld's class of objects."""


@dataclass(frozen=True, kw_only=True)
class Aim:
    """What a task is about: types of ALFWorld, empty where it is about none."""

    obj: str
    recep: str = ""
    toggle: str = ""

    def names(self, change: Callable[[str], str] = str) -> Mapping[str, str]:
        """As the templates of ALFWorld's goals want them."""
        return {"obj": change(self.obj), "recep": change(self.recep), "toggle": change(self.toggle), "mrecep": ""}

    def as_alfred(self) -> Mapping[str, str | bool]:
        """As ALFRED's record of a task has them."""
        return {
            "object_target": self.obj,
            "parent_target": self.recep,
            "toggle_target": self.toggle,
            "mrecep_target": "",
            "object_sliced": False,
        }


@dataclass(frozen=True, kw_only=True)
class Household:
    """A room."""

    receptacles: tuple[str, ...]
    """The type of each; every one has a location of its own."""
    objects: tuple[tuple[str, int], ...]
    """The type of each, and the number of the receptacle where it lies."""


def problem_text(household: Household, goal: str, aim: Aim) -> str:
    """Write the problem; `goal` is ALFWorld's template for the task, which also closes the problem."""
    things = [*_objects(household)]
    stands = [*_receptacles(household)]
    object_types = {*ALWAYS_OBJECTS, *(kind for _, kind, _ in things)}
    receptacle_types = {*ALWAYS_RECEPTACLES, *household.receptacles}

    lines = [
        "(define (problem household)",
        "(:domain alfred)",
        "(:objects agent1 - agent",
    ]
    lines += [f"loc_bar_{number} - location" for number in range(len(stands) + 1)]
    lines += [f"{name} - object" for name, _, _ in things]
    lines += [f"{name} - receptacle" for name, _ in stands]
    lines += [f"{each}Type - otype" for each in sorted(object_types)]
    lines += [f"{each}Type - rtype" for each in sorted(receptacle_types)]
    lines += [")", "(:init (atLocation agent1 loc_bar_0)", *_facts(household), ")"]
    # The template has # for the hyphen before a type.
    lines.append(goal.format(**aim.names()).replace("#", "-"))
    return "\n".join(lines)


def _receptacles(household: Household) -> Iterator[tuple[str, str]]:
    """Name and type. ALFWorld calls a sink basin after the sink that it is part of."""
    for number, kind in enumerate(household.receptacles):
        whole = kind.removesuffix("Basin")
        yield (f"{kind}_bar_{number}" if whole == kind else f"{whole}_bar_{number}_bar_{kind}"), kind


def _objects(household: Household) -> Iterator[tuple[str, str, int]]:
    """Name, type and number of the receptacle."""
    for number, (kind, where) in enumerate(household.objects):
        yield f"{kind}_bar_{number}", kind, where


def _facts(household: Household) -> Iterator[str]:
    stands = [*_receptacles(household)]
    kinds = sorted({kind for kind, _ in household.objects})
    for number, (name, kind) in enumerate(stands, 1):
        yield f"(receptacleType {name} {kind}Type) (receptacleAtLocation {name} loc_bar_{number})"
        if kind in OPENABLE_CLASS_SET:
            yield f"(openable {name})"
    for kind in sorted({*household.receptacles}):
        for each in kinds:
            if each in VAL_RECEPTACLE_OBJECTS[kind]:
                yield f"(canContain {kind}Type {each}Type)"
    for name, kind, where in _objects(household):
        yield f"(objectType {name} {kind}Type) (inReceptacle {name} {stands[where][0]})"
        yield f"(objectAtLocation {name} loc_bar_{where + 1})"
        yield f"(toggleable {name})" if kind in VAL_ACTION_OBJECTS["Toggleable"] else f"(pickupable {name})"
        for fact, group in TREATMENTS.items():
            if kind in VAL_ACTION_OBJECTS[group]:
                yield f"({fact} {name})"
