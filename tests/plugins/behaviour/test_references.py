"""What random and optimal moves get, against agents that are run."""

from pathlib import Path

import pytest

from gde.data.plan import Choice, Plan
from gde.data.result import Measurement
from gde.runs.evaluating import evaluate
from gde_plugins.behaviour import references

GRID = Choice(name="grid", config={"size": 5, "density": 0.5})


def numbers(plan: Plan, folder: Path) -> dict[str, Measurement]:
    return {
        one.name: one for one in evaluate(plan, folder).measurements if not one.where
    }


def test_random_moves_get_what_a_random_agent_gets(tmp_path: Path) -> None:
    metrics = ("success", "efficiency", "accuracy", "references")
    plan = Plan(
        environment=GRID,
        agent=Choice(name="random"),
        episodes=12,
        repeats=25,
        metrics=metrics,
    )
    found = numbers(plan, tmp_path / "run")
    for name, reference in (
        ("success", "success.random"),
        ("efficiency.spl", "spl.random"),
        ("accuracy", "accuracy.random"),
    ):
        known, got = found[f"references.{reference}"].value, found[name].value
        assert known == pytest.approx(got, abs=0.06) and 0 < (known or 0) < 0.6
    assert found["references.success.optimal"].value == 1


def test_worlds_without_a_model_have_the_chance_of_a_random_action_alone(
    tmp_path: Path,
) -> None:
    plan = Plan(
        environment="blocksworld", agent="expert", episodes=3, metrics=("references",)
    )
    found = numbers(plan, tmp_path / "run")
    assert list(found) == ["references.accuracy.random"]
    assert 0 < (found["references.accuracy.random"].value or 0) < 1


def test_small_and_large_worlds_are_walked_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = Plan(environment=GRID, agent="random", episodes=8, metrics=("references",))
    dense = numbers(plan, tmp_path / "dense")
    monkeypatch.setattr(references, "SMALL", 0)
    sparse = numbers(plan, tmp_path / "sparse")
    assert len(dense) == 4
    for name, found in dense.items():
        assert sparse[name].value == pytest.approx(found.value, abs=1e-12)
