"""The distance of rewards from progress: its values, its conventions and its means over
worlds.
"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import pearsonr

from gde.data.evidence import Evidence
from gde.data.measure import Measures
from gde.data.observation import State
from gde.data.result import Measurement
from gde.data.reward import RewardTrace
from gde.data.trajectory import Trajectory
from gde.testing import check_metric, check_plugin
from gde.testing.samples import sample_evidence
from gde_plugins.reward_baselines import plugin
from gde_plugins.reward_baselines.epic import distance, epic
from gde_plugins.reward_baselines.models import progress, unknown

SAMPLE = sample_evidence(6)
EPISODES = [one for one in SAMPLE.trajectories if one.turns]
UNRELATED = np.sqrt(0.5)
series = arrays(
    np.float64, 12, elements=st.floats(-10, 10).map(lambda value: round(value, 3))
)


def judged(
    model: str = "m", keep: slice = slice(None), **change: object
) -> tuple[RewardTrace, ...]:
    """Traces that are the truth itself, of the first episodes, unless told
    otherwise.
    """
    traces = [
        RewardTrace(model=model, episode=str(one.key), values=progress(one))
        for one in EPISODES[keep]
    ]
    return tuple(replace(trace, **change) for trace in traces)  # type: ignore[arg-type]


def found(
    *traces: RewardTrace, evidence: Evidence = SAMPLE
) -> dict[tuple[str, object], Measurement]:
    measured = epic(replace(evidence, reward_traces=traces))
    return {(one.name, one.where.get("reward")): one for one in measured}


@given(a=series, b=series)
def test_the_distance_is_that_of_pearson_s_correlation(
    a: np.ndarray, b: np.ndarray
) -> None:
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        assert distance(a, b) == (0 if np.array_equal(a, b) else UNRELATED)
    else:
        assert distance(a, b) == pytest.approx(
            np.sqrt((1 - pearsonr(a, b).statistic) / 2), abs=1e-6
        )
    assert distance(a, b) == distance(b, a)


@given(a=series, b=series, scale=st.floats(1e-3, 1e3), shift=st.floats(-1e3, 1e3))
def test_scale_and_shift_make_no_difference(
    a: np.ndarray, b: np.ndarray, scale: float, shift: float
) -> None:
    if np.ptp(a) and np.ptp(b) and np.ptp(scale * a + shift) > 1e-9:
        assert distance(scale * a + shift, b) == pytest.approx(distance(a, b), abs=1e-4)
        assert distance(-a, b) ** 2 == pytest.approx(1 - distance(a, b) ** 2)


def test_no_distance_is_beyond_that_of_the_opposite() -> None:
    """Rounding carries some correlations beyond one."""
    rng = np.random.default_rng(0)
    found = []
    for a in rng.normal(size=(400, 7)):
        opposite = 0.3 - a / 7
        found.append(distance(a, opposite))
    assert max(found) == pytest.approx(min(found)) == 1
    assert max(found) <= 1


@pytest.mark.parametrize(
    ("T", "printed"), [(5, 0.5513), (10, 0.5385), (20, 0.5321), (50, 0.5283)]
)
def test_the_monotonic_baseline_on_a_success_and_a_failure_of_equal_length(
    T: int, printed: float
) -> None:
    """With t / T of mean m and variance v, r = sqrt(v / (2 v + m^2)): it tends to
    sqrt(1 / 5), the distance to 0.526. Shen et al. (2026), table 1, print 0.508 to
    0.589.
    """
    rising, flat = np.arange(1, T + 1) / T, np.zeros(T)
    assert distance(
        np.concatenate([rising, rising]), np.concatenate([rising, flat])
    ) == pytest.approx(printed, abs=5e-5)


def test_the_truth_is_at_no_distance_and_its_opposite_at_the_greatest() -> None:
    opposite = tuple(
        replace(trace, model="opposite", values=-trace.values) for trace in judged()
    )
    flat = tuple(
        replace(trace, model="flat", values=np.full_like(trace.values, 0.3))
        for trace in judged()
    )
    measured = found(*judged(), *opposite, *flat)
    assert measured["epic", "m"].value == 0
    # These are three worlds, too few for an interval.
    assert measured["epic", "m"].interval is None
    assert measured["epic", "flat"].value == pytest.approx(UNRELATED)
    assert measured["epic", "opposite"].value == 1


@given(st.floats(-10, 10).map(lambda value: round(value, 3)))
def test_no_constant_is_nearer_to_the_truth_than_another(value: float) -> None:
    """Also where an agent never comes nearer: its world is left out."""
    idle = [one for one in EPISODES if np.ptp(progress(one)) == 0]
    moving = {one.world.id for one in EPISODES if one not in idle}
    alone = {one.world.id for one in idle} - moving
    assert idle
    flat = tuple(
        replace(trace, values=np.full_like(trace.values, value)) for trace in judged()
    )
    measured = found(*flat)
    assert measured["epic", "m"].value == pytest.approx(UNRELATED)
    assert measured["epic", "m"].n == len(moving)
    left_out = measured["epic.unvaried", "m"]
    assert left_out.value == len(alone) / len(moving | alone)


def test_the_truth_has_any_scale_and_shift_in_a_world() -> None:
    worlds = sorted({one.world.id for one in EPISODES})
    places = [worlds.index(one.world.id) for one in EPISODES]
    other = tuple(
        replace(trace, values=place + (1 + place) * trace.values)
        for place, trace in zip(places, judged(), strict=True)
    )
    assert found(*other)["epic", "m"].value == 0


def test_without_progress_there_is_no_distance() -> None:
    idle = tuple(one for one in EPISODES if np.ptp(progress(one)) == 0)
    measured = found(*judged(), evidence=replace(SAMPLE, trajectories=idle))
    assert measured["epic", "m"].value is None
    assert measured["epic", "m"].reason.startswith("there is no progress")


def test_the_episodes_of_a_world_are_joined_before_they_are_correlated() -> None:
    """Two rewards that are each perfect within its episode, but not on one scale, are
    not perfect together.
    """
    one, other = (
        EPISODES[0],
        replace(EPISODES[0], key=replace(EPISODES[0].key, repeat=1)),
    )
    values = progress(one)
    traces = [
        RewardTrace(model="m", episode=str(each.key), values=values + offset)
        for each, offset in ((one, 0.0), (other, 5.0))
    ]
    measured = found(*traces, evidence=replace(SAMPLE, trajectories=(one, other)))
    joined, truth = (
        np.concatenate([trace.values for trace in traces]),
        np.concatenate([values, values]),
    )
    assert measured["epic", "m"].value == pytest.approx(
        np.sqrt((1 - pearsonr(joined, truth).statistic) / 2)
    )
    assert measured["epic", "m"].n == 1
    assert measured["epic", "m"].interval is None


def test_worlds_count_alike_however_many_episodes_they_have() -> None:
    worlds = [
        replace(EPISODES[0], world=replace(EPISODES[0].world, id=name, base=""))
        for name in "ab"
    ]
    episodes = [
        replace(worlds[0], key=replace(worlds[0].key, world=world, repeat=0))
        if world
        else worlds[1]
        for world in range(4)
    ]
    traces = [
        RewardTrace(
            model="m",
            episode=str(one.key),
            values=progress(one) if one.world.id == "b" else -progress(one),
        )
        for one in episodes
    ]
    measured = found(*traces, evidence=replace(SAMPLE, trajectories=tuple(episodes)))
    assert measured["epic", "m"].value == pytest.approx(0.5)
    assert measured["epic", "m"].n == 2


def test_what_a_model_did_not_judge_is_counted_and_left_out() -> None:
    some = judged(keep=slice(0, 2))
    failed = judged("failing", failure="no opinion", values=np.empty(0))
    measured = found(*some, *failed, *judged("whole"))
    assert measured["epic", "m"].value == 0
    assert 0 < (measured["epic.unjudged", "m"].value or 0) < 1
    assert measured["epic.unjudged", "whole"].value == 0
    assert (
        measured["epic", "failing"].reason
        == "the reward model gave rewards for none of the episodes"
    )
    assert measured["epic.unjudged", "failing"].value == 1


def test_of_a_world_the_share_of_unjudged_episodes_counts() -> None:
    """Two of the three episodes of the one world are judged."""
    again = replace(EPISODES[0], key=replace(EPISODES[0].key, repeat=1))
    evidence = replace(SAMPLE, trajectories=(EPISODES[0], again, EPISODES[1]))
    measured = found(*judged(keep=slice(0, 2)), evidence=evidence)
    unjudged = measured["epic.unjudged", "m"]
    assert (unjudged.value, unjudged.n) == (pytest.approx(1 / 3), 1)


def recorded(task: str, side: str, *rewards: float) -> Trajectory:
    """A successful episode of a task whose states record the true rewards."""
    turns = [
        replace(EPISODES[0].turns[0], index=i, state=State(facts={"reward": reward}))
        for i, reward in enumerate(rewards)
    ]
    world = replace(
        EPISODES[0].world, id=f"{task}/{side}", base=task, labels={"side": side}
    )
    key = replace(EPISODES[0].key, world=int(task), repeat=int(side == "negative"))
    return replace(EPISODES[0], key=key, world=world, turns=tuple(turns))


def test_a_recorded_task_counts_with_both_sides_alone() -> None:
    """The side is the record's: both episodes of a task end as a success here."""
    episodes = (
        recorded("0", "positive", 0.5, 1.0),
        recorded("0", "negative", 0.0, 0.0),
        recorded("1", "positive", 0.25, 1.0),
        recorded("2", "negative", 0.0, 0.25),
    )
    traces = [
        RewardTrace(model="m", episode=str(one.key), values=np.array([1.0, 2.0]))
        for one in episodes
    ]
    measured = found(*traces, evidence=replace(SAMPLE, trajectories=episodes))
    correlation = pearsonr([1, 2, 1, 2], [0.5, 1, 0, 0]).statistic
    assert measured["epic", "m"].value == pytest.approx(np.sqrt((1 - correlation) / 2))
    assert measured["epic", "m"].n == 1
    assert (
        measured["epic.one_sided", "m"].value,
        measured["epic.one_sided", "m"].n,
    ) == (pytest.approx(2 / 3), 3)
    assert measured["epic.unjudged", "m"].value == 0


