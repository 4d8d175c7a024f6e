"""Metrics meet the whole run and each condition; what they cannot measure is said,
never invented.
"""

from collections.abc import Sequence

import numpy as np
import pytest

from gde.data.evidence import Evidence
from gde.data.observation import World
from gde.data.result import Measurement
from gde.data.reward import RewardTrace
from gde.data.trajectory import EpisodeKey, Trajectory
from gde.stages.evidence import restricted
from gde.stages.scoring import score

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
    part = restricted(EVIDENCE, {"size": 7}, lambda head: head.condition == 0)
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
