"""Worlds without a decision process, of free text, and slow ones, each through a whole
run.
"""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from time import perf_counter

import pytest

from gde import Choice, GdeError, Plan, evaluate, load_evidence
from gde.request.catalogue import Catalogue
from gde.runs.exporting import export

PLAN = Plan(
    environment="recipe",
    agent="scripted",
    metrics=["success", "accuracy", "epic"],
    rewards=["oracle"],
)


def overall(plan: Plan, folder: Path, catalogue: Catalogue) -> dict[str, float | None]:
    result = evaluate(replace(plan, episodes=5), folder, catalogue)
    assert result.failures == ()
    return {one.name: one.value for one in result.measurements}


def test_an_optimum_without_a_process_is_enough_for_accuracy_and_rewards(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    expert = Choice(
        name="scripted", config={"actions": ["STEP0", "STEP1", "STEP2", "STEP3"]}
    )
    values = overall(replace(PLAN, agent=expert), tmp_path / "run", catalogue)
    assert values["epic"] == 0
    assert 0 < (values["accuracy"] or 0) < 1
    for one in load_evidence(tmp_path / "run", catalogue).trajectories:
        assert [len(turn.optimal or ()) for turn in one.turns] == [1] * len(one.turns)
        assert [turn.state for turn in one.turns] == [None] * len(one.turns)
        known = [turn.decision.action in (turn.optimal or ()) for turn in one.turns]
        values_of = [turn.value for turn in one.turns if turn.value is not None]
        assert [(b - a) for a, b in pairwise(values_of)] == [
            float(hit) for hit in known[:-1]
        ]


def test_success_is_graded(tmp_path: Path, catalogue: Catalogue) -> None:
    half = Choice(name="scripted", config={"actions": ["STEP0", "STEP1"]})
    values = overall(replace(PLAN, agent=half), tmp_path / "run", catalogue)
    reached = [
        one.success for one in load_evidence(tmp_path / "run", catalogue).trajectories
    ]
    assert values["success"] == pytest.approx(fmean(each or 0.0 for each in reached))
    assert {each for each in reached if each is not None} <= {0, 0.25, 0.5}
    assert any(reached)


def test_what_needs_a_process_is_refused(tmp_path: Path, catalogue: Catalogue) -> None:
    with pytest.raises(
        GdeError,
        match=r"efficiency needs an environment with a tabular decision process .*; .* 'recipe'",
    ):
        evaluate(replace(PLAN, metrics=("efficiency",)), tmp_path / "run", catalogue)


@pytest.mark.parametrize("lines", [1, 3, 7])
def test_several_lines_of_any_length_are_an_action(
    lines: int, tmp_path: Path, catalogue: Catalogue
) -> None:
    dictation = Choice(name="dictation", config={"lines": lines})
    values = overall(
        replace(PLAN, environment=dictation, agent="copyist"),
        tmp_path / "run",
        catalogue,
    )
    assert (values["success"], values["accuracy"]) == (1, 1)
    for one in load_evidence(tmp_path / "run", catalogue).trajectories:
        (turn,) = one.turns
        assert turn.observation.actions is None
        assert (
            turn.decision.action
            == turn.observation.text
            == "\n".join(one.world.facts["lines"])
        )  # type: ignore[arg-type]
    for form in ("jsonl", "csv"):
        with (tmp_path / form).open("w", encoding="utf-8") as file:
            export(tmp_path / "run", form, file)


def test_a_text_agent_writes_several_lines(tmp_path: Path, asking: Catalogue) -> None:
    """Through the language model's JSON and back."""
    agent = Choice(name="gpt-oss", config={"model": "echo"})
    plan = replace(PLAN, environment=Choice(name="dictation"), agent=agent)
    values = overall(plan, tmp_path / "run", asking)
    assert (values["success"], values["accuracy"]) == (1, 1)


def test_slow_steps_stop_no_other_episode(tmp_path: Path, catalogue: Catalogue) -> None:
    slow = Choice(name="slow-corridor", config={"length": 6, "seconds": 0.05})
    plan = replace(
        PLAN, environment=slow, episodes=16, rewards=(), metrics=("success",)
    )
    started = perf_counter()
    result = evaluate(plan, tmp_path / "run", catalogue)
    taken = perf_counter() - started
    steps = sum(
        len(one.turns)
        for one in load_evidence(tmp_path / "run", catalogue).trajectories
    )
    assert result.status == "ok"
    assert taken < 0.5 * steps * 0.05
