"""Questions, their solutions, and what answers to them are worth."""

import json
from pathlib import Path
from typing import Any

import pytest
from asking import environment, episode, measured
from typer.testing import CliRunner

from gde import Plan, evaluate, load_evidence
from gde.cli.main import build_app
from gde.data.observation import Observation
from gde.data.result import Measurement
from gde.data.trajectory import Decision
from gde.parts.agent import Agent, Brief, FunctionAgent
from gde.reporting.finding import opening
from gde.testing import check_environment
from gde.testing.context import PlainContext
from gde.testing.parts import PlantedModel
from gde_plugins.babyai.agents.prompter import WAYS, Prompter
from gde_plugins.babyai.agents.scripted import ScriptedAnswerer
from gde_plugins.babyai.config import PrompterConfig
from gde_plugins.babyai.oracle.subgoals import write
from gde_plugins.babyai.tasks.asked import KINDS
from gde_plugins.babyai.tasks.datasets import make_row
from gde_plugins.babyai.tasks.decompose import Decompose
from gde_plugins.babyai.tasks.execution import run_actions
from gde_plugins.babyai.tasks.parsing import (
    END,
    LONGEST,
    PLAN_MARKER,
    START,
    STATE_MARKER,
    read_plan,
    read_state,
    read_subgoals,
)
from gde_plugins.babyai.tasks.plan import PlanQuestion
from gde_plugins.babyai.tasks.predict import Predict
from gde_plugins.babyai.tasks.question import scores_of, state_text
from gde_plugins.babyai.worlds.generation import make_scene
from gde_plugins.babyai.worlds.levels import PAPER_LEVELS, PLAN_WORLDS

LEVELS = {
    "predict": "GoToObj",
    "plan": "CustomBabyAI-GoToRedBall-Small-4Dists",
    "decompose": "UnblockPickup",
}
SCORE = {
    "predict": "predict.success",
    "plan": "plan.success",
    "decompose": "decompose.comprehension",
}


@pytest.mark.parametrize("task", KINDS)
def test_a_question_keeps_the_promises_of_an_environment(task: str) -> None:
    check_environment(
        lambda: environment(task, LEVELS[task]), actions=("an answer",), gives={"map"}
    )


@pytest.mark.parametrize("task", KINDS)
@pytest.mark.parametrize("level", PAPER_LEVELS)
def test_the_solution_has_every_score(task: str, level: str) -> None:
    for seed in (2, 3):
        question = KINDS[task](make_scene(level, seed, "3.0"))
        scores = scores_of(question, question.solution)
        assert scores["reading"] == "ok"
        assert scores["read"]
        assert str(scores["read"]) in question.solution.replace("\n", ", ")
        perfect = {"score", "position", "efficiency", "precision", "aci", "aci_defined"}
        assert all(scores[name] == 1 for name in perfect & scores.keys()), scores


def test_plans_of_the_custom_worlds_are_solved_and_none_beats_the_shortest() -> None:
    for level in PLAN_WORLDS:
        question = PlanQuestion(make_scene(level, 2, "3.0"))
        scores = scores_of(question, question.solution)
        assert scores["score"] == 1
        assert scores["optimality"] is None or 0 < float(str(scores["optimality"])) <= 1


SECOND = {
    "predict": "predict.position",
    "plan": "plan.efficiency",
    "decompose": "decompose.precision",
}


def scored(task: str, agent: Agent, n: int) -> dict[str, Measurement]:
    return measured(
        task, [episode(task, LEVELS[task], seed, agent) for seed in range(n)]
    )


@pytest.mark.parametrize("task", KINDS)
def test_solutions_get_every_score_and_other_talk_gets_none(task: str) -> None:
    talk = FunctionAgent(lambda _: "I would rather talk about something else.")
    for agent, score in ((ScriptedAnswerer(), 1.0), (talk, 0.0)):
        found = scored(task, agent, 5)
        assert (found[SCORE[task]].value, found[SECOND[task]].value) == (score, score)
        assert found[f"{task}.unusable"].value == 1 - score
        assert found[f"{task}.unusable.unread"].value == 1 - score


