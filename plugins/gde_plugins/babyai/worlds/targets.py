"""Counterfactual missions: the other things that a level might have named."""

from collections.abc import Mapping
from dataclasses import replace

from gde.data.goals import Goals
from gde.errors import GdeError
from gde_plugins.babyai.worlds.mission import Description, GoTo, Pickup
from gde_plugins.babyai.worlds.scene import NOTHING, Scene

FAMILIES = ("GoToLocal", "GoToObj")
"""Levels with these beginnings draw one of the things of their rooms last, uniformly,
and name it.
"""
LEVELS = ("GoTo", "GoToOpen", "Pickup", "UnblockPickup")
"""So do these."""
EXCEPT = ("GoToObjDoor",)
"""This one may name a door instead."""


def targets(scene: Scene) -> Goals:
    """The things that the mission could have named in the same rooms, e.g. "red ball".

    Things that look alike are one target, as likely as there are such things.

    Raises:
        GdeError: the level does not draw the target alone.
    """
    level = scene.level
    is_known = level in LEVELS or level.startswith(FAMILIES)
    mission = scene.mission
    if not is_known or level in EXCEPT or not isinstance(mission, GoTo | Pickup):
        raise GdeError(
            f"level {level} does not draw its target alone, after all else: use e.g. GoToLocal, GoTo or Pickup"
        )
    present = f"{mission.thing.color} {mission.thing.kind}"
    return Goals.weighted(_counts(scene), present)


def with_target(scene: Scene, target: str) -> Scene:
    """The same rooms with a mission that names another of the `targets`.

    Raises:
        ValueError: it is none of them.
    """
    counts = _counts(scene)
    if target not in counts:
        raise ValueError(f"wanted one of the goals {', '.join(counts)}, got {target!r}")
    mission = scene.mission
    assert isinstance(mission, GoTo | Pickup)
    # The mission takes its things to be where they are at first, and looks for no
    # others. minigrid lists them column by column.
    known = [NOTHING] * len(scene.things)
    matching = []
    for cell in sorted(range(len(scene.cells)), key=scene.place):
        content = scene.cells[cell]
        if content >= 0 and str(scene.things[content]) == target:
            known[content] = cell
            matching.append(content)
    color, kind = target.split()
    thing = Description(kind, color, "", tuple(matching))

    article = "a" if len(matching) > 1 else "the"
    verb = "go to" if isinstance(mission, GoTo) else "pick up"
    return replace(
        scene,
        mission=replace(mission, thing=thing),
        text=f"{verb} {article} {target}",
        known=tuple(known),
    )


def _counts(scene: Scene) -> Mapping[str, int]:
    """The number of things of each description, in the order of the scene."""
    counts: dict[str, int] = {}
    for thing in scene.things:
        if thing.kind != "door":
            counts[str(thing)] = counts.get(str(thing), 0) + 1
    return counts
