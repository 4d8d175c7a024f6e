"""Metrics meet the whole run and each condition; what they cannot measure is said,
never invented.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from gde.data.evidence import Evidence
from gde.data.json import Labels
from gde.data.measure import Measures
from gde.data.observation import World
from gde.data.result import Failure, Measurement
from gde.data.reward import RewardTrace
from gde.data.trajectory import EpisodeKey, Trajectory
from gde.numerics.episode_metric import EpisodeMetric, Facts, Model
from gde.numerics.numbers import Mean
from gde.parts.metric import Declared, Metric
from gde.stages.evidence import restricted
from gde.stages.scoring import score as score_declared

CONDITIONS = ({"size": 7}, {"size": 9})


def episode(condition: int, world: int) -> Trajectory:
    labels = {**CONDITIONS[condition], "walls": world}
    place = World(id=f"w{condition}{world}")
    key = EpisodeKey(condition=condition, world=world)
    return Trajectory(
        key=key,
        seed=0,
        world=place,
        labels=labels,
        horizon=1,
        turns=(),
        ending="horizon",
    )


def trace(trajectory: Trajectory) -> RewardTrace:
    return RewardTrace(model="m", episode=str(trajectory.key), values=np.zeros(0))


EPISODES = (episode(0, 0), episode(0, 1), episode(1, 0))
EVIDENCE = Evidence(
    trajectories=EPISODES, reward_traces=tuple(map(trace, EPISODES)), seed=5
)


def score(
    metrics: Sequence[tuple[str, Callable[[], Metric]]],
    evidence: Evidence,
    conditions: Sequence[Labels],
) -> tuple[tuple[Measurement, ...], tuple[Failure, ...]]:
    """Score by metrics without measures."""

    def declared(make: Callable[[], Metric]) -> Declared:
        return Declared(make(), Measures())

    makers = [(name, partial(declared, make)) for name, make in metrics]
    return score_declared(makers, evidence, conditions)


class Count:
    def __init__(self, name: str = "episodes") -> None:
        self.name = name

    def __call__(self, evidence: Evidence) -> Sequence[Measurement]:
        n = len(evidence.trajectories)
        return [
            Measurement(
                name=self.name, value=float(n), unit="count", n=n, where={"kind": "all"}
            )
        ]


def small_only(evidence: Evidence) -> Sequence[Measurement]:
    if any(trajectory.labels["size"] == 9 for trajectory in evidence.trajectories):
        raise ZeroDivisionError("nine")
    return Count("small")(evidence)


def test_a_metric_sees_the_whole_and_each_condition_and_its_own_labels_stay() -> None:
    measurements, failures = score([("count", Count)], EVIDENCE, CONDITIONS)
    assert [(one.value, one.where) for one in measurements] == [
        (3.0, {"kind": "all"}),
        (2.0, {"kind": "all", "size": 7}),
        (1.0, {"kind": "all", "size": 9}),
    ]
    assert failures == ()


@pytest.mark.parametrize("conditions", [(), ({},), ({"size": 7},)])
def test_without_a_sweep_there_is_no_breakdown(
    conditions: tuple[dict[str, int], ...],
) -> None:
    assert len(score([("count", Count)], EVIDENCE, conditions)[0]) == 1


def test_a_condition_has_its_own_traces_and_the_same_seed() -> None:
    part = restricted(EVIDENCE, {"size": 7})
    assert [trace.episode for trace in part.reward_traces] == ["0/0/0", "0/1/0"]
    assert part.seed == EVIDENCE.seed


def test_a_metric_that_raises_is_a_failure_and_the_others_are_measured() -> None:
    measurements, failures = score(
        [("small", lambda: small_only), ("count", Count)], EVIDENCE, CONDITIONS
    )
    assert [(one.stage, one.subject, one.reason) for one in failures] == [
        ("metric", "small", "ZeroDivisionError: nine"),
        ("metric", "small size=9", "ZeroDivisionError: nine"),
    ]
    assert [one.name for one in measurements] == [
        "small",
        "episodes",
        "episodes",
        "episodes",
    ]


def test_of_two_metrics_that_give_the_same_measurement_the_second_is_a_failure() -> (
    None
):
    measurements, failures = score([("mine", Count), ("theirs", Count)], EVIDENCE, ())
    assert [one.name for one in measurements] == ["episodes"]
    ((subject, reason),) = [(one.subject, one.reason) for one in failures]
    assert subject == "theirs"
    assert reason.startswith(
        "metrics 'mine' and 'theirs' both give 'episodes kind=all'"
    )


def unmakable() -> Count:
    raise OSError("no data")


def test_a_metric_that_cannot_be_made_costs_no_other() -> None:
    measurements, failures = score(
        [("lost", unmakable), ("count", Count)], EVIDENCE, ()
    )
    assert [one.source for one in measurements] == ["count"]
    assert [(one.subject, one.reason) for one in failures] == [
        ("lost", "OSError: no data")
    ]


def twice(evidence: Evidence) -> Sequence[Measurement]:
    return [*Count()(evidence), *Count()(evidence)]


def test_a_metric_that_gives_a_measurement_twice_is_a_failure() -> None:
    measurements, failures = score(
        [("twice", lambda: twice), ("count", Count)], EVIDENCE, ()
    )
    assert [one.source for one in measurements] == ["count"]
    ((subject, reason),) = [(one.subject, one.reason) for one in failures]
    assert (subject, reason.partition(":")[0]) == (
        "twice",
        "metric 'twice' gives 'episodes kind=all' twice",
    )


def walls(episode: Trajectory, _: Model) -> Facts:
    found = episode.labels["walls"]
    if not found:
        raise ZeroDivisionError("no walls")
    return {"walls": float(found)}


def of_walls(facts: Callable[[Trajectory, Model], Facts]) -> Callable[[], Metric]:
    mean = Mean("walls", "walls", share=False)
    return lambda: EpisodeMetric(columns=("walls",), facts=facts, numbers=(mean,))


def test_facts_that_fail_cost_their_episodes_and_are_one_failure() -> None:
    measurements, failures = score([("walls", of_walls(walls))], EVIDENCE, CONDITIONS)
    assert [(one.value, one.n, one.where) for one in measurements] == [
        (1.0, 1, {}),
        (1.0, 1, {"size": 7}),
        (None, 0, {"size": 9}),
    ]
    (failure,) = failures
    assert failure.subject == "walls"
    assert failure.reason == (
        "fails in 2 of 3 episodes, first in episode 0/0/0: ZeroDivisionError: no walls"
    )
    assert "in walls" in failure.traceback


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"wall": 1.0}, "its facts are wall: it declares walls"),
        ({"walls": "one"}, "its fact 'walls' is 'one': give a number or None"),
    ],
)
def test_facts_that_are_not_as_declared_give_no_number(
    facts: Facts, message: str
) -> None:
    measurements, failures = score(
        [("walls", of_walls(lambda *_: facts)), ("count", Count)], EVIDENCE, ()
    )
    assert [one.name for one in measurements] == ["episodes"]
    (failure,) = failures
    assert failure.reason.endswith(f"first in episode 0/0/0: {message}")


def test_an_episode_that_failed_is_not_asked_for_facts() -> None:
    lost = replace(EPISODES[0], ending="failed", failure="gone")
    evidence = replace(EVIDENCE, trajectories=(lost, EPISODES[1]))
    measurements, failures = score([("walls", of_walls(walls))], evidence, ())
    assert [(one.value, one.n) for one in measurements] == [(1.0, 1)]
    assert failures == ()
