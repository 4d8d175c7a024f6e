"""Writes a household and an aim as a PDDL problem of ALFWorld's domain."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from alfworld.gen.constants import (
    OPENABLE_CLASS_SET,
    VAL_ACTION_OBJECTS,
    VAL_RECEPTACLE_OBJECTS,
)

ALWAYS_OBJECTS = ("Knife", "ButterKnife")
"""Types of objects that the domain's actions name, so that they are declared in every
problem.
"""
ALWAYS_RECEPTACLES = ("SinkBasin", "Microwave", "Fridge")
"""Types of receptacles, likewise."""
TREATMENTS = {
    "cleanable": "Cleanable",
    "heatable": "Heatable",
    "coolable": "Coolable",
    "sliceable": "Sliceable",
}
"""Predicate to ALFWorld's class of objects."""


@dataclass(frozen=True, kw_only=True)
class Aim:
    """The types of ALFWorld that a task is about; empty for none."""

    obj: str
    recep: str = ""
    toggle: str = ""

    def names(self, change: Callable[[str], str] = str) -> Mapping[str, str]:
        """Return the fields of ALFWorld's goal templates."""
        return {
            "obj": change(self.obj),
            "recep": change(self.recep),
            "toggle": change(self.toggle),
            "mrecep": "",
        }

    def as_alfred(self) -> Mapping[str, str | bool]:
        """Return the fields of ALFRED's record of a task."""
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
    """Write the problem; `goal` is ALFWorld's template for the task, which also closes
    the problem.
    """
    stands = _receptacles(household)
    object_types = set(ALWAYS_OBJECTS)
    receptacle_types = {*ALWAYS_RECEPTACLES, *household.receptacles}

    lines = [
        "(define (problem household)",
        "(:domain alfred)",
        "(:objects agent1 - agent",
    ]
    # One location for each receptacle, and one where the agent begins.
    for number in range(len(stands) + 1):
        lines.append(f"loc_bar_{number} - location")
    for name, kind, _ in _objects(household):
        lines.append(f"{name} - object")
        object_types.add(kind)
    for name, _ in stands:
        lines.append(f"{name} - receptacle")
    for kind in sorted(object_types):
        lines.append(f"{kind}Type - otype")
    for kind in sorted(receptacle_types):
        lines.append(f"{kind}Type - rtype")
    lines.append(")")

    lines.append("(:init (atLocation agent1 loc_bar_0)")
    lines += _receptacle_facts(household, stands)
    lines += _object_facts(household, stands)
    lines.append(")")

    # The template has # for the hyphen before a type.
    filled = goal.format(**aim.names())
    lines.append(filled.replace("#", "-"))
    return "\n".join(lines)


def _receptacles(household: Household) -> list[tuple[str, str]]:
    """Name and type. ALFWorld calls a sink basin after the sink that it is part of."""
    named = []
    for number, kind in enumerate(household.receptacles):
        whole = kind.removesuffix("Basin")
        if whole == kind:
            name = f"{kind}_bar_{number}"
        else:
            name = f"{whole}_bar_{number}_bar_{kind}"
        named.append((name, kind))
    return named


def _objects(household: Household) -> Iterator[tuple[str, str, int]]:
    """Name, type and number of the receptacle."""
    for number, (kind, where) in enumerate(household.objects):
        yield f"{kind}_bar_{number}", kind, where


def _receptacle_facts(
    household: Household, stands: Sequence[tuple[str, str]]
) -> Iterator[str]:
    for number, (name, kind) in enumerate(stands, 1):
        yield f"(receptacleType {name} {kind}Type) (receptacleAtLocation {name} loc_bar_{number})"
        if kind in OPENABLE_CLASS_SET:
            yield f"(openable {name})"

    # The types are sorted, so that the same household is always written alike.
    receptacle_types = sorted(set(household.receptacles))
    object_types = sorted({kind for kind, _ in household.objects})
    for receptacle_type in receptacle_types:
        holds = VAL_RECEPTACLE_OBJECTS[receptacle_type]
        for object_type in object_types:
            if object_type in holds:
                yield f"(canContain {receptacle_type}Type {object_type}Type)"


def _object_facts(
    household: Household, stands: Sequence[tuple[str, str]]
) -> Iterator[str]:
    for name, kind, where in _objects(household):
        receptacle, _ = stands[where]
        yield f"(objectType {name} {kind}Type) (inReceptacle {name} {receptacle})"
        yield f"(objectAtLocation {name} loc_bar_{where + 1})"

        # A lamp is switched on where it stands; everything else can be carried.
        if kind in VAL_ACTION_OBJECTS["Toggleable"]:
            yield f"(toggleable {name})"
        else:
            yield f"(pickupable {name})"

        for fact, group in TREATMENTS.items():
            if kind in VAL_ACTION_OBJECTS[group]:
                yield f"({fact} {name})"
