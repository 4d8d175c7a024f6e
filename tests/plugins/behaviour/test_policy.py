"""Entropy, divergence and calibration of the empirical policy, against plain
re-implementations.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, product
from math import log2
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.parts.metric import Metric
from gde_plugins.behaviour.calibration import calibration
from gde_plugins.behaviour.policy import policy

ACTIONS = ("UP", "DOWN", "LEFT", "RIGHT")
Episode = Callable[..., Trajectory]
Steps = list[tuple[int, str | None]]
"""States 0 to 2 have optimal actions, state 3 has none."""
STEPS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from([*ACTIONS, None])),
    min_size=1,
    max_size=12,
)
WORLDS = st.lists(st.lists(STEPS, min_size=1, max_size=3), min_size=1, max_size=4)


def evidence_of(episode: Episode, worlds: Sequence[Sequence[Steps]]) -> Evidence:
    pairs = [
        (world, repeat, steps)
        for world, walks in enumerate(worlds)
        for repeat, steps in enumerate(walks)
    ]
    return Evidence(
        trajectories=tuple(
            episode(world, steps, repeat=repeat) for world, repeat, steps in pairs
        )
    )


def values(measurements: Sequence[Measurement]) -> dict[str, float | None]:
    return {measurement.name: measurement.value for measurement in measurements}


def counted(walks: Sequence[Steps]) -> dict[int, Counter[str]]:
    """State to its usable answers, for the states that have any."""
    states: dict[int, Counter[str]] = {}
    for state, action in (step for walk in walks for step in walk):
        if action is not None:
            states.setdefault(state, Counter())[action] += 1
    return states


def naive_entropy(counts: Counter[str]) -> float:
    shares = np.array(list(counts.values())) / counts.total()
    return float(-(shares * np.log2(shares)).sum())


def naive_divergence(counts: Counter[str], best: Sequence[str]) -> float:
    p = np.array([counts[action] / counts.total() for action in ACTIONS])
    q = np.array([(action in best) / len(best) for action in ACTIONS])
    return float(
        sum(
            np.sum(x[x > 0] * np.log2(x[x > 0] / ((p + q) / 2)[x > 0])) / 2
            for x in (p, q)
        )
    )


@given(worlds=WORLDS)
def test_the_policy_numbers_average_states_then_worlds(
    episode: Episode, optimal: Mapping[int, Sequence[str]], worlds: list[list[Steps]]
) -> None:
    found = values(policy(evidence_of(episode, worlds)))
    states = [counted(walks) for walks in worlds]
    entropies = [
        fmean(map(naive_entropy, of_world.values())) for of_world in states if of_world
    ]
    divergences = [
        fmean(
            naive_divergence(counts, optimal[state])
            for state, counts in of_world.items()
            if optimal[state]
        )
        for of_world in states
        if any(optimal[state] for state in of_world)
    ]
    assert found["policy.entropy"] == (
        pytest.approx(fmean(entropies)) if entropies else None
    )
    assert found["policy.jsd"] == (
        pytest.approx(fmean(divergences)) if divergences else None
    )
    visited = [{state for walk in walks for state, _ in walk} for walks in worlds]
    silent = sum(
        len(all_states) - len(of_world)
        for all_states, of_world in zip(visited, states, strict=True)
    )
    assert found["policy.states.unanswered"] == silent
    assert found["policy.states.hopeless"] == sum(
        3 in all_states for all_states in visited
    )


def naive_bins(
    samples: Sequence[tuple[float, float, bool]], n: float, closed_above: bool
) -> float:
    """Samples are (weight, confidence, correct); a confidence in tenths is told apart
    exactly.
    """
    error = 0.0
    for low, high in [(tenth, tenth + 1) for tenth in range(10)]:
        inside = [
            (weight, confidence, correct)
            for weight, confidence, correct in samples
            if (
                low < round(10 * confidence, 9) <= high
                if closed_above
                else low <= round(10 * confidence, 9) < high
            )
        ]
        if total := sum(weight for weight, _, _ in inside):
            accuracy = sum(weight * correct for weight, _, correct in inside) / total
            confidence = (
                sum(weight * confidence for weight, confidence, _ in inside) / total
            )
            error += total / n * abs(accuracy - confidence)
    return error


@given(worlds=WORLDS)
def test_calibration_follows_equations_6_to_8_in_each_world(
    episode: Episode, optimal: Mapping[int, Sequence[str]], worlds: list[list[Steps]]
) -> None:
    errors = []
    for states in filter(None, map(counted, worlds)):
        pairs = [
            (float(count), count / counts.total(), action in optimal[state])
            for state, counts in states.items()
            for action, count in counts.items()
        ]
        errors.append(
            naive_bins(pairs, sum(weight for weight, _, _ in pairs), closed_above=True)
        )
    found = values(calibration(evidence_of(episode, worlds)))
    assert found["calibration.ece"] == (
        pytest.approx(fmean(errors)) if errors else None
    )


def naive_released(
    states: Mapping[int, Counter[str]], optimal: Mapping[int, Sequence[str]]
) -> float:
    order = ("LEFT", "RIGHT", "UP", "DOWN")
    shares = np.array(
        [
            [counts[action] / counts.total() for action in order]
            for counts in states.values()
        ]
    )
    confidence, edges = shares.max(axis=1), np.linspace(0, 1, 11)
    favourites = zip(states, shares.argmax(axis=1), strict=True)
    right = np.array(
        [order[favourite] in optimal[state] for state, favourite in favourites]
    )
    inside = [
        (confidence >= low) & (confidence < high) for low, high in pairwise(edges)
    ]
    return sum(
        of_bin.mean() * abs((right - confidence)[of_bin].mean())
        for of_bin in inside
        if of_bin.any()
    )


@given(worlds=WORLDS)
def test_the_released_error_is_the_naive_one_in_each_world(
    episode: Episode, optimal: Mapping[int, Sequence[str]], worlds: list[list[Steps]]
) -> None:
    errors = [
        naive_released(states, optimal) for states in map(counted, worlds) if states
    ]
    found = values(calibration(evidence_of(episode, worlds)))
    assert found["calibration.ece_released"] == (
        pytest.approx(fmean(errors)) if errors else None
    )


def test_the_released_error_drops_sure_states_and_takes_the_first_of_equal_actions(
    episode: Episode,
) -> None:
    # State 0 is always answered wrongly: the released error does not notice, the
    # published one is 1 there.
    sure = evidence_of(episode, [[[(0, "DOWN")] * 4]])
    assert values(calibration(sure)) == {
        "calibration.ece": 1,
        "calibration.ece_released": 0,
    }
    # In state 1 UP and LEFT are optimal, in state 0 only UP: of RIGHT and UP, RIGHT
    # comes first and is wrong.
    tied = evidence_of(episode, [[[(0, "UP"), (0, "RIGHT"), (1, "DOWN"), (1, "LEFT")]]])
    # Both states fall into one bin, one right and one wrong at confidence one half.
    assert values(calibration(tied))["calibration.ece_released"] == 0
    alone = evidence_of(episode, [[[(0, "UP"), (0, "RIGHT")]]])
    assert values(calibration(alone))["calibration.ece_released"] == 0.5


def test_released_bins_have_the_rounding_of_the_released_code(episode: Episode) -> None:
    # Confidences 0.6 (right, in state 0) and 0.5 (wrong): exact bins hold one each, the
    # released edge 6 * 0.1 joins them because it is a little more than 0.6.
    right = [(0, action) for action in ("UP", "UP", "UP", "DOWN", "LEFT")]
    wrong = [(1, action) for action in ("RIGHT", "RIGHT", "UP", "LEFT")]
    found = values(calibration(evidence_of(episode, [[[*right, *wrong]]])))
    assert found["calibration.ece_released"] == pytest.approx(
        abs((1 - 0.6) + (0 - 0.5)) / 2
    )


def test_an_agent_that_varies_between_optimal_actions_is_called_under_confident(
    episode: Episode,
) -> None:
    found = values(calibration(evidence_of(episode, [[[(1, "UP"), (1, "LEFT")]]])))
    assert found == {"calibration.ece": 0.5, "calibration.ece_released": 0.5}


@pytest.mark.parametrize("metric", [policy, calibration])
@given(worlds=WORLDS, rng=st.randoms(use_true_random=False))
def test_the_order_of_episodes_changes_nothing(
    metric: Metric, episode: Episode, worlds: list[list[Steps]], rng
) -> None:
    evidence = evidence_of(episode, worlds)
    mixed = list(evidence.trajectories)
    rng.shuffle(mixed)
    for one, other in zip(
        metric(evidence),
        metric(replace(evidence, trajectories=tuple(mixed))),
        strict=True,
    ):
        assert one.value == (
            None if other.value is None else pytest.approx(other.value)
        )
        assert (one.interval is None) == (other.interval is None)
        assert one.interval is None or one.interval == pytest.approx(other.interval)


def test_intervals_resample_clusters_not_worlds(episode: Episode) -> None:
    good, bad = [(0, "UP")], [(0, "DOWN")]
    alone = [episode(world, good if world % 2 else bad) for world in range(24)]
    paired = [
        replace(one, world=replace(one.world, base=f"b{one.key.world // 4}"))
        for one in alone
    ]
    single = [replace(one, world=replace(one.world, base="b")) for one in alone]
    intervals = {}
    for name, walks in {"alone": alone, "paired": paired, "single": single}.items():
        (jsd,) = [
            one
            for one in policy(Evidence(trajectories=tuple(walks)))
            if one.name == "policy.jsd"
        ]
        assert (jsd.value, jsd.n) == (0.5, 24)
        intervals[name] = jsd.interval
    # Six clusters that are alike, half good each, are six trials; one cluster says
    # nothing.
    assert intervals["alone"][0] < 0.5 < intervals["alone"][1]
    exact = binomtest(3, 6).proportion_ci()
    assert intervals["paired"] == pytest.approx((exact.low, exact.high))
    assert intervals["single"] is None


def test_what_cannot_be_measured_says_why(episode: Episode) -> None:
    silent = evidence_of(episode, [[[(0, None)]]])
    assert {one.reason for one in calibration(silent)} == {"no usable answer was given"}
    assert [one.reason for one in policy(silent)][:2] == [
        "no usable answer was given",
        "no usable answer was given where the goal could still be reached",
    ]
    walk = episode(0, [(0, "UP")])
    uncertain = Evidence(
        trajectories=(replace(walk, turns=(replace(walk.turns[0], optimal=None),)),)
    )
    reasons = {one.name: one.reason for one in policy(uncertain)}
    assert reasons["policy.entropy"] == ""
    assert (
        reasons["policy.jsd"]
        == reasons["policy.states.hopeless"]
        == "1 of 1 turns have no certified optimal actions"
    )


def test_divergence_from_the_nearest_ignores_how_ties_are_broken(
    episode: Episode,
) -> None:
    for mixture in product(("UP", "LEFT"), repeat=3):
        found = values(
            policy(evidence_of(episode, [[[(1, action) for action in mixture]]]))
        )
        assert found["policy.jsd_nearest"] == 0
        assert found["policy.jsd"] > 0
    even = values(policy(evidence_of(episode, [[[(1, "UP"), (1, "LEFT")]]])))
    assert (
        even["policy.jsd"],
        even["policy.entropy"],
        even["policy.entropy_optimal"],
    ) == (0, 1, 1)
    assert values(policy(evidence_of(episode, [[[(2, "UP")]]])))[
        "policy.entropy_optimal"
    ] == log2(3)