def test_what_was_read_of_an_answer_stands_beside_it(tmp_path: Path) -> None:
    plan = Plan(
        environment="babyai-plan",
        agent=FunctionAgent(lambda _: "Turn left, then go forward twice."),
        metrics=["outcomes"],
        episodes=1,
    )
    evaluate(plan, tmp_path / "run")
    (episode,) = load_evidence(tmp_path / "run").trajectories
    decision = episode.turns[0].decision
    assert decision.action == "Turn left, then go forward twice."
    assert decision.read == "left, forward, forward"


def test_an_answer_that_says_nothing_is_unusable_in_the_whole_run(
    tmp_path: Path,
) -> None:
    told = iter(["I would rather sing."] * 4 + ["left, forward"])
    plan = Plan(
        environment="babyai-plan",
        agent=FunctionAgent(lambda _: next(told)),
        metrics=["outcomes"],
        episodes=5,
    )
    result = evaluate(plan, tmp_path / "run")
    assert (result.subject.turns, result.subject.unusable) == (5, 4)
    (found,) = result.subject.unusable_classes
    assert found.example.startswith("the answer does not say one thing alone: 'I would")
    shares = {one.name: one.value for one in result.measurements}
    assert (shares["outcomes.ok"], shares["outcomes.unparsable"]) == (0.2, 0.8)
    assert "of answers could be read; the others" in opening(result).finding


def test_the_right_position_with_a_wrong_direction_is_no_success() -> None:
    question = Predict(make_scene("GoToObj", 2, "3.0"))
    end = question.end
    turned = state_text(question.scene, end.position, (end.direction + 2) % 4)
    scores = scores_of(question, f"{STATE_MARKER} {turned}")
    assert (scores["score"], scores["position"]) == (0.0, 1.0)


def test_walking_straight_on_is_worth_what_it_reaches() -> None:
    forward = ", ".join(["forward"] * 200)
    walker = FunctionAgent(lambda _: f"{PLAN_MARKER} {forward}")
    straight = 0
    for seed in range(30):
        question = PlanQuestion(make_scene(LEVELS["plan"], seed, "3.0"))
        straight += (
            run_actions(question.scene, ["forward"] * 10, question.target).end.ahead
            == question.target
        )
    found = scored("plan", walker, 30)
    assert found["plan.success"].value == pytest.approx(straight / 30)
    assert found["plan.unusable"].value == 0


def test_a_list_without_effect_needs_help() -> None:
    lister = FunctionAgent(lambda _: f"{START}\n(DropSubgoal)\n{END}")
    assert scored("decompose", lister, 4)["decompose.comprehension"].value == 0


def test_only_the_position_counts_for_the_distance() -> None:
    question = Predict(make_scene("GoToObj", 2, "3.0"))
    place, _, direction = question.target.rpartition(", ")
    x, y = json.loads(place.replace("((", "[").replace(")", "]"))
    away = scores_of(
        question,
        f"THE AGENT'S FINAL STATE IS: (({x + 1}, {y}), {direction}".replace("))", ")"),
    )
    assert (away["score"], away["position"], away["distance"]) == (0.0, 0.0, 1)


def test_actions_after_success_count_in_the_published_efficiency_alone() -> None:
    question = PlanQuestion(make_scene(LEVELS["plan"], 2, "3.0"))
    best, longer = (
        scores_of(question, question.solution),
        scores_of(question, f"{question.solution}, left, left, done"),
    )
    assert longer["score"] == best["score"] == 1
    assert float(str(longer["efficiency"])) < float(str(best["efficiency"]))
    assert longer["optimality"] == best["optimality"]


