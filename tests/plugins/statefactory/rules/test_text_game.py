"""TextWorld's sentences: hunts, meals, and recipes that are goals from when they were
read.
"""

from collections.abc import Callable

from gde.data.transcript import Transcript
from gde_plugins.statefactory.rules.extractor import RulesExtractor
from gde_plugins.statefactory.rules.text_game import (
    ANY_INGREDIENT,
    HANDS,
    MEAL,
    notice,
    recipe,
)
from gde_plugins.statefactory.state import Item

BOOK = """You open the copy of "Cooking" and start reading:

Recipe #1
---------
Ingredients:
  pork chop
  block of cheese

Directions:
  chop the pork chop
  fry the pork chop
  prepare meal
"""


def test_recipes_are_ingredients_with_what_is_to_be_done() -> None:
    assert recipe(BOOK) == [
        Item(
            "ingredient pork chop",
            {"place": HANDS, "cutting": "chopped", "heating": "fried"},
        ),
        Item("ingredient block of cheese", {"place": HANDS}),
    ]
    assert recipe("You see a cookbook.") == []


def test_a_meal_is_asked_for_in_general_until_the_recipe_is_read(
    episode: Callable[..., Transcript],
) -> None:
    reading = RulesExtractor(4).reading(
        episode("Let's cook a delicious meal.", "-= Kitchen =-", BOOK, "You wait.")
    )
    assert reading.goals == [
        [ANY_INGREDIENT, MEAL],
        [*recipe(BOOK), MEAL],
        [*recipe(BOOK), MEAL],
    ]
    assert reading.states[0] == [Item("you", {"room": "kitchen"})]


def test_what_is_done_to_food_is_kept() -> None:
    things: dict[str, dict[str, str]] = {}
    for text in (
        "You take the knife from the table.",
        "You take the red apple from the counter.",
        "You fried the red apple.",
        "You slice the red apple.",
        "Adding the meal to your inventory.",
        "You eat the meal. Not bad.",
    ):
        notice(things, text)
    assert things == {
        "knife": {"place": HANDS},
        "ingredient red apple": {
            "place": HANDS,
            "heating": "fried",
            "cutting": "sliced",
        },
        "meal": {"place": HANDS, "eating": "eaten"},
    }


def test_a_hunt_is_for_a_thing_in_a_room(episode: Callable[..., Transcript]) -> None:
    objective = "Hey, thanks for coming! Please pick-up the stick of butter from the floor of the garage."
    seen = (
        "-= Garage =-\nThere is a stick of butter on the floor.",
        "You pick up the stick of butter from the ground.",
    )
    reading = RulesExtractor(4).reading(episode(objective, *seen))
    assert reading.goals[0] == [
        Item("stick of butter", {"place": HANDS}),
        Item("you", {"room": "garage"}),
    ]
    assert reading.states[0] == [
        Item("you", {"room": "garage"}),
        Item("stick of butter", {"place": "the floor"}),
    ]
    assert reading.states[1][1] == Item("stick of butter", {"place": HANDS})
