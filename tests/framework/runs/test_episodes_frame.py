"""The episodes of runs as a frame."""

from dataclasses import replace
from pathlib import Path

import pytest

from gde import Choice, Plan, Result, episodes_frame, evaluate, load_evidence
from gde.request.catalogue import Catalogue

PLAN = Plan(
    environment=Choice(name="grid", config={"size": [5, 7]}),
    agent=Choice(name="noisy", config={"p": 0.4}),
    metrics=["success", "efficiency", "recovery"],
    episodes=3,
    repeats=2,
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Result]:
    place = tmp_path_factory.mktemp("runs")
    other = replace(PLAN, agent=Choice(name="noisy", config={"p": 0.1}))
    return evaluate(PLAN, place / "a"), evaluate(other, place / "b")


def value(result: Result, name: str) -> float | None:
    (found,) = [
        one for one in result.measurements if one.name == name and not one.where
    ]
    return found.value


def test_one_row_an_episode_that_agrees_with_record_and_metrics(
    runs: tuple[Result, Result],
) -> None:
    frame = episodes_frame(*(one.run for one in runs))
    for result in runs:
        own = frame[frame.run == result.run]
        recorded = load_evidence(result.run).trajectories
        assert own.episode.tolist() == [str(one.key) for one in recorded]
        assert own.turns.tolist() == [len(one.turns) for one in recorded]
        assert own.world.tolist() == [one.world.id for one in recorded]
        assert own.seed.tolist() == [one.seed for one in recorded]
        assert own.ending.tolist() == [one.ending for one in recorded]
        assert own["size"].tolist() == [one.labels["size"] for one in recorded]
        assert own.success.mean() == pytest.approx(value(result, "success"))
        regret = own["efficiency.regret"].mean()
        assert regret == pytest.approx(value(result, "efficiency.regret"))
    # What differs between the runs, and between their conditions, is a column.
    assert frame.groupby("run")["agent.p"].first().tolist() == [0.4, 0.1]
    assert (frame["env.size"] == frame["size"]).all()
    assert frame.cost.tolist() == [0.0] * len(frame)
    # No run has a perturbation.
    assert not [name for name in frame.columns if name.startswith("recovery")]


def test_tokens_and_cost_are_those_of_an_episodes_answers(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    log = str(tmp_path / "log")
    plan = Plan(
        environment="long-corridor",
        agent="asking-logged",
        models=[Choice(name="", config={"log": log})],
        metrics=["success"],
        episodes=2,
    )
    run = evaluate(plan, tmp_path / "run", catalogue).run
    priced = Choice(name="", config={"log": log, "prices": (2.0, 8.0)})
    other = tmp_path / "priced"
    evaluate(replace(plan, models=[priced]), other, catalogue)
    free, frame = episodes_frame(run), episodes_frame(other)
    assert free.cost.isna().all()
    for row, one in zip(
        frame.itertuples(), load_evidence(other).trajectories, strict=True
    ):
        answers = [turn.decision.completion for turn in one.turns]
        n_prompt = sum(each.n_prompt or 0 for each in answers if each)
        n_answer = sum(each.n_completion or 0 for each in answers if each)
        assert (row.calls, row.prompt_tokens) == (len(one.turns), n_prompt)
        assert row.answer_tokens == n_answer
        assert row.cost == pytest.approx((2 * n_prompt + 8 * n_answer) / 1e6)


def test_a_run_that_is_not_trusted_is_read_without_its_worlds(
    runs: tuple[Result, Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trusted = episodes_frame(runs[0].run)
    monkeypatch.setenv("GDE_STATE", str(tmp_path))
    frame = episodes_frame(runs[0].run)
    assert frame.success.tolist() == trusted.success.tolist()
    assert "efficiency.regret" not in frame.columns