def test_help_of_the_expert_is_counted_in_both_ways() -> None:
    question = Decompose(make_scene("BossLevel", 3, "3.0"))
    assert question.help_count > question.n_translated >= 1
    nothing = scores_of(question, "<START>\n(DropSubgoal)\n<END>")
    assert (
        nothing["score"],
        nothing["aci"],
        nothing["aci_defined"],
        nothing["added"],
    ) == (0.0, 0.0, 0.0, 0)


def test_a_translation_is_comprehended_and_not_precise() -> None:
    question = Decompose(make_scene("GoToObjMaze", 3, "3.0"))
    scene = question.scene
    target = next(
        cell
        for cell, inside in enumerate(scene.cells)
        if inside >= 0 and scene.doors[inside] < 0
    )
    x, y = scene.place(target)
    scores = scores_of(question, f"<START>\n(GoNextToSubgoal, ({x}, {y}))\n<END>")
    assert (scores["score"], scores["precision"]) == (1.0, 0.0)
    assert scores["added"] == question.help_count - 1
    assert scores["aci"] == pytest.approx(1 / question.help_count)
    assert scores["aci_defined"] == 0.0


def test_every_unusable_answer_is_classified() -> None:
    scene = make_scene("GoToObj", 2, "3.0")
    state = "The agent's final state is:"
    told = {
        "": "empty",
        " \n": "empty",
        "x" * (LONGEST + 1): "too_long",
        "left": "unread",
        f"{state} somewhere": "unread",
        f"{state} ((1, 2), 7)": "unread",
        f"{state} ((1, 2), 0) or ((1, 3), 0)": "unread",
        f"{state} ((1, 200), 0)": "outside_grid",
        f"{state} ((-1, 2), 0)": "outside_grid",
    }
    assert {answer: read_state(answer, scene).reason for answer in told} == told
    assert read_state(f"{state} x=1, y = 2, facing 3", scene).value == ((1, 2), 3)
    plan = "The LLM's action sequence is:"
    plans = {
        f"{plan} left, jump": "unread",
        f"{plan}": "unread",
    }
    assert {answer: read_plan(answer).reason for answer in plans} == plans
    assert read_plan(f"{plan} Left, FORWARD.\nand so on").value == ("left", "forward")
    lists = {
        "<START>\n<END>": "unread",
        "<START>\n(ExploreSubgoal)\n<END>": "unread",
        "<START>\n(OpenSubgoal, (1, 1))\n<END>": "unread",
        "<START>\n(GoNextToSubgoal, (90, 1))\n<END>": "outside_grid",
    }
    assert {answer: read_subgoals(answer, scene).reason for answer in lists} == lists
    (read,) = (
        read_subgoals("thus: <start>\n\n(GoNextToSubgoal, (2, 3))\n<end>", scene).value
        or ()
    )
    assert write(read, scene) == "(GoNextToSubgoal, (2, 3))"


def test_an_answer_of_a_megabyte_ends_quickly() -> None:
    for task, level in LEVELS.items():
        world = environment(task, level)
        world.reset(1)
        assert world.step("The agent's final state is: " + "(" * 10**6).success == 0


def test_an_answer_that_never_came_is_a_failure_and_counted() -> None:
    class Silent:
        def begin(self, brief: Brief) -> None: ...

        async def act(self, observation: Observation) -> Decision:
            return Decision.unusable("empty", "nothing was said")

    episodes = [
        episode("predict", "GoToObj", seed, ScriptedAnswerer()) for seed in range(3)
    ]
    found = measured("predict", [*episodes, episode("predict", "GoToObj", 3, Silent())])
    assert (
        found["predict.success"].value,
        found["predict.unusable.no_answer"].value,
    ) == (0.75, 0.25)
    assert found["predict.distance"].n == 3


