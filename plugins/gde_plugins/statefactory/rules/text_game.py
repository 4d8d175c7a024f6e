"""TextWorld's games: find and take a thing, or cook a meal by the recipe of a
cookbook.
"""

import re

from gde.data.transcript import Transcript
from gde_plugins.statefactory.rules.worlds import Given, Rules, Things, listed, seen
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
RECIPE = re.compile(
    r"Ingredients:\s*(?P<ingredients>.*?)\s*Directions:\s*(?P<directions>.*)", re.DOTALL
)
STEP = re.compile(r"^\s*(slice|dice|chop|fry|roast|grill) the (.+?)\s*$", re.MULTILINE)
DONE = {
    "slice": "sliced",
    "dice": "diced",
    "chop": "chopped",
    "fry": "fried",
    "roast": "roasted",
    "grill": "grilled",
}
PREPARATION = {
    **dict.fromkeys(("slice", "dice", "chop"), "cutting"),
    **dict.fromkeys(("fry", "roast", "grill"), "heating"),
}
"""Verb to the attribute that it sets."""
TOOLS = {"knife", "cookbook"}
"""Things of a kitchen that can be taken but are no ingredients."""

MEAL = Item("meal", {"place": HANDS, "eating": "eaten"})
ANY_INGREDIENT = Item(
    "ingredient",
    {
        "place": HANDS,
        "cutting": "sliced diced or chopped",
        "heating": "fried roasted or grilled",
    },
)


def recipe(text: str) -> Items:
    """The ingredients of a cookbook's recipe, each with its preparation; none in other
    texts.
    """
    found = RECIPE.search(text)
    if not found:
        return []
    steps = STEP.findall(found["directions"])
    items: list[Item] = []
    for line in found["ingredients"].splitlines():
        name = line.strip()
        if not name:
            continue
        attributes = {"place": HANDS}
        for verb, ingredient in steps:
            if ingredient == name:
                attributes[PREPARATION[verb]] = DONE[verb]
        items.append(Item(f"ingredient {name}", attributes))
    return items


def notice(things: Things, text: str) -> None:
    """Add what an observation says."""
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


def _hunt(transcript: Transcript, thing: str, room: str) -> Given:
    goal = [Item(thing, {"place": HANDS}), Item("you", {"room": room.strip().lower()})]
    things: Things = {}
    states: list[Items] = []
    for text in seen(transcript):
        notice(things, text)
        # Outside a kitchen nothing is an ingredient.
        states.append(
            listed(
                {name.removeprefix("ingredient "): of for name, of in things.items()}
            )
        )
    return Given(states, [goal] * len(states))


def _cook(transcript: Transcript) -> Given:
    things: Things = {}
    states: list[Items] = []
    goals: list[Items] = []
    wanted: Items = [ANY_INGREDIENT]
    for text in seen(transcript):
        notice(things, text)
        wanted = recipe(text) or wanted  # a recipe that was read once stays known
        states.append(listed(things))
        goals.append([*wanted, MEAL])
    return Given(states, goals)


def _read(transcript: Transcript, objective: str) -> Given | None:
    if found := HUNT.search(objective):
        return _hunt(transcript, found["thing"], found["room"])
    return _cook(transcript) if COOK.search(objective) else None


RULES = Rules("text games", _read)
