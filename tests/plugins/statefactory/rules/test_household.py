"""AlfWorld's sentences, and goals that take the names of what was found."""

from collections.abc import Callable

import pytest

from gde.data.transcript import Transcript
from gde_plugins.statefactory.rules.extractor import RulesExtractor
from gde_plugins.statefactory.rules.household import Wish, notice, wish
from gde_plugins.statefactory.state import Item


@pytest.mark.parametrize(
    ("objective", "wanted"),
    [
        ("put some handtowel on countertop.", Wish("handtowel", place="countertop")),
        (
            "put a clean lettuce in diningtable.",
            Wish("lettuce", place="diningtable", condition="clean"),
        ),
        (
            "clean some lettuce and put it in diningtable.",
            Wish("lettuce", place="diningtable", condition="clean"),
        ),
        (
            "heat some egg and put it in/on the fridge.",
            Wish("egg", place="fridge", condition="hot"),
        ),
        (
            "put a hot tomato in microwave.",
            Wish("tomato", place="microwave", condition="hot"),
        ),
        (
            "find two creditcard and put them in drawer.",
            Wish("creditcard", n=2, place="drawer"),
        ),
        ("put two soapbar in garbagecan.", Wish("soapbar", n=2, place="garbagecan")),
        ("look at newspaper under the desklamp.", Wish("newspaper", lamp="desklamp")),
        ("examine the pillow with the desklamp.", Wish("pillow", lamp="desklamp")),
        ("go home.", None),
    ],
)
def test_objectives_are_wishes(objective: str, wanted: Wish | None) -> None:
    assert wish(objective) == wanted


def test_things_are_where_they_were_last_seen() -> None:
    things: dict[str, dict[str, str]] = {}
    notice(
        things,
        "You arrive at sinkbasin 1. On the sinkbasin 1, you see a tomato 1, and a knife 2.",
    )
    notice(things, "You pick up the tomato 1 from the sinkbasin 1.")
    notice(things, "You heat the tomato 1 using the microwave 1.")
    assert things == {
        "tomato 1": {
            "place": "in the hand",
            "handled": "picked up",
            "condition": "hot",
        },
        "knife 2": {"place": "sinkbasin 1"},
    }
    notice(things, "You move the tomato 1 to the fridge 1.")
    notice(
        things, "You open the drawer 1. The drawer 1 is open. In it, you see a knife 2."
    )
    notice(things, "You turn on the desklamp 1. On the shelf 1, you see nothing.")
    assert things["tomato 1"]["place"] == "fridge 1"
    assert things["knife 2"] == {"place": "drawer 1"}
    assert things["desklamp 1"] == {"light": "on"}


def test_a_goal_in_general_gets_the_names_of_what_was_found(
    episode: Callable[..., Transcript],
) -> None:
    reading = RulesExtractor(4).reading(
        episode(
            "find two creditcard and put them in drawer.",
            "On the shelf 1, you see nothing.",
            "You pick up the creditcard 3 from the sidetable 1.",
            "You move the creditcard 3 to the drawer 1.",
            "You pick up the creditcard 2 from the sofa 1.",
        )
    )
    assert reading.made_by == "rules for household, level 4"
    assert [[item.name for item in goal] for goal in reading.goals] == [
        ["creditcard", "creditcard"],
        ["creditcard 3", "creditcard"],
        ["creditcard 3", "creditcard"],
        ["creditcard 3", "creditcard 2"],
    ]
    assert reading.goals[-1][0] == Item(
        "creditcard 3", {"handled": "picked up", "place": "drawer 1"}
    )
    assert reading.states[0] == []
