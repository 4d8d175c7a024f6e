"""Baselines that do not read the world: their scores, and leads over the best one."""

from typing import Any

import pytest
from asking import episode, measured

from gde_plugins.babyai.agents.blind import BlindAnswerer
from gde_plugins.babyai.agents.scripted import ScriptedAnswerer
from gde_plugins.babyai.config import BlindConfig
from gde_plugins.babyai.oracle.least_subgoals import least_subgoals
from gde_plugins.babyai.tasks.decompose import Decompose
from gde_plugins.babyai.tasks.question import scores_of
from gde_plugins.babyai.worlds.generation import make_scene
from gde_plugins.babyai.worlds.simulation import Simulation

HOW = {
    "predict": ("counter", "copy", "commonest"),
    "plan": ("counter", "random_walk", "commonest"),
    "decompose": ("list_all", "translate", "copy", "commonest"),
}
LEVEL = {
    "predict": "GoToLocal",
    "plan": "CustomBabyAI-GoToRedBall-Small-4Dists",
    "decompose": "PickupLoc",
}
RATE = {
    "predict": "predict.success",
    "plan": "plan.success",
    "decompose": "decompose.comprehension",
}


@pytest.mark.parametrize("task", HOW)
def test_each_baseline_has_the_rate_of_its_agent(task: str) -> None:
    for how in HOW[task]:
        agent = BlindAnswerer(BlindConfig(how=how))  # type: ignore[arg-type]
        found = measured(task, [episode(task, LEVEL[task], n, agent) for n in range(6)])
        rate = found[RATE[task]]
        assert found[f"{RATE[task]}.blind.{how}"].value == rate.value
        assert found[f"{task}.unusable"].value == 0
        lead = found[f"{RATE[task]}.above_blind"]
        rivals = [found[f"{RATE[task]}.blind.{name}"].value or 0 for name in HOW[task]]
        assert lead.value == pytest.approx((rate.value or 0) - max(rivals))
        assert lead.verdict is not None


def test_counting_turns_and_steps_answers_every_published_predict_question() -> None:
    agent = BlindAnswerer(BlindConfig())
    for level in ("GoToObj", "UnblockPickup", "BossLevel"):
        found = measured(
            "predict", [episode("predict", level, n, agent) for n in (1, 2)]
        )
        assert found["predict.success"].value == 1


def test_a_lead_over_the_best_baseline_is_tested_in_the_same_worlds() -> None:
    agent = ScriptedAnswerer()
    found = measured(
        "plan", [episode("plan", LEVEL["plan"], n, agent) for n in range(30)]
    )
    lead = found["plan.success.above_blind"].verdict
    assert lead is not None
    assert (lead.control, lead.outcome, lead.worlds) == ("counter", "better", 30)
    assert lead.interval is not None
    assert lead.interval[0] > 0


def test_the_length_of_a_list_is_charged() -> None:
    question = Decompose(make_scene("PickupLoc", 2, "3.0"))
    solution: Any = question.solution
    longer = solution.replace("<START>\n", "<START>\n(DropSubgoal)\n" * 1)
    exact, charged = scores_of(question, solution), scores_of(question, longer)
    assert (exact["score"], exact["charged"]) == (1, 1)
    assert charged["score"] == 1
    assert charged["charged"] == pytest.approx(question.least / (question.least + 1))


@pytest.mark.parametrize(
    ("level", "seed"),
    [("PutNextLocal", 1), ("Open", 2), ("UnblockPickup", 1), ("SynthLoc", 3)],
)
def test_no_list_that_needs_no_help_is_shorter_than_the_least(
    level: str, seed: int
) -> None:
    """Every list that is the solution without one of its subgoals fails or is longer."""
    question = Decompose(make_scene(level, seed, "3.0"))
    lines = question.solution.splitlines()[1:-1]
    assert question.least <= len(lines)
    for place in range(len(lines)):
        shorter = "\n".join(["<START>", *lines[:place], *lines[place + 1 :], "<END>"])
        scores = scores_of(question, shorter)
        assert not scores["precision"] or len(lines) - 1 >= question.least


def test_a_moment_nearer_to_success_needs_no_more_subgoals() -> None:
    scene = make_scene("PutNextLocal", 1, "3.0")
    question = Decompose(scene)
    now = Simulation(scene)
    bounds = [least_subgoals(now)]
    for action in question._expert.actions[:-1]:
        now.act(action)
        bounds.append(least_subgoals(now))
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] > bounds[-1]
