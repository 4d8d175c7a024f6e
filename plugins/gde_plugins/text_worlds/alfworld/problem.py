"""Writes a household and a goal as a PDDL problem of ALFWorld's domain."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from alfworld.gen.constants import (
    OPENABLE_CLASS_SET,
    VAL_ACTION_OBJECTS,
    VAL_RECEPTACLE_OBJECTS,
)

ALWAYS_OBJECTS = ("Knife", "ButterKnife")
"""Types of objects in the domain's actions, declared in every problem."""
ALWAYS_RECEPTACLES = ("SinkBasin", "Microwave", "Fridge")
"""Types of receptacles in the domain's actions, declared in every problem."""
TREATMENTS = {
    "cleanable": "Cleanable",
    "heatable": "Heatable",
    "coolable": "Coolable",
    "sliceable": "Sliceable",
}
"""Predicate to ALFWorld's class of objects."""


@dataclass(frozen=True, kw_only=True)
class Aim:
    """The ALFWorld types of a task; empty for none."""

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
    """Type of each receptacle; every one has its own location."""
    objects: tuple[tuple[str, int], ...]
    """Type of each object, and the number of its receptacle."""


def problem_text(household: Household, goal: str, aim: Aim) -> str:
    """Write the problem.

    `goal` is ALFWorld's template for the task, which also closes the problem.
    """
    stands = []
    for number, kind in enumerate(household.receptacles):
        # ALFWorld calls a sink basin after the sink that it is part of.
        whole = kind.removesuffix("Basin")
        part = "" if whole == kind else f"_bar_{kind}"
        stands.append(f"{whole}_bar_{number}{part}")
    names = []
    for number, (kind, _) in enumerate(household.objects):
        names.append(f"{kind}_bar_{number}")

    # The types are sorted, so that the same household is always written alike.
    lines = [
        "(define (problem household)",
        "(:domain alfred)",
        "(:objects agent1 - agent",
    ]
    # One location for each receptacle, and one where the agent begins.
    lines += [f"loc_bar_{number} - location" for number in range(len(stands) + 1)]
    lines += [f"{name} - object" for name in names]
    lines += [f"{name} - receptacle" for name in stands]
    object_types = {kind for kind, _ in household.objects}
    for kind in sorted(object_types.union(ALWAYS_OBJECTS)):
        lines.append(f"{kind}Type - otype")
    for kind in sorted({*ALWAYS_RECEPTACLES, *household.receptacles}):
        lines.append(f"{kind}Type - rtype")
    lines.append(")")

    lines.append("(:init (atLocation agent1 loc_bar_0)")
    for number, (name, kind) in enumerate(
        zip(stands, household.receptacles, strict=True), 1
    ):
        lines.append(
            f"(receptacleType {name} {kind}Type) (receptacleAtLocation {name} loc_bar_{number})"
        )
        if kind in OPENABLE_CLASS_SET:
            lines.append(f"(openable {name})")
    lines += _holding_facts(household)
    for name, (kind, where) in zip(names, household.objects, strict=True):
        lines += _object_facts(name, kind, where, stands[where])
    lines.append(")")

    # The template has # for the hyphen before a type.
    filled = goal.format(**aim.names())
    lines.append(filled.replace("#", "-"))
    return "\n".join(lines)


def _holding_facts(household: Household) -> Iterator[str]:
    object_types = sorted({kind for kind, _ in household.objects})
    for receptacle_type in sorted(set(household.receptacles)):
        for kind in object_types:
            if kind in VAL_RECEPTACLE_OBJECTS[receptacle_type]:
                yield f"(canContain {receptacle_type}Type {kind}Type)"


def _object_facts(name: str, kind: str, where: int, receptacle: str) -> Iterator[str]:
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
