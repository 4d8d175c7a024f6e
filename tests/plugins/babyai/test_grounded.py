"""Grounded pairs: one change of the world changes the answer, blind ones are at chance."""

from collections.abc import Callable

import pytest
from asking import episode_in, measured

from gde.errors import GdeError
from gde.parts.agent import Agent
from gde_plugins.babyai.agents.blind import BlindAnswerer
from gde_plugins.babyai.agents.scripted import ScriptedAnswerer
from gde_plugins.babyai.config import (
    BlindConfig,
    PlanConfig,
    QuestionConfig,
)
from gde_plugins.babyai.tasks.asked import GROUNDED
from gde_plugins.babyai.tasks.blind import blind_answers
from gde_plugins.babyai.tasks.environment import QuestionEnvironment
from gde_plugins.babyai.tasks.grounded import GroundedPredict
from gde_plugins.babyai.tasks.question import scores_of
from gde_plugins.babyai.worlds.generation import make_scene

LEVELS = {
    "predict": ("GoToObj", "UnblockPickup", "BossLevel"),
    "plan": ("CustomBabyAI-GoToRedBall-Small-4Dists",),
    "decompose": ("Open", "GoToSeq"),
}
CONFIG: dict[str, Callable[..., QuestionConfig]] = {
    "predict": QuestionConfig,
    "plan": PlanConfig,
    "decompose": QuestionConfig,
}


@pytest.mark.parametrize("task", LEVELS)
def test_a_blind_answer_is_right_in_at_most_one_world_of_a_pair(task: str) -> None:
    changes = set()
    for level in LEVELS[task]:
        for seed in (2, 3, 5):
            scene = make_scene(level, seed, "3.0")
            one, other = (GROUNDED[task](scene, changed) for changed in (False, True))
            assert one.asked == other.asked
            assert one.scene != other.scene
            for question in (one, other):
                changes.add(getattr(question, "change"))  # noqa: B009
                for answer in blind_answers(one).values():
                    assert answer in blind_answers(question).values()
            for answer in (*blind_answers(one).values(), one.solution, other.solution):
                right = [scores_of(each, answer)["score"] for each in (one, other)]
                assert sum(map(float, right)) <= 1  # type: ignore[arg-type]
    assert len(changes) > 1 or task == "plan"


@pytest.mark.parametrize("seed", [2, 3, 11])
def test_behind_a_locked_door_the_key_is_missing(seed: int) -> None:
    scene = make_scene("Synth", seed, "3.0")
    questions = [GroundedPredict(scene, changed) for changed in (False, True)]
    assert {question.change for question in questions} == {"no key"}
    keys = []
    for question in questions:
        things = question.scene.things
        keys.append([str(thing) for thing in things if thing.kind == "key"])
    assert keys[0] != keys[1]


def asked(task: str, agent: Agent) -> dict[str, float | None]:
    config = CONFIG[task](level=LEVELS[task][0], seeds=(2, 3, 5), grounded=True)
    world = QuestionEnvironment(task, config)
    assert len(world.worlds()) == 6
    episodes = [episode_in(world, seed, agent) for seed in range(6)]
    assert len({one.world.cluster for one in episodes}) == 3
    return {name: one.value for name, one in measured(task, episodes).items()}


def test_counting_is_at_chance_and_the_solution_is_not() -> None:
    counted = asked("predict", BlindAnswerer(BlindConfig(how="counter")))
    solved = asked("predict", ScriptedAnswerer())
    assert (counted["predict.success"], counted["predict.pairs"]) == (0.5, 0)
    assert (solved["predict.success"], solved["predict.pairs"]) == (1, 1)
    assert solved["predict.success.above_blind"] == 0.5


def test_listing_everything_fulfils_no_mission_exactly_and_the_solution_does() -> None:
    listed = asked("decompose", BlindAnswerer(BlindConfig(how="list_all")))
    solved = asked("decompose", ScriptedAnswerer())
    assert (listed["decompose.comprehension"], listed["decompose.pairs"]) == (0, 0)
    assert (solved["decompose.comprehension"], solved["decompose.pairs"]) == (1, 1)


def test_one_room_has_no_door_to_change() -> None:
    with pytest.raises(GdeError, match="no change of a door alters the subgoals"):
        QuestionEnvironment(
            "decompose", QuestionConfig(level="GoToObj", grounded=True)
        ).reset(0)
