"""Soft-optimal policies against enumeration, their variational characterisation and
finite differences.
"""

from dataclasses import replace
from itertools import product
from math import inf, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_worlds import CASES, Kind, random_mdp, random_policy
from scipy.sparse import csr_array

from gde import Policy, TabularMDP
from gde_plugins.meg import soft_policy
from gde_plugins.meg.solvers.infinite_horizon import Divergent, Stationary
from gde_plugins.meg.solvers.process import Process, observe, process_of

few = settings(max_examples=6)
each_case = pytest.mark.parametrize(("kind", "horizon"), CASES)
seeds = st.integers(0, 10_000)


def objective(process: Process, mdp: TabularMDP, policy: Policy, beta: float) -> float:
    """What soft-optimal policies maximise: beta times expected utility, less divergence
    from random choice.
    """
    seen = observe(process, policy, on_actions=mdp.reward.ndim == 2)
    return (
        beta * seen.occupancy.earns(process.dynamics.utility(mdp.reward))
        - seen.divergence
    )


def fork() -> TabularMDP:
    """Left leads to one further choice of two equally good ways, right to a single way
    that is as good.
    """
    left, right = np.zeros((5, 5)), np.zeros((5, 5))
    left[0, 1], right[0, 2] = 1, 1
    left[1, 3], right[1, 4] = 1, 1
    left[2, 3], right[2, 2] = 1, 1
    for matrix in (left, right):
        matrix[3, 3] = matrix[4, 4] = 1
    return TabularMDP(
        transition=(csr_array(left), csr_array(right)),
        start=np.eye(5)[0],
        reward=np.array([0.0, 0.0, 0.0, 1.0, 1.0]),
    )


@each_case
@few
@given(seeds, st.floats(-1.0, 3.0), st.booleans())
def test_no_policy_does_better_than_the_soft_optimal_one(
    kind: Kind, horizon: int | None, seed: int, beta: float, on_actions: bool
) -> None:
    mdp = random_mdp(seed, kind, on_actions=on_actions)
    beta = abs(beta) if kind == "episodic" else beta
    process = process_of(mdp, horizon)
    value = process.moments(process.dynamics.utility(mdp.reward), beta).value
    assert objective(
        process, mdp, soft_policy(mdp, beta, horizon), beta
    ) == pytest.approx(value, abs=1e-9)
    for other in range(3):
        assert (
            objective(process, mdp, random_policy(seed + other, mdp), beta)
            <= value + 1e-9
        )


@each_case
@few
@given(seeds, st.floats(0.0, 2.0))
def test_the_slope_of_the_soft_value_is_expected_utility(
    kind: Kind, horizon: int | None, seed: int, beta: float
) -> None:
    mdp = random_mdp(seed, kind)
    process, step = process_of(mdp, horizon), 1e-5
    utility = process.dynamics.utility(mdp.reward)
    here, low, high = (
        process.moments(utility, b) for b in (beta, beta - step, beta + step)
    )
    assert here.mean == pytest.approx(
        (high.value - low.value) / (2 * step), rel=1e-6, abs=1e-6
    )
    assert here.variance == pytest.approx(
        (high.mean - low.mean) / (2 * step), rel=1e-5, abs=1e-5
    )
    seen = observe(process, soft_policy(mdp, beta, horizon), on_actions=False)
    assert here.mean == pytest.approx(seen.occupancy.earns(utility), rel=1e-9)


@each_case
@few
@given(seeds)
def test_the_gradient_by_utilities_is_occupancy_and_its_derivative_the_tangent(
    kind: Kind, horizon: int | None, seed: int
) -> None:
    mdp, step = random_mdp(seed, kind), 1e-5
    process = process_of(mdp, horizon)
    change = np.random.default_rng(seed).normal(size=mdp.n_states)
    here, low, high = (
        process.fit(process.dynamics.utility(mdp.reward + h * change))
        for h in (0.0, -step, step)
    )
    visits = sum(now.visits for now in here.flow)
    assert visits @ change == pytest.approx(
        (high.value - low.value) / (2 * step), rel=1e-6, abs=1e-6
    )
    tangent = here.tangent(process.dynamics.utility(change))
    for rise, below, above in zip(tangent, low.flow, high.flow, strict=True):
        np.testing.assert_allclose(
            rise.taken, (above.taken - below.taken) / (2 * step), rtol=1e-4, atol=1e-5
        )
        np.testing.assert_allclose(
            rise.visits,
            (above.visits - below.visits) / (2 * step),
            rtol=1e-4,
            atol=1e-5,
        )


@few
@given(seeds)
def test_rationality_earns(seed: int) -> None:
    mdp = random_mdp(seed, "discounted")
    process = process_of(mdp, None)
    means = [
        process.moments(process.dynamics.utility(mdp.reward), beta).mean
        for beta in np.linspace(-3, 3, 7)
    ]
    assert (np.diff(means) >= -1e-10).all()


def test_an_endless_model_gives_the_published_recursion() -> None:
    """Equation 3 and Definition 5.2, written out as they stand."""
    mdp, beta, horizon = random_mdp(3, "endless"), 0.7, 4
    quality = np.repeat(mdp.reward[:, None], mdp.n_actions, axis=1)
    policies = []
    for _ in range(horizon):
        weights = np.exp(beta * quality)
        policies.append(weights / weights.sum(axis=1, keepdims=True))
        value = np.log(weights.sum(axis=1)) / beta
        quality = mdp.reward[:, None] + np.stack(
            [matrix @ value for matrix in mdp.transition], axis=1
        )
    np.testing.assert_allclose(
        soft_policy(mdp, beta, horizon).probabilities, policies[::-1], atol=1e-12
    )


