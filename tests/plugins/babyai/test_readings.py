"""The same answer in ten styles, read leniently, strictly and as published."""

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
STATES = {
    "as asked": (f"I think.\n{STATE} ((3, 4), 1)", "lenient strict published"),
    "corrected": (f"{STATE} ((1, 1), 0)\nNo.\n{STATE} ((3, 4), 1)", "lenient strict"),
    "thought": (
        f"<think>{STATE} ((1, 1), 0)</think>{STATE} ((3, 4), 1)",
        "lenient",
    ),
    "apostrophe": ("The agent\u2019s final state is: ((3, 4), 1)", "lenient"),
    "dots": ("\u0130" * 10 + f"\n{STATE} ((3, 4), 1)", "lenient strict"),
    "bold": (f"**{STATE}** ((3, 4), 1)", "lenient"),
    "code": (f"{STATE}\n```\n((3, 4), 1)\n```", "lenient"),
    "words": (f"{STATE} x = 3, y = 4, direction 1", "lenient published"),
    "full stop": (f"{STATE} ((3, 4), 1).", "lenient published"),
    "lower case": (f"{STATE.lower()} ((3, 4), 1)", "lenient published"),
}
PLANS = {
    "as asked": (f"{PLAN} left, forward", "lenient strict published"),
    "corrected": (f"{PLAN} right\nNo.\n{PLAN} left, forward", "lenient strict"),
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
                 "lenient strict published"),
    "numbered": ("<START>\n1. (GoNextToSubgoal, (2, 3))\n2. (PickupSubgoal)\n<END>",
                 "lenient"),
    "commas": ("<START>\n(GoNextToSubgoal, (2, 3)),\n(PickupSubgoal),\n<END>",
               "lenient"),
    "empty lines": ("<START>\n\n(GoNextToSubgoal, (2, 3))\n\n(PickupSubgoal)\n<END>",
                    "lenient strict"),
    "corrected": ("<START>\n(DropSubgoal)\n<END>\nNo.\n"
                  "<START>\n(GoNextToSubgoal, (2, 3))\n(PickupSubgoal)\n<END>",
                  "lenient strict"),
    "prose after": ("<START>\n(GoNextToSubgoal, (2, 3))\n(PickupSubgoal)\n<END> So.",
                    "lenient published"),
    "lower case": ("<start>\n(GoNextToSubgoal, (2, 3))\n(PickupSubgoal)\n<end>",
                   "lenient published"),
    "bold": ("**<START>**\n(GoNextToSubgoal, (2, 3))\n(PickupSubgoal)\n**<END>**",
             "lenient"),
    "code": ("<START>\n```\n(GoNextToSubgoal, (2, 3))\n(PickupSubgoal)\n```\n<END>",
             "lenient"),
    "no brackets": ("<START>\nGoNextToSubgoal, (2, 3)\nPickupSubgoal\n<END>",
                    "lenient strict published"),
}  # fmt: skip


@pytest.mark.parametrize("style", STATES)
def test_a_state_is_read_in_its_styles(style: str) -> None:
    answer, wanted = STATES[style]
    right = [way for way in WAYS if read_state(answer, SCENE, way).value == ((3, 4), 1)]
    assert " ".join(right) == wanted


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
    assert read_plan(f"{PLAN} left, jump, forward").reason == "unknown_word"
    assert read_plan(f"{PLAN} left, jump", "published").value == ("left",)
    assert read_plan("I go left, forward.").reason == "no_marker"
    assert read_plan(f"{PLAN} left\nThen I go right, I think.").value == ("left",)
    assert read_state(f"{STATE} unclear", SCENE).reason == "malformed"
