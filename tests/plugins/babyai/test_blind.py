"""Baselines that do not read the world: their scores, and leads over the best one."""

from typing import Any

import pytest
from asking import episode, measured

from gde_plugins.babyai.agents.blind import BlindAnswerer
from gde_plugins.babyai.agents.scripted import ScriptedAnswerer
from gde_plugins.babyai.config import BlindConfig
from gde_plugins.babyai.tasks.decompose import Decompose
from gde_plugins.babyai.tasks.question import scores_of
from gde_plugins.babyai.worlds.generation import make_scene

HOW = {
    "predict": ("counter",),
    "plan": ("counter", "random_walk"),
    "decompose": ("list_all", "translate"),
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
    n = len(question.subgoals)
    assert charged["charged"] == pytest.approx(n / (n + 1))