@each_case
def test_random_choice_at_zero(kind: Kind, horizon: int | None) -> None:
    mdp = random_mdp(0, kind)
    np.testing.assert_allclose(
        soft_policy(mdp, 0.0, horizon).probabilities, 1 / mdp.n_actions, atol=1e-12
    )


@each_case
@pytest.mark.parametrize("sign", [1, -1])
def test_the_limit_is_that_of_large_rationality(
    kind: Kind, horizon: int | None, sign: int
) -> None:
    mdp = random_mdp(5, kind)
    limit, large = (
        soft_policy(mdp, sign * beta, horizon).probabilities for beta in (inf, 2000.0)
    )
    np.testing.assert_allclose(limit, large, atol=1e-6)


def test_the_limit_counts_the_ways_to_stay_optimal_that_an_action_leaves_open() -> None:
    mdp = fork()
    limit = soft_policy(mdp, inf, 3).probabilities
    # Behind left two ways are optimal, behind right one: not an even choice between the
    # two first actions.
    assert limit[0, 0].tolist() == pytest.approx([2 / 3, 1 / 3])
    assert limit[1, 2].tolist() == [1.0, 0.0]


def test_the_limit_has_the_most_entropy_among_optimal_policies() -> None:
    mdp = fork()
    process = process_of(mdp, 3)
    shares = np.linspace(0.1, 0.9, 9)
    divergences = {}
    for first, second in product(shares, shares):
        table = np.tile(soft_policy(mdp, inf, 3).probabilities, 1)
        table[0, 0], table[1, 1] = (first, 1 - first), (second, 1 - second)
        divergences[first, second] = observe(
            process, Policy(probabilities=table), False
        ).divergence
    limit = observe(process, soft_policy(mdp, inf, 3), False).divergence
    assert limit == pytest.approx(log(4 / 3))
    assert limit <= min(divergences.values()) + 1e-12


def test_a_large_model_says_how_large_its_policy_would_be() -> None:
    mdp = random_mdp(0, "endless")
    with pytest.raises(
        ValueError,
        match=r"the policy has 100,000,000 x 5 x 3 = 1,500,000,000 numbers.*estimate with",
    ):
        soft_policy(mdp, 1.0, 100_000_000)


@pytest.mark.parametrize("horizon", [0, -3])
def test_a_horizon_is_positive(horizon: int) -> None:
    with pytest.raises(
        ValueError,
        match=f"horizon must be an integer of at least 1 state visited, got {horizon}",
    ):
        soft_policy(random_mdp(0, "endless"), 1.0, horizon)


def test_rationality_is_a_number() -> None:
    with pytest.raises(ValueError, match="beta must be a number or \\+-inf, got NaN"):
        soft_policy(random_mdp(0, "endless"), np.nan, 3)


def test_the_discount_is_a_probability() -> None:
    with pytest.raises(ValueError, match=r"discount must be from 0 to 1, got 1\.5"):
        soft_policy(replace(random_mdp(0, "endless"), discount=1.5), 1.0, 3)


def test_an_undiscounted_model_without_end_needs_a_horizon() -> None:
    with pytest.raises(
        ValueError,
        match="no terminal state can be reached from state 0: give a horizon, or",
    ):
        soft_policy(random_mdp(0, "endless"), 1.0, None)


def waiting_room() -> TabularMDP:
    """One action waits, which costs 1, the other ends the episode."""
    stay, leave = csr_array(np.eye(2)), csr_array(np.array([[0.0, 1.0], [0.0, 1.0]]))
    ends = np.array([False, True])
    return TabularMDP(
        transition=(stay, leave), start=1.0 - ends, reward=ends - 1.0, terminal=ends
    )


def test_waiting_at_a_cost_in_closed_form() -> None:
    # V = -beta + ln((exp(V) + 1) / 2) gives exp(V) = 1 / (2 exp(beta) - 1).
    process = process_of(waiting_room(), None)
    value = process.moments(process.dynamics.utility(waiting_room().reward), 0.5).value
    assert np.exp(value) == pytest.approx(1 / (2 * np.exp(0.5) - 1), rel=1e-12)


def test_a_policy_that_gains_by_every_step_never_ends() -> None:
    process = process_of(waiting_room(), None)
    assert (
        process.moments(process.dynamics.utility(waiting_room().reward), -1.0).value
        == inf
    )
    with pytest.raises(
        Divergent, match="never ends: give a horizon, or the model a discount below 1"
    ):
        soft_policy(waiting_room(), -1.0, None)


@pytest.mark.parametrize("seed", range(3))
def test_without_horizon_it_does_not_matter_what_was_found_before(seed: int) -> None:
    """The search for one rationality begins where that for the last one ended."""
    mdp = replace(random_mdp(seed, "endless"), discount=0.9)
    process = Stationary(mdp)
    utility = process.dynamics.utility(mdp.reward)
    for beta in (0.0, 30.0, 0.1, -3.0, 3.0):
        np.testing.assert_allclose(
            process.moments(utility, beta),
            Stationary(mdp).moments(utility, beta),
            rtol=1e-9,
        )
