"""The control study: regret, its verdicts, and how it goes with EPIC."""

from dataclasses import replace
from pathlib import Path

import pytest
from reward_control.config import ControlConfig
from reward_control.figure import Point
from reward_control.study import (
    BESIDE_RANDOM,
    PREDICTS,
    ControlStudy,
    rank_correlation,
    regret,
)

from gde import Choice
from gde.data.trajectory import Trajectory
from gde.request.catalogue import Catalogue, load_plugins
from gde.studies.reproducing import Request, reproduce
from gde.testing.samples import sample_evidence
from gde_plugins.reward_prediction.measured import BESIDE

EPISODE = next(one for one in sample_evidence(6).trajectories if one.turns)


def episode(*distances: float | None, success: float) -> Trajectory:
    turns = tuple(
        replace(
            EPISODE.turns[0], index=i, value=None if d is None else -d, success=success
        )
        for i, d in enumerate(distances)
    )
    return replace(EPISODE, turns=turns)


def test_regret_counts_the_steps_that_brought_nothing() -> None:
    assert regret(episode(3.0, 2.0, 1.0, success=1.0)) == 0
    # Two steps aside and back.
    assert regret(episode(2.0, 3.0, 2.0, 1.0, success=1.0)) == 1
    # Where the last decision led is not recorded: one step away so far.
    assert regret(episode(2.0, 3.0, success=0.0)) == 1
    # Without certified distances, what was earned at the end counts.
    assert regret(episode(None, None, success=0.25)) == 0.75
    bought = episode(None, success=0.0)
    (turn,) = bought.turns
    assert regret(replace(bought, turns=(replace(turn, reward=0.5),))) == 1
    end = replace(turn, reward=0.5, terminated=True)
    assert regret(replace(bought, turns=(end,))) == 0.5


def points(regrets: list[float]) -> list[Point]:
    return [
        Point(
            reward=str(i),
            domain="d",
            control="c",
            epic=i / 10,
            regret=value,
            interval=(value, value),
            kind="reward model",
        )
        for i, value in enumerate(regrets)
    ]


def test_the_rank_correlation_has_an_interval_that_few_models_make_wide() -> None:
    few, p_few = rank_correlation(points([0.1, 0.3, 0.2, 0.5, 0.4]), {})
    many, p_many = rank_correlation(
        points([(i + 3 * (i % 2)) / 40 for i in range(40)]), {}
    )
    assert few.value == pytest.approx(0.8) and few.interval is not None
    low, high = few.interval
    assert low < 0 < 0.8 < high < 1
    assert many.interval is not None and many.interval[0] > 0.9
    assert p_few.value is not None and p_few.value > 0.05
    assert p_many.value is not None and p_many.value < 0.01
    assert "4 clusters" in rank_correlation(points([1, 2, 3, 4]), {})[0].reason


def test_the_truth_is_compared_where_it_is_certified() -> None:
    config = ControlConfig(compared="random", rewards="mine")
    plans = ControlStudy(config).plans(0.1, Choice(name="random"))
    assert "one-step-blocksworld-oracle" in plans
    assert "one-step-webshop-oracle" not in plans
    # A model of the user's may have settings, which its plans have to take up.
    assert plans["tree-search-webshop-mine"].rewards == (Choice(name="mine"),)
    assert plans["tree-search-webshop-random"].rewards == ()


@pytest.mark.extended
def test_the_truth_has_no_regret_and_the_verdicts_say_so(tmp_path: Path) -> None:
    settings = {
        "domains": "blocksworld",
        "compared": "monotonic+goal-words+random+unrepeated",
        "rewards": "mine",
    }
    mine = Choice(name="constant", alias="mine")
    found = reproduce(
        Request(name="reward-control", settings=settings, scale=0.16, rewards=(mine,)),
        tmp_path / "study",
        Catalogue(load_plugins(modules=("reward_control",))),
    )
    assert found.status == "ok" and len(found.figures) == 1
    rows = {(row.table, row.quantity): row for row in found.rows}
    for control in ("one step", "tree search"):
        truth = rows[f"regret, {control}, BlocksWorld", "oracle"]
        assert truth.ours.value == 0
        for name in (BESIDE, BESIDE_RANDOM):
            verdict = truth.others[name].verdict
            assert verdict is not None and verdict.outcome == "better"
        assert truth.others["EPIC distance"].value == 0
        noise = rows[f"regret, {control}, BlocksWorld", "random"]
        verdict = noise.others[BESIDE_RANDOM].verdict
        assert verdict is not None and verdict.outcome == "none"
        assert rows[f"regret, {control}, BlocksWorld", "mine"].ours.value is not None
    predictions = [row for row in found.rows if row.table == PREDICTS]
    # The truth is no point of the correlation.
    assert [row.ours.n for row in predictions] == [5, 5, 5]
