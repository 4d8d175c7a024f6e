"""The same answer in ten styles, read leniently and as published."""

from collections import Counter

import pytest

from gde_plugins.babyai.tasks.parsing import (
    WAYS,
    read_plan,
    read_state,
    read_subgoals,
)
from gde_plugins.babyai.worlds.generation import make_scene

STATE = "The agent's final state is:"
PLAN = "The LLM's action sequence is:"
SCENE = make_scene("GoToObj", 2, "3.0")


def states(x: int, y: int, direction: int) -> dict[str, tuple[str, str]]:
    """An answer in ten styles, with the ways that read it rightly."""
    state = f"(({x}, {y}), {direction})"
    words = f"x = {x}, y = {y}, direction {direction}"
    thought = f"<think>{STATE} ((0, 0), 0)</think>{STATE} {state}"
    return {
        "as asked": (f"I think.\n{STATE} {state}", "lenient published"),
        "corrected": (f"{STATE} ((0, 0), 0)\nNo.\n{STATE} {state}", "lenient"),
        "thought": (thought, "lenient"),
        "apostrophe": (f"The agent\u2019s final state is: {state}", "lenient"),
        "dots": ("\u0130" * 10 + f"\n{STATE} {state}", "lenient"),
        "bold": (f"**{STATE}** {state}", "lenient"),
        "code": (f"{STATE}\n```\n{state}\n```", "lenient"),
        "words": (f"{STATE} {words}", "lenient published"),
        "full stop": (f"{STATE} {state}.", "lenient published"),
        "lower case": (f"{STATE.lower()} {state}", "lenient published"),
    }


STYLES = [*states(3, 4, 1)]
PLANS = {
    "as asked": (f"{PLAN} left, forward", "lenient published"),
    "corrected": (f"{PLAN} right\nNo.\n{PLAN} left, forward", "lenient"),
    "comma at the end": (f"{PLAN} left, forward,", "lenient published"),
    "one a line": (f"{PLAN}\nleft\nforward", "lenient"),
    "commas and lines": (f"{PLAN} left,\nforward", "lenient published"),
    "numbered": (f"{PLAN}\n1. left\n2. forward", "lenient"),
    "bullets": (f"{PLAN}\n- left\n- forward\n\nThat is all.", "lenient"),
    "code": (f"{PLAN}\n```text\nleft, forward\n```", "lenient"),
    "brackets": (f"{PLAN} [left, forward]", "lenient"),
    "bold": (f"**{PLAN}** `left`, `forward`", "lenient"),
}
LISTS = {
    "as asked": ("<START>\n(GoNextToSubgoal, (2, 3))\n(PickupSubgoal)\n<END>",
                 "lenient published"),
    "numbered": ("<START>\n1. (GoNextToSubgoal, (2, 3))\n2. (PickupSubgoal)\n<END>",
                 "lenient"),
    "commas": ("<START>\n(GoNextToSubgoal, (2, 3)),\n(PickupSubgoal),\n<END>",
               "lenient"),
    "empty lines": ("<START>\n\n(GoNextToSubgoal, (2, 3))\n\n(PickupSubgoal)\n<END>",
                    "lenient"),
    "corrected": ("<START>\n(DropSubgoal)\n<END>\nNo.\n"
                  "<START>\n(GoNextToSubgoal, (2, 3))\n(PickupSubgoal)\n<END>",
                  "lenient"),
    "prose after": ("<START>\n(GoNextToSubgoal, (2, 3))\n(PickupSubgoal)\n<END> So.",
                    "lenient published"),
    "lower case": ("<start>\n(GoNextToSubgoal, (2, 3))\n(PickupSubgoal)\n<end>",
                   "lenient published"),
    "bold": ("**<START>**\n(GoNextToSubgoal, (2, 3))\n(PickupSubgoal)\n**<END>**",
             "lenient"),
    "code": ("<START>\n```\n(GoNextToSubgoal, (2, 3))\n(PickupSubgoal)\n```\n<END>",
             "lenient"),
    "no brackets": ("<START>\nGoNextToSubgoal, (2, 3)\nPickupSubgoal\n<END>",
                    "lenient published"),
}  # fmt: skip


@pytest.mark.parametrize("style", STYLES)
def test_a_state_is_read_in_its_styles(style: str) -> None:
    answer, wanted = states(3, 4, 1)[style]
    right = [way for way in WAYS if read_state(answer, SCENE, way).value == ((3, 4), 1)]
    assert " ".join(right) == wanted


def test_500_answers_are_read_as_the_documentation_says() -> None:
    right: Counter[str] = Counter()
    dropped: Counter[str] = Counter()
    for number in range(50):
        x, y, direction = 1 + number % 6, 1 + number // 10, number % 4
        for answer, _ in states(x, y, direction).values():
            for way in WAYS:
                found = read_state(answer, SCENE, way).value
                right[way] += found == ((x, y), direction)
                dropped[way] += found is None
    assert right == {"lenient": 500, "published": 200}
    assert dropped == {"lenient": 0, "published": 200}


@pytest.mark.parametrize("style", PLANS)
def test_a_plan_is_read_in_its_styles(style: str) -> None:
    answer, wanted = PLANS[style]
    right = [way for way in WAYS if read_plan(answer, way).value == ("left", "forward")]
    assert " ".join(right) == wanted


@pytest.mark.parametrize("style", LISTS)
def test_a_list_of_subgoals_is_read_in_its_styles(style: str) -> None:
    answer, wanted = LISTS[style]
    right = []
    for way in WAYS:
        found = read_subgoals(answer, SCENE, way).value or ()
        if [each.name for each in found] == ["GoNextTo", "Pickup"]:
            right.append(way)
    assert " ".join(right) == wanted


def test_nothing_is_guessed() -> None:
    assert read_plan(f"{PLAN} left, jump, forward").reason == "unread"
    assert read_plan(f"{PLAN} left, jump", "published").value == ("left",)
    assert read_plan("I could go left, forward.").reason == "unread"
    assert read_plan(f"{PLAN} left\nThen I go right, I think.").value == ("left",)
    assert read_state(f"{STATE} unclear", SCENE).reason == "unread"
