"""TextWorld's games: a thing to be found and taken, or a meal to be cooked by a recipe that can be read."""

import re

from gde.data.trajectory import Trajectory
from gde_plugins.statefactory.rules.given import Rules, Things, Told, listed, seen
from gde_plugins.statefactory.state import Item, Items

HANDS = "your hands"
HUNT = re.compile(
    r"(?:pick[- ]up|lift|recover|retrieve|take|get|find) the (?P<thing>[^.!]+?)"
    r" from the [^.!]+? of the (?P<room>[^.!]+)",
    re.IGNORECASE,
)
COOK = re.compile(r"\bcook\b.*\bmeal\b", re.IGNORECASE)
ROOM = re.compile(r"-= (.+?) =-")
LYING = re.compile(r"There is an? ([^.]+?) on the floor")
TAKEN = re.compile(r"You (?:take|pick up) the ([^.]+?)(?: from the [^.]+)?\.")
LEFT = re.compile(r"You (?:put|drop|insert) the ([^.]+?) (?:on|in|into) the ([^.]+?)\.")
CUT = re.compile(r"You (slice|dice|chop) the ([^.]+?)\.")
HEATED = re.compile(r"You (fried|roasted|grilled) the ([^.]+?)\.")
EATEN = re.compile(r"You eat the ([^.]+?)\.")
MADE = "Adding the meal to your inventory"
RECIPE = re.compile(r"Ingredients:\s*(?P<ingredients>.*?)\s*Directions:\s*(?P<directions>.*)", re.DOTALL)
STEP = re.compile(r"^\s*(slice|dice|chop|fry|roast|grill) the (.+?)\s*$", re.MULTILINE)
DONE = {"slice": "sliced", "dice": "diced", "chop": "chopped", "fry": "fried", "roast": "roasted", "grill": "grilled"}
TOOLS = {"knife", "cookbook"}
"""What lies about in a kitchen and is taken, but is no ingredient."""

MEAL = Item("meal", {"place": HANDS, "eating": "eaten"})
ANY_INGREDIENT = Item(
    "ingredient", {"place": HANDS, "cutting": "sliced diced or chopped", "heating": "fried roasted or grilled"}
)


def recipe(text: str) -> Items:
    """The ingredients that a cookbook asks for, each with what is to be done to it; none where it is not read."""
    found = RECIPE.search(text)
    if not found:
        return []
    names = [line.strip() for line in found["ingredients"].splitlines() if line.strip()]
    steps = STEP.findall(found["directions"])
    return [Item(f"ingredient {name}", {"place": HANDS, **_done(name, steps)}) for name in names]


def _done(name: str, steps: list[tuple[str, str]]) -> dict[str, str]:
    return {_sort(DONE[verb]): DONE[verb] for verb, what in steps if what == name}


def _sort(done: str) -> str:
    return "heating" if done in {"fried", "roasted", "grilled"} else "cutting"


def notice(things: Things, text: str) -> None:
    """Take down what an observation tells."""
    for room in ROOM.findall(text):
        things["you"] = {"room": room.lower()}
    for name in LYING.findall(text):
        things.setdefault(_called(name), {})["place"] = "the floor"
    for name in TAKEN.findall(text):
        things.setdefault(_called(name), {})["place"] = HANDS
    for name, place in LEFT.findall(text):
        things.setdefault(_called(name), {})["place"] = f"the {place}"
    for verb, name in CUT.findall(text):
        things.setdefault(_called(name), {})["cutting"] = DONE[verb]
    for done, name in HEATED.findall(text):
        things.setdefault(_called(name), {})["heating"] = done
    for name in EATEN.findall(text):
        things.setdefault(_called(name), {})["eating"] = "eaten"
    if MADE in text:
        things.setdefault("meal", {})["place"] = HANDS


def _called(name: str) -> str:
    return name if name == "meal" or name in TOOLS else f"ingredient {name}"


def _hunt(trajectory: Trajectory, thing: str, room: str) -> Told:
    goal = [Item(thing, {"place": HANDS}), Item("you", {"room": room.strip().lower()})]
    things: Things = {}
    states = []
    for text in seen(trajectory):
        notice(things, text)
        named = {name.removeprefix("ingredient "): told for name, told in things.items()}
        states.append(listed(named))
    return Told(states, [goal] * len(states))


def _cook(trajectory: Trajectory) -> Told:
    things: Things = {}
    states: list[Items] = []
    goals: list[Items] = []
    wanted: Items = [ANY_INGREDIENT]
    for text in seen(trajectory):
        notice(things, text)
        wanted = recipe(text) or wanted
        states.append(listed(things))
        goals.append([*wanted, MEAL])
    return Told(states, goals)


def _read(trajectory: Trajectory, objective: str) -> Told | None:
    if found := HUNT.search(objective):
        return _hunt(trajectory, found["thing"], found["room"])
    return _cook(trajectory) if COOK.search(objective) else None


RULES = Rules("text games", _read)