def test_without_a_task_of_two_sides_there_is_no_distance() -> None:
    episodes = (
        recorded("0", "positive", 0.5, 1.0),
        recorded("1", "negative", 0.0, 0.0),
    )
    traces = [
        RewardTrace(model="m", episode=str(one.key), values=np.array([1.0, 2.0]))
        for one in episodes
    ]
    measured = found(*traces, evidence=replace(SAMPLE, trajectories=episodes))
    assert measured["epic", "m"].value is None
    assert measured["epic", "m"].reason.startswith(
        "no task has both a success and a failure"
    )
    assert measured["epic.one_sided", "m"].value == 1


def test_of_several_reasons_the_first_is_told_with_the_number_of_all() -> None:
    bare = unvalued(EPISODES[0])
    partly = replace(
        EPISODES[1], turns=(*EPISODES[1].turns[:1], *unvalued(EPISODES[1]).turns[1:])
    )
    evidence = replace(
        SAMPLE, reward_traces=judged(), trajectories=(EPISODES[2], bare, partly)
    )
    (only,) = epic(evidence)
    reasons = [unknown(one) for one in (bare, partly)]
    assert reasons[0] != reasons[1]
    assert only.reason == (f"2 of 3 episodes have no certified progress: {reasons[0]}")


def unvalued(one: Trajectory) -> Trajectory:
    return replace(one, turns=tuple(replace(turn, value=None) for turn in one.turns))


@pytest.mark.parametrize(
    ("evidence", "reason"),
    [
        (SAMPLE, "no reward model has judged an episode"),
        (
            replace(SAMPLE, reward_traces=judged(), trajectories=()),
            "no episode was finished",
        ),
        (
            replace(
                SAMPLE,
                reward_traces=judged(),
                trajectories=(*EPISODES[:2], unvalued(EPISODES[2])),
            ),
            "1 of 3 episodes have no certified progress: .* turns have no certified value",
        ),
    ],
)
def test_what_cannot_be_measured_says_why(evidence: Evidence, reason: str) -> None:
    (only,) = epic(evidence)
    with pytest.raises(ValueError, match=reason):
        raise ValueError(only.reason)


def test_the_metric_keeps_the_contract_and_its_numbers_have_a_meaning() -> None:
    check_metric(
        lambda: epic, replace(SAMPLE, reward_traces=(*judged(), *judged("other")))
    )
    check_plugin(plugin)
    (offer,) = (each for each in plugin.gde_metrics() if each.name == "epic")
    measures = Measures(offer.measures)
    for one in found(*judged()).values():
        assert measures[one.name].title != one.name
        assert measures[one.name].unit
