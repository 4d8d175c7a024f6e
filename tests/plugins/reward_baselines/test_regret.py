"""Regret under a reward model: it tells success if, and only if, the rewards do."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from gde.data.evidence import Evidence
from gde.data.reward import RewardTrace
from gde.data.trajectory import Trajectory
from gde.testing import check_metric
from gde.testing.samples import sample_evidence
from gde_plugins.reward_baselines.regret import AUC, reward_regret

SAMPLE = sample_evidence(6)
(FIRST,) = [one for one in SAMPLE.trajectories if one.turns][:1]


def run(last: Callable[[bool], float], n: int = 40) -> Evidence:
    """Worlds of one episode each, every other one a success, and their last rewards."""
    episodes: list[Trajectory] = []
    traces = []
    for i in range(n):
        turn = replace(FIRST.turns[-1], index=0, success=float(i % 2))
        one = replace(
            FIRST,
            key=replace(FIRST.key, world=i),
            world=replace(FIRST.world, id=f"world-{i}", base=""),
            turns=(turn,),
        )
        episodes.append(one)
        values = np.array([last(one.succeeded)])
        traces.append(RewardTrace(model="m", episode=str(one.key), values=values))
    return replace(SAMPLE, trajectories=tuple(episodes), reward_traces=tuple(traces))


def test_rewards_that_know_success_tell_it_and_constant_ones_do_not() -> None:
    rng = np.random.default_rng(0)
    (told,) = reward_regret(run(lambda succeeded: succeeded + rng.random() / 2))
    assert told.value == pytest.approx(1)
    assert told.interval is not None
    assert told.interval[0] > 0.5

    (opposite,) = reward_regret(run(lambda succeeded: -float(succeeded)))
    assert opposite.value == pytest.approx(0)
    (constant,) = reward_regret(run(lambda _: 0.3))
    assert constant.value == 0.5


@pytest.mark.parametrize("strength", [0.0, 1.0])
def test_it_is_the_area_under_the_curve(strength: float) -> None:
    rng = np.random.default_rng(0)
    evidence = run(lambda succeeded: strength * succeeded + rng.normal())
    (found,) = reward_regret(evidence)
    last = [trace.values[-1] for trace in evidence.reward_traces]
    succeeded = [one.succeeded for one in evidence.trajectories]
    assert found.value == pytest.approx(roc_auc_score(succeeded, last))
    assert found.interval is not None
    # 40 random rewards tell nothing; those that are a spread apart do.
    assert (found.interval[0] > 0.5) == (strength == 1)


def test_what_cannot_be_told_has_a_reason() -> None:
    evidence = run(float)
    (unjudged,) = reward_regret(replace(evidence, reward_traces=()))
    assert unjudged.reason == "no reward model has judged an episode"
    won = tuple(one for one in evidence.trajectories if one.succeeded)
    (alike,) = reward_regret(replace(evidence, trajectories=won))
    assert alike.name == AUC
    assert alike.where == {"reward": "m"}
    assert alike.reason == "no episode fails, so there is nothing to tell apart"
    check_metric(lambda: reward_regret)


def test_a_recorded_failure_that_reached_its_goal_is_none_the_less_a_failure() -> None:
    evidence = run(lambda succeeded: float(succeeded))
    # All reach the goal on their way, and the record tells which end as a failure.
    undone = []
    for one in evidence.trajectories:
        side = "positive" if one.succeeded else "negative"
        (turn,) = one.turns
        world = replace(one.world, labels={"side": side})
        undone.append(replace(one, world=world, turns=(replace(turn, success=1.0),)))
    (told,) = reward_regret(replace(evidence, trajectories=tuple(undone)))
    assert told.value == pytest.approx(1)
