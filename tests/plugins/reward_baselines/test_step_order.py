"""Steps of progress and harmful ones are told apart by rewards that know them."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from gde.data.evidence import Evidence
from gde.data.observation import State
from gde.data.reward import RewardTrace
from gde.testing import check_metric
from gde.testing.samples import sample_evidence
from gde_plugins.reward_baselines.step_order import (
    HARM,
    PROGRESS,
    share_above,
    step_order,
)

SAMPLE = sample_evidence(6)
(FIRST,) = [one for one in SAMPLE.trajectories if one.turns][:1]
TRUTH = (0.2, 0.4, 0.4, 0.2, 0.6, 0.6, 0.8)
"""Three steps of progress, two neutral and one harmful."""


def judged(truth: Sequence[float], *rewards: Sequence[float]) -> Evidence:
    """The same recorded episode in as many tasks, each with its own rewards."""
    turns = tuple(
        replace(FIRST.turns[0], index=i, state=State(facts={"reward": value}))
        for i, value in enumerate(truth)
    )
    episodes = []
    traces = []
    for task, values in enumerate(rewards):
        world = replace(FIRST.world, id=f"{task}/positive", base=str(task))
        key = replace(FIRST.key, world=task)
        episodes.append(replace(FIRST, key=key, world=world, turns=turns))
        trace = RewardTrace(model="m", episode=str(key), values=np.array(values))
        traces.append(trace)
    return replace(SAMPLE, trajectories=tuple(episodes), reward_traces=tuple(traces))


def shares(evidence: Evidence) -> dict[str, float | None]:
    return {one.name: one.value for one in step_order(evidence)}


def test_the_truth_tells_every_step_and_a_clock_none() -> None:
    assert shares(judged(TRUTH, TRUTH)) == {PROGRESS: 1, HARM: 1}
    clock = [float(i) for i in range(len(TRUTH))]
    assert shares(judged(TRUTH, clock)) == {PROGRESS: 0.5, HARM: 0.5}
    opposite = [-value for value in TRUTH]
    assert shares(judged(TRUTH, opposite)) == {PROGRESS: 0, HARM: 0}
    # It sees when something is gained, and takes a loss for standing still.
    gains = [0.0, 1.0, 1.0, 1.0, 2.0, 2.0, 3.0]
    assert shares(judged(TRUTH, gains)) == {PROGRESS: 1, HARM: pytest.approx(0.8)}


def test_tasks_have_equal_weights_and_need_both_kinds_of_steps() -> None:
    clock = [float(i) for i in range(len(TRUTH))]
    assert shares(judged(TRUTH, TRUTH, clock)) == {PROGRESS: 0.75, HARM: 0.75}
    rising = [0.1 * i for i in range(len(TRUTH))]
    found = step_order(judged(rising, rising))
    assert [one.value for one in found] == [None, None]
    assert all("no task has steps of both kinds" in one.reason for one in found)


def test_it_is_the_area_under_the_curve() -> None:
    rng = np.random.default_rng(0)
    above = rng.normal(0.5, size=20).round(1)
    below = rng.normal(size=30).round(1)
    kind = [1] * len(above) + [0] * len(below)
    area = roc_auc_score(kind, np.concatenate([above, below]))
    assert share_above(above, below) == pytest.approx(area)


def test_it_keeps_the_contract_of_metrics() -> None:
    check_metric(lambda: step_order)
    assert [one.value for one in step_order(SAMPLE)] == [None, None]
