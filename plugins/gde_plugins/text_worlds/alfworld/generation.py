"""Household games of this project: a room, its receptacles and objects, and one task that can be done there.

Which receptacle may hold what, and what can be cleaned, heated or cooled, is ALFWorld's own table; so are the domain,
the grammar and the form of the goals. A made game is a folder like one of the official ones.
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
"""What stands in each."""
MORE = ("Cabinet", "Drawer", "Shelf", "SideTable", "CounterTop")
"""What there may be more of."""
THINGS = {
    "kitchen": "Apple Bowl Bread ButterKnife Cup DishSponge Egg Fork Knife Ladle Lettuce Mug Pan PepperShaker Plate "
    "Pot Potato SaltShaker Spatula Spoon Tomato WineBottle",
    "bathroom": "Candle Cloth DishSponge HandTowel SoapBar SoapBottle SprayBottle TissueBox ToiletPaper",
    "bedroom": "AlarmClock Book CD CellPhone CreditCard KeyChain Laptop Pen Pencil Pillow Watch",
    "living room": "Book CreditCard KeyChain Laptop Newspaper Pillow RemoteControl Statue TissueBox Vase Watch "
    "WateringCan",
}
"""What lies about in each."""
LIT_ROOMS = ("bedroom", "living room")
LIGHT, LIGHT_STANDS = "DeskLamp", ("Desk", "SideTable", "Dresser", "CoffeeTable")
TREATED = {
    "pick_clean_then_place_in_recep": ("Cleanable", ("kitchen", "bathroom")),
    "pick_heat_then_place_in_recep": ("Heatable", ("kitchen",)),
    "pick_cool_then_place_in_recep": ("Coolable", ("kitchen",)),
}
"""Task type to what its object must be, and the rooms where that can be done."""
LIT, TWICE, SIMPLE = "look_at_obj_in_light", "pick_two_obj_and_place", "pick_and_place_simple"
TYPES = (SIMPLE, LIT, *TREATED, TWICE)


def made_game(folder: Path, game: Mapping[str, Any]) -> Path:
    """The game file of a seed, written with what ALFWorld's experts want beside it.

    Args:
        folder: where games are kept.
        game: `seed`, and the settings `task_type`, `receptacles` and `objects` of `AlfworldConfig`.
    """
    rng = generator(game["seed"], "household")
    task_type = game["task_type"] or str(rng.choice(TYPES))
    household, params = _furnished(rng, task_type, game["receptacles"], game["objects"])
    place = folder / f"{task_type}-{game['seed']}-{game['receptacles']}-{game['objects']}"
    place.mkdir(parents=True, exist_ok=True)
    wording = str(rng.choice(gdict[task_type]["templates"])).format(**params.names(str.lower))
    written = {
        "traj_data.json": {"task_type": task_type, "pddl_params": params.as_alfred()},
        "game.tw-pddl": {
            "pddl_domain": Path(ALFRED_PDDL_PATH).read_text(encoding="utf-8"),
            "grammar": Path(ALFRED_TWL2_PATH).read_text(encoding="utf-8").replace("UNKNOWN GOAL", wording),
            "pddl_problem": problem_text(household, gdict[task_type]["pddl"], params),
            "solvable": True,
        },
    }
    for name, content in written.items():
        (place / name).write_text(json.dumps(content), encoding="utf-8")
    return place / "game.tw-pddl"


def _furnished(rng: np.random.Generator, task_type: str, receptacles: int, objects: int) -> tuple[Household, Aim]:
    """A room in which the task can be done, and is not done yet."""
    action, rooms = TREATED.get(task_type, ("", LIT_ROOMS if task_type == LIT else tuple(ROOMS)))
    room = str(rng.choice(rooms))
    stands = ROOMS[room].split()
    stands += [str(each) for each in rng.choice(MORE, max(0, receptacles - len(stands)))]
    things = THINGS[room].split()
    fit = [each for each in things if not action or each in VAL_ACTION_OBJECTS[action]]
    if task_type == LIT:
        aim = Aim(obj=str(rng.choice(fit)), toggle=LIGHT)
    else:
        pairs = [(thing, stand) for thing in fit for stand in sorted({*stands}) if _placeable(thing, stand, stands)]
        aim = Aim(**dict(zip(("obj", "recep"), pairs[rng.integers(len(pairs))], strict=True)))
    wanted = [aim.obj] * (2 if task_type == TWICE else 1)
    others = [str(each) for each in rng.choice(things, objects)]
    lamp = [LIGHT] if task_type == LIT else []
    places = [(thing, _place(rng, thing, stands, aim)) for thing in (*wanted, *others, *lamp)]
    placed = tuple((thing, place) for thing, place in places if place is not None)
    return Household(receptacles=tuple(stands), objects=placed), aim


def _placeable(thing: str, stand: str, stands: Sequence[str]) -> bool:
    """Whether a thing may be put there, and be somewhere else before."""
    elsewhere = [each for each in stands if each != stand and thing in VAL_RECEPTACLE_OBJECTS[each]]
    return thing in VAL_RECEPTACLE_OBJECTS[stand] and bool(elsewhere)


def _place(rng: np.random.Generator, thing: str, stands: Sequence[str], aim: Aim) -> int | None:
    """Number of a receptacle that may hold a thing; never where the task wants it. None where no place is left."""
    free = [
        number
        for number, stand in enumerate(stands)
        if (stand in LIGHT_STANDS if thing == LIGHT else thing in VAL_RECEPTACLE_OBJECTS[stand])
        and not (thing == aim.obj and stand == aim.recep)
    ]
    return free[rng.integers(len(free))] if free else None