def test_numbers_are_broken_down_by_difficulty_and_competency() -> None:
    from gde.data.evidence import Evidence
    from gde_plugins.babyai.scoring.metrics import predict

    agent = ScriptedAnswerer()
    wrong = FunctionAgent(
        lambda _: "The agent's final state is: ((1, 1), 0), which is never right here"
    )
    episodes = [episode("predict", "GoToObj", seed, agent) for seed in range(3)]
    episodes += [episode("predict", "BossLevel", seed, wrong) for seed in range(3)]
    where = {
        tuple(one.where.values()): one.value
        for one in predict(Evidence(trajectories=episodes))
        if one.where
    }
    values = {one.where["difficulty"]: one.value for one in predict(Evidence(trajectories=episodes))
              if one.name == "predict.success" and "difficulty" in one.where}  # fmt: skip
    assert values == {"easy": 1.0, "very hard": 0.0}
    assert ("sequence",) in where
    part = Evidence(trajectories=episodes, part={"level": "GoToObj"})
    assert not [one for one in predict(part) if one.where]


@pytest.mark.parametrize("prompting", WAYS)
def test_the_prompter_hands_the_whole_answer_on(prompting: str) -> None:
    heard: list[str] = []

    def answer(request: object) -> str:
        heard.extend(message.content for message in request.messages)  # type: ignore[attr-defined]
        assert request.effort is None  # type: ignore[attr-defined]
        return "I think so.\nThe agent's final state is: ((1, 1), 0)"

    config = PrompterConfig(prompting=prompting)  # type: ignore[arg-type]
    context = PlainContext(models={"nano": PlantedModel(script=answer)})
    one = episode("predict", "GoToObj", 1, Prompter(config, context))
    assert one.turns[0].decision.status == "ok"
    assert (one.final_state is not None) and one.final_state.facts["scores"]
    assert len(heard) == (7 if prompting == "few_shot" else 1)
    assert all(WAYS[prompting] in text for text in heard[::2])
    if prompting == "few_shot":
        assert one.turns[0].observation.text not in heard[0]
        assert "The agent's final state is: ((" in heard[1]


@pytest.mark.parametrize("task", KINDS)
@pytest.mark.parametrize("prompting", ["few_shot", "cot"])
def test_an_answer_in_json_is_read_in_both_ways(task: str, prompting: str) -> None:
    world = KINDS[task](make_scene(LEVELS[task], 2, "3.0"))
    heard: list[Any] = []

    def answer(request: Any) -> str:
        heard.append(request)
        return json.dumps({"reasoning": "left, or right", "answer": world.solution})

    config = PrompterConfig(prompting=prompting, actions="json")  # type: ignore[arg-type]
    context = PlainContext(models={"nano": PlantedModel(script=answer)})
    one = episode(task, LEVELS[task], 2, Prompter(config, context))
    assert one.final_state is not None
    scores: Any = one.final_state.facts["scores"]
    assert scores["score"] == scores["published"]["score"] == 1.0
    assert heard[0].form.kind == "json"
    solved = [each for each in heard[0].messages if each.role == "assistant"]
    assert len(solved) == (3 if prompting == "few_shot" else 0)
    assert all(json.loads(each.content)["answer"] for each in solved)


def test_a_world_that_cannot_be_asked_about_is_a_row_with_its_reason() -> None:
    row = make_row("decompose", "3.0", "structured", ("Unlock", 63))
    assert row["help_count"] == ""
    assert "level Unlock, seed 63: the expert does not fulfil the mission" in str(
        row["error"]
    )


def test_the_command_writes_a_dataset_and_refuses_what_it_cannot(
    tmp_path: Path,
) -> None:
    out = tmp_path / "rows.csv"
    run = CliRunner()
    arguments = [
        "babyai",
        "dataset",
        "--task",
        "plan",
        "--out",
        str(out),
        "--levels",
        "GoToObj",
        "--seeds",
        "1-2",
    ]
    assert run.invoke(build_app(), arguments).exit_code == 0
    assert out.read_text().count("BabyAI-GoToObj-v0") == 2
    for wrong in (
        ["--levels", "Nowhere"],
        *(["--seeds", seeds] for seeds in ("a-b", "5-1", "0--3", "-3", "")),
    ):
        assert run.invoke(build_app(), [*arguments[:6], *wrong]).exit_code != 0
