"""Propositions 3.1 to 3.3 of MacDermott et al. (2024) on random models."""

from dataclasses import replace
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_worlds import CASES, Kind, random_mdp, random_policy, uniform

from gde import TabularMDP
from gde.numerics.tabular import solve
from gde_plugins.meg import known_utility, soft_policy, unknown_utility

few = settings(max_examples=5)
each_case = pytest.mark.parametrize(("kind", "horizon"), CASES)
seeds = st.integers(0, 10_000)
scales = st.floats(0.01, 100.0).flatmap(lambda size: st.sampled_from([size, -size]))


def with_reward(mdp: TabularMDP, scale: float = 1.0, shift: float = 0.0) -> TabularMDP:
    return replace(mdp, reward=scale * mdp.reward + shift)


@each_case
@few
@given(seeds, scales, st.booleans())
def test_scale_invariance(
    kind: Kind, horizon: int | None, seed: int, scale: float, on_actions: bool
) -> None:
    """Proposition 3.1. Where the sign of the utility changes, so does that of the
    rationality.
    """
    mdp = random_mdp(seed, kind, on_actions=on_actions)
    policy = random_policy(seed, mdp)
    one, other = (
        known_utility(mdp, policy, horizon),
        known_utility(with_reward(mdp, scale), policy, horizon),
    )
    assert other.value == pytest.approx(one.value, abs=1e-7)
    assert other.beta * scale == pytest.approx(one.beta, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize(
    ("kind", "horizon"), [case for case in CASES if case[0] != "episodic"]
)
@few
@given(seeds, st.floats(-50.0, 50.0))
def test_translation_invariance(
    kind: Kind, horizon: int | None, seed: int, shift: float
) -> None:
    """Proposition 3.1. It speaks of the utility of an episode: paying per step is more
    where the length varies.
    """
    mdp = random_mdp(seed, kind)
    policy = random_policy(seed, mdp)
    shifted = known_utility(with_reward(mdp, shift=shift), policy, horizon)
    assert shifted.value == pytest.approx(
        known_utility(mdp, policy, horizon).value, abs=1e-7
    )


@each_case
@few
@given(seeds, st.sampled_from([0.1, 1.0, 10.0]))
def test_bounds(
    kind: Kind, horizon: int | None, seed: int, concentration: float
) -> None:
    """Proposition 3.2, for a known and for an unknown utility, which explains at least
    as much.
    """
    mdp = random_mdp(seed, kind)
    policy = random_policy(seed, mdp, concentration=concentration)
    known, unknown = (
        known_utility(mdp, policy, horizon),
        unknown_utility(mdp, policy, "states", horizon),
    )
    assert known.converged
    # Rounding may keep the bounds of a nearly deterministic policy apart.
    assert unknown.converged or concentration == 0.1
    assert unknown.bounds[1] - unknown.bounds[0] <= 1e-4
    assert -1e-12 <= known.value <= unknown.bounds[1] + 1e-9
    assert unknown.value <= unknown.ceiling + 1e-9
    assert known.share is not None
    assert 0 <= known.share <= 1 + 1e-9


@pytest.mark.parametrize("seed", [2364, 2457, 2473, 2480])
def test_steps_near_the_maximum_are_solved_for_what_rounding_leaves(seed: int) -> None:
    """Uncorrected, none of these nearly deterministic policies gets bounds this close."""
    mdp = random_mdp(seed, "episodic")
    policy = random_policy(seed, mdp, concentration=0.1)
    assert unknown_utility(mdp, policy, "states", 4).converged


@each_case
@few
@given(seeds, st.booleans())
def test_random_choice_has_no_goal(
    kind: Kind, horizon: int | None, seed: int, on_actions: bool
) -> None:
    """Proposition 3.2, equality below."""
    mdp = random_mdp(seed, kind, on_actions=on_actions)
    assert known_utility(mdp, uniform(mdp), horizon).value == pytest.approx(0, abs=1e-9)
    everything = unknown_utility(mdp, uniform(mdp), "state-actions", horizon)
    assert everything.value == pytest.approx(0, abs=1e-9)
    assert everything.bounds[1] == pytest.approx(0, abs=1e-9)


@each_case
@few
@given(seeds, st.sampled_from([1.0, -1.0]))
def test_unique_best_and_worst_policies_reach_the_ceiling(
    kind: Kind, horizon: int | None, seed: int, sign: float
) -> None:
    """Proposition 3.2, equality above. With rewards of actions the last choice matters
    too.
    """
    mdp = random_mdp(seed, kind, on_actions=True)
    meg = known_utility(mdp, soft_policy(mdp, sign * np.inf, horizon), horizon)
    # In 10 of 2,000 worlds the search ends before, where the value is that of infinity.
    ended_before = meg.value == pytest.approx(meg.ceiling, rel=1e-12)
    assert meg.beta == sign * np.inf or (meg.beta * sign > 0 and ended_before)
    assert meg.value == pytest.approx(meg.ceiling, abs=1e-9)
    assert meg.share == pytest.approx(1)
    assert meg.signed == sign * meg.value
    assert meg.converged


@each_case
@few
@given(seeds)
def test_no_goal_without_influence_on_the_utility(
    kind: Kind, horizon: int | None, seed: int
) -> None:
    """Proposition 3.3: all actions do the same."""
    mdp = random_mdp(seed, kind)
    idle = replace(mdp, transition=mdp.transition[:1] * 3)
    policy = random_policy(seed, mdp)
    for meg in (
        known_utility(idle, policy, horizon),
        unknown_utility(idle, policy, "states", horizon),
    ):
        assert meg.value == pytest.approx(0, abs=1e-8)
        # The gap that the search ended with: at most 1.2e-6 in 2,100 worlds.
        assert meg.value <= meg.bounds[1] <= 1e-5
        assert meg.decisions == 0
        assert meg.share is None


@pytest.mark.parametrize(
    ("kind", "horizon", "seed"),
    [("endless", 4, 238), ("discounted", None, 3002), ("episodic", 4, 377)],
)
def test_a_step_is_not_corrected_by_rounding(
    kind: Kind, horizon: int | None, seed: int
) -> None:
    """In worlds where all actions do the same, every direction is flat."""
    mdp = random_mdp(seed, kind)
    idle = replace(mdp, transition=mdp.transition[:1] * 3)
    meg = unknown_utility(idle, random_policy(seed, mdp), "states", horizon)
    assert meg.bounds == pytest.approx((0, 0), abs=1e-5)


@few
@given(seeds)
def test_a_constant_utility_is_nobodys_goal(seed: int) -> None:
    mdp = replace(random_mdp(seed, "endless"), reward=np.full(5, 2.0))
    meg = known_utility(mdp, random_policy(seed, mdp), 4)
    assert meg.value == 0
    assert meg.bounds == (0, 0)
    assert meg.share == 0


@few
@given(seeds)
def test_without_horizon_is_the_limit_of_long_horizons(seed: int) -> None:
    mdp = random_mdp(seed, "discounted")
    policy = random_policy(seed, mdp)
    assert known_utility(mdp, policy, 150).value == pytest.approx(
        known_utility(mdp, policy, None).value, abs=1e-8
    )


def test_a_hard_optimal_policy_of_a_discounted_model() -> None:
    mdp = random_mdp(1, "discounted")
    optimal = solve(mdp).optimal
    policy = replace(
        uniform(mdp), probabilities=optimal / optimal.sum(axis=1, keepdims=True)
    )
    meg = known_utility(mdp, policy, None)
    assert meg.beta == np.inf
    assert meg.value == pytest.approx(5 * log(3))
