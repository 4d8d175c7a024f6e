"""Reward models of recorded trajectories, compared by task within and across runs."""

import json
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

import cloudpickle
import pytest
from typer.testing import CliRunner

from gde import Choice, Plan, Transcript, evaluate, load_evidence
from gde.cli.main import build_app
from gde.comparisons.leaderboard import rank_contenders
from gde.data.reward import READS_TRUTH
from gde.store.folder import RunFolder
from gde_plugins.pages.library import state

# How pytest was called decides whether another process can import this module.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Eight tasks of the blocks world, judged by other reward models in each run."""
    folder = tmp_path_factory.mktemp("runs")
    flat = Choice(name="statefactory", alias="flat", config={"level": 1})
    chosen = {"a": ("statefactory", "clock", "oracle"), "b": (flat, "clock")}
    for name, rewards in chosen.items():
        plan = Plan(
            environment=Choice(name="rewardbench", config={"share": 0.032}),
            agent=Choice(name="random"),
            rewards=rewards,  # type: ignore[arg-type]
            metrics=("epic",),  # type: ignore[arg-type]
            episodes=16,
        )
        evaluate(plan, folder / name)
    return folder / "a", folder / "b"


def test_runs_with_other_reward_models_have_paired_rows_and_one_leaderboard(
    runs: tuple[Path, Path],
) -> None:
    said = CliRunner().invoke(build_app(), ["compare", *map(str, runs), "--json"])
    assert said.exit_code == 0, said.output
    found = json.loads(said.stdout)
    shown = CliRunner().invoke(build_app(), ["compare", *map(str, runs)]).stdout
    assert "overall: differences from" in shown
    rows = {
        row["where"]["reward"]: row for row in found["rows"] if row["name"] == "epic"
    }
    assert rows.keys() == {
        "clock",
        "flat against statefactory",
        "flat against oracle",
    }
    assert rows["clock"]["difference"] == 0
    row = rows["flat against statefactory"]
    low, high = row["interval"]
    assert row["n"] == 8
    assert row["difference"] == pytest.approx(row["b"] - row["a"])
    assert low < row["difference"] < high
    assert 0 < row["p"] <= 1
    # A task has both of its sides, so that none is left out.
    assert all(
        (row["a"], row["b"]) == (0, 0)
        for row in found["rows"]
        if row["name"] == "epic.one_sided"
    )

    (board,) = found["leaderboards"]
    standings = {one["contender"]: one for one in board["standings"]}
    assert standings.keys() == {
        "oracle",
        "statefactory",
        "flat",
        "a/clock",
        "b/clock",
    }
    assert board["notes"] == {"oracle": READS_TRUTH}
    assert standings["oracle"]["value"] == 0
    assert standings["statefactory"]["verdict"]["control"] in {"a/clock", "b/clock"}


def test_a_leaderboard_has_the_numbers_of_the_run(runs: tuple[Path, Path]) -> None:
    (board,) = rank_contenders([runs[0]])
    values = {one.contender: one.value for one in board.standings}
    result = RunFolder.open(runs[0]).read_result()
    shown = {
        str(one.where["reward"]): one.value
        for one in result.measurements
        if one.name == "epic"
    }
    assert values == pytest.approx(shown)
    assert [one.value for one in board.standings] == sorted(values.values())
    assert asdict(board)["measure"] == "epic"
    assert load_evidence(runs[0]).reward_traces


def own_words(goal: str, observation: str, action: str) -> float:
    """A reward model of the user's own."""
    return float(len(set(goal.split()) & set(observation.split())))


@dataclass
class Locked:
    """The same, which no other process can have."""

    lock: Any = field(default_factory=Lock)

    def rewards(self, transcript: Transcript) -> list[float]:
        goal = transcript.objective
        return [own_words(goal, step.observation, "") for step in transcript.steps]


def test_code_that_is_not_ours_is_marked_unless_it_is_isolated(tmp_path: Path) -> None:
    plan = Plan(
        environment=Choice(name="rewardbench", config={"share": 0.032}),
        agent="random",
        rewards=[own_words, Locked(), "clock", "monotonic"],
        metrics=["epic"],
        episodes=4,
    )
    evaluate(plan, tmp_path / "run")
    (board,) = rank_contenders([tmp_path / "run"])
    assert board.notes == {"Locked": "not isolated", "monotonic": "not causal"}
    values = {one.contender: one.value for one in board.standings}
    assert values["own_words"] == values["Locked"]


def test_the_list_of_runs_names_the_best_that_does_not_read_the_truth(
    runs: tuple[Path, Path],
) -> None:
    found = state("a", runs[0]).found
    assert found.startswith("EPIC distance: reward") and "oracle" not in found


def test_a_single_run_without_contenders_is_refused(tmp_path: Path) -> None:
    plan = Plan(
        environment=Choice(name="grid"),
        agent=Choice(name="random"),
        metrics=("success",),  # type: ignore[arg-type]
        episodes=1,
    )
    evaluate(plan, tmp_path / "run")
    said = CliRunner().invoke(build_app(), ["compare", str(tmp_path / "run")])
    assert said.exit_code != 0
    assert "wanted two runs" in str(said.exception)
