"""Generated household games: a room, its receptacles and objects, and one task.

Which receptacle may hold what, and what can be cleaned, heated or cooled, is ALFWorld's
own table; so are the domain, the grammar and the form of the goals. A made game is a
folder like one of the official ones.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from alfworld.gen.constants import VAL_ACTION_OBJECTS, VAL_RECEPTACLE_OBJECTS
from alfworld.gen.goal_library import gdict
from alfworld.info import ALFRED_PDDL_PATH, ALFRED_TWL2_PATH

from gde.seeding import generator
from gde_plugins.text_worlds.alfworld.problem import Aim, Household, problem_text

ROOMS = {
    "kitchen": "CounterTop CounterTop Cabinet Cabinet Fridge Microwave SinkBasin StoveBurner DiningTable Drawer "
    "GarbageCan",
    "bathroom": "SinkBasin CounterTop Toilet BathtubBasin Cabinet Shelf Drawer GarbageCan",
    "bedroom": "Bed Desk SideTable Dresser Shelf Drawer Drawer GarbageCan",
    "living room": "Sofa ArmChair CoffeeTable SideTable DiningTable Shelf Drawer GarbageCan",
}
"""The receptacles of each room."""
MORE = ("Cabinet", "Drawer", "Shelf", "SideTable", "CounterTop")
"""Receptacles that a room may have several of."""
THINGS = {
    "kitchen": "Apple Bowl Bread ButterKnife Cup DishSponge Egg Fork Knife Ladle Lettuce Mug Pan PepperShaker Plate "
    "Pot Potato SaltShaker Spatula Spoon Tomato WineBottle",
    "bathroom": "Candle Cloth DishSponge HandTowel SoapBar SoapBottle SprayBottle TissueBox ToiletPaper",
    "bedroom": "AlarmClock Book CD CellPhone CreditCard KeyChain Laptop Pen Pencil Pillow Watch",
    "living room": "Book CreditCard KeyChain Laptop Newspaper Pillow RemoteControl Statue TissueBox Vase Watch "
    "WateringCan",
}
"""The objects of each room."""
LIT_ROOMS = ("bedroom", "living room")
LIGHT = "DeskLamp"
LIGHT_STANDS = ("Desk", "SideTable", "Dresser", "CoffeeTable")
TREATED = {
    "pick_clean_then_place_in_recep": ("Cleanable", ("kitchen", "bathroom")),
    "pick_heat_then_place_in_recep": ("Heatable", ("kitchen",)),
    "pick_cool_then_place_in_recep": ("Coolable", ("kitchen",)),
}
"""Task type to the required property of its object, and the rooms of such tasks."""
LIT = "look_at_obj_in_light"
TWICE = "pick_two_obj_and_place"
SIMPLE = "pick_and_place_simple"
TYPES = (SIMPLE, LIT, *TREATED, TWICE)


def made_game(folder: Path, game: Mapping[str, Any]) -> Path:
    """Write the game of a seed, with the files that ALFWorld's experts need beside it.

    Args:
        folder: where games are kept.
        game: `seed`, and the settings `task_type`, `receptacles` and `objects` of
            `AlfworldConfig`.
    """
    # All draws come from one generator, so their order must not change.
    rng = generator(game["seed"], "household")
    task_type = game["task_type"] or str(rng.choice(TYPES))
    household, aim = _furnished(rng, task_type, game["receptacles"], game["objects"])
    goal = gdict[task_type]
    template = str(rng.choice(goal["templates"]))
    wording = template.format(**aim.names(str.lower))

    grammar = Path(ALFRED_TWL2_PATH).read_text(encoding="utf-8")
    record = {"task_type": task_type, "pddl_params": aim.as_alfred()}
    content = {
        "pddl_domain": Path(ALFRED_PDDL_PATH).read_text(encoding="utf-8"),
        "grammar": grammar.replace("UNKNOWN GOAL", wording),
        "pddl_problem": problem_text(household, goal["pddl"], aim),
        "solvable": True,
    }

    place = (
        folder / f"{task_type}-{game['seed']}-{game['receptacles']}-{game['objects']}"
    )
    place.mkdir(parents=True, exist_ok=True)
    (place / "traj_data.json").write_text(json.dumps(record), encoding="utf-8")
    (place / "game.tw-pddl").write_text(json.dumps(content), encoding="utf-8")
    return place / "game.tw-pddl"


def _furnished(
    rng: np.random.Generator, task_type: str, receptacles: int, objects: int
) -> tuple[Household, Aim]:
    """Draw a room in which the task is possible and not done yet."""
    action, rooms = TREATED.get(task_type, ("", tuple(ROOMS)))
    if task_type == LIT:
        rooms = LIT_ROOMS

    room = str(rng.choice(rooms))
    stands = ROOMS[room].split()
    n_more = max(0, receptacles - len(stands))
    for stand in rng.choice(MORE, n_more):
        stands.append(str(stand))

    things = THINGS[room].split()
    fit = things
    if action:
        fit = [thing for thing in things if thing in VAL_ACTION_OBJECTS[action]]
    if task_type == LIT:
        aim = Aim(obj=str(rng.choice(fit)), toggle=LIGHT)
    else:
        aim = _placing_aim(rng, fit, stands)

    # The objects of the task come first, then others, then the lamp.
    contents = [aim.obj]
    if task_type == TWICE:
        contents.append(aim.obj)
    for thing in rng.choice(things, objects):
        contents.append(str(thing))
    if task_type == LIT:
        contents.append(LIGHT)

    placed = []
    for thing in contents:
        # The task would be done from the start if its object lay at its goal.
        goal = aim.recep if thing == aim.obj else ""
        free = _holders(thing, stands, but=goal)
        if free:
            placed.append((thing, free[rng.integers(len(free))]))
    return Household(receptacles=tuple(stands), objects=tuple(placed)), aim


def _placing_aim(
    rng: np.random.Generator, things: Sequence[str], stands: Sequence[str]
) -> Aim:
    """Draw an object and a type of receptacle to bring it to."""
    aims = []
    for thing in things:
        for stand in sorted(set(stands)):
            # The object must be somewhere else before.
            if _holders(thing, [stand]) and _holders(thing, stands, but=stand):
                aims.append(Aim(obj=thing, recep=stand))
    return aims[rng.integers(len(aims))]


def _holders(thing: str, stands: Sequence[str], but: str = "") -> list[int]:
    """Return the receptacles that may hold a thing, by number, except those of a type."""
    found = []
    for number, stand in enumerate(stands):
        if thing == LIGHT:
            may_hold = stand in LIGHT_STANDS
        else:
            may_hold = thing in VAL_RECEPTACLE_OBJECTS[stand]
        if may_hold and stand != but:
            found.append(number)
    return found
