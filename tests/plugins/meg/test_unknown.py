"""MEG with respect to classes of utilities: certificates, agreement between classes,
and bad input.
"""

from dataclasses import replace
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_worlds import CASES, Kind, random_mdp, random_policy, uniform
from scipy.sparse import csr_array

from gde import Policy, TabularMDP
from gde_plugins.meg import known_utility, unknown_utility
from gde_plugins.meg.solvers.process import observe, process_of
from gde_plugins.meg.solvers.reachable import reachable
from gde_plugins.meg.worlds import cliff_world

few = settings(max_examples=4)
each_case = pytest.mark.parametrize(("kind", "horizon"), CASES)
seeds = st.integers(0, 10_000)


def deterministic(seed: int, n_states: int = 5, n_actions: int = 3) -> Policy:
    choices = np.random.default_rng(seed).integers(n_actions, size=n_states)
    return Policy(probabilities=np.eye(n_actions)[choices])


@each_case
@few
@given(seeds, st.sampled_from(["states", "state-actions"]))
def test_the_optimum_is_certified(
    kind: Kind, horizon: int | None, seed: int, utilities: str
) -> None:
    mdp = random_mdp(seed, kind)
    policy = random_policy(seed, mdp, concentration=1.0)
    meg = unknown_utility(mdp, policy, utilities, horizon)  # type: ignore[arg-type]
    assert meg.converged
    assert meg.bounds[0] == meg.value <= meg.bounds[1]
    departs = observe(process_of(mdp, horizon), policy, on_actions=False).divergence
    assert meg.bounds[1] <= departs + 1e-6


@pytest.mark.parametrize(
    ("kind", "horizon"), [("endless", 4), ("discounted", 4), ("discounted", None)]
)
@few
@given(seeds)
def test_the_optimum_of_a_deterministic_policy_is_certified_where_it_is_never_reached(
    kind: Kind, horizon: int | None, seed: int
) -> None:
    """No finite utility makes a soft-optimal policy deterministic: the maximum is a
    supremum.
    """
    mdp = random_mdp(seed, kind)
    meg = unknown_utility(mdp, deterministic(seed), "state-actions", horizon)
    assert meg.converged
    assert meg.value == pytest.approx(meg.ceiling, abs=1e-5)
    states = unknown_utility(mdp, deterministic(seed), "states", horizon)
    assert states.bounds[0] <= states.bounds[1] <= meg.bounds[1] + 1e-9


@few
@given(seeds)
def test_a_stationary_policy_is_explained_by_rewards_of_actions_without_horizon(
    seed: int,
) -> None:
    """MacDermott et al. (2024), section 7: towards its own actions every policy is as
    goal-directed as can be.
    """
    mdp = random_mdp(seed, "discounted")
    policy = random_policy(seed, mdp, concentration=1.0)
    departs = observe(process_of(mdp, None), policy, on_actions=True).divergence
    assert unknown_utility(mdp, policy, "state-actions", None).value == pytest.approx(
        departs, abs=1e-5
    )


@each_case
@few
@given(seeds)
def test_larger_classes_explain_more(
    kind: Kind, horizon: int | None, seed: int
) -> None:
    mdp = random_mdp(seed, kind)
    policy = random_policy(seed, mdp, concentration=1.0)
    features = np.stack(
        [mdp.reward, np.random.default_rng(seed).normal(size=mdp.n_states)], axis=1
    )
    classes = (mdp.reward[:, None], features, "states", "state-actions")
    values = [
        unknown_utility(mdp, policy, utilities, horizon).value for utilities in classes
    ]  # type: ignore[arg-type]
    assert values[0] == pytest.approx(
        known_utility(mdp, policy, horizon).value, abs=1e-6
    )
    assert (np.diff(values) >= -1e-6).all()


@each_case
@few
@given(seeds)
def test_one_hot_features_are_the_table(
    kind: Kind, horizon: int | None, seed: int
) -> None:
    mdp = random_mdp(seed, kind)
    policy = random_policy(seed, mdp, concentration=1.0)
    table = unknown_utility(mdp, policy, "states", horizon)
    features = unknown_utility(mdp, policy, np.eye(mdp.n_states), horizon)
    assert features.value == pytest.approx(table.value, abs=1e-6)
    assert features.weights is not None
    assert features.weights.shape == (mdp.n_states,)


@few
@given(seeds)
def test_the_utility_found_has_the_value_as_a_known_one(seed: int) -> None:
    mdp = random_mdp(seed, "endless")
    policy = random_policy(seed, mdp, concentration=1.0)
    meg = unknown_utility(mdp, policy, "states", 4)
    assert meg.utility is not None
    known = known_utility(replace(mdp, reward=meg.utility), policy, 4)
    assert known.value == pytest.approx(meg.value, abs=1e-6)
    assert known.beta == pytest.approx(1.0, abs=1e-2)


def test_what_is_never_visited_is_avoided_at_any_price() -> None:
    mdp = random_mdp(0, "endless")
    ways = tuple(matrix.copy() for matrix in mdp.transition)
    stay = ways[0].tolil()
    stay[0] = np.eye(5)[0]
    mdp = replace(mdp, transition=(stay.tocsr(), *ways[1:]), start=np.eye(5)[0])
    meg = unknown_utility(mdp, Policy(probabilities=np.eye(3)[[0] * 5]), "states", 4)
    assert meg.utility is not None
    assert np.isneginf(meg.utility[1:]).all()
    assert meg.value == pytest.approx(3 * log(3))
    assert meg.converged
    assert meg.policy.probabilities[0, 0].tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("horizon", [200, None])
def test_an_end_that_is_never_met_is_avoided_at_any_price(horizon: int | None) -> None:
    left, right = (
        np.array([[0.5, *exits], [0, 1, 0], [0, 0, 1]])
        for exits in ([0.5, 0.0], [0.0, 0.5])
    )
    two_exits = TabularMDP(
        transition=(csr_array(left), csr_array(right)),
        start=np.eye(3)[0],
        reward=np.array([0.0, 1.0, 0.0]),
        terminal=np.array([False, True, True]),
    )
    always_left = Policy(probabilities=np.eye(2)[[0, 0, 0]])
    anything, reward = (
        measure(two_exits, always_left, horizon=horizon)
        for measure in (unknown_utility, known_utility)
    )
    assert anything.value == pytest.approx(2 * log(2)) == reward.value
    assert anything.converged
    assert anything.utility is not None
    assert np.isneginf(anything.utility[2])


def test_a_menu_of_utilities() -> None:
    mdp = random_mdp(1, "endless")
    policy = random_policy(1, mdp)
    menu = {
        "own": mdp.reward,
        "first": np.eye(5)[0],
        "pairs": np.random.default_rng(0).normal(size=(5, 3)),
    }
    meg = unknown_utility(mdp, policy, menu, 4)
    values = {
        name: known_utility(replace(mdp, reward=reward), policy, 4).value
        for name, reward in menu.items()
    }
    assert {name: entry.value for name, entry in meg.table.items()} == values
    assert meg.value == max(values.values()) == values[meg.name]
    assert meg.bounds[0] <= meg.value <= meg.bounds[1]


def test_a_search_that_was_given_up_says_so() -> None:
    mdp = random_mdp(0, "discounted")
    policy = random_policy(0, mdp)
    meg = unknown_utility(mdp, policy, "states", 4, iterations=1, tolerance=0.0)
    assert not meg.converged
    assert meg.bounds[0] < meg.bounds[1]


@pytest.mark.parametrize("shape", [(4, 2), (5, 0), (5, 2, 2), (5,)])
def test_features_must_fit(shape: tuple[int, ...]) -> None:
    mdp = random_mdp(0, "endless")
    with pytest.raises(
        ValueError, match=r"features must have shape \(5, K\) or \(5, 3, K\), got"
    ):
        unknown_utility(mdp, uniform(mdp), np.zeros(shape), 4)


def test_features_must_be_finite() -> None:
    mdp = random_mdp(0, "endless")
    with pytest.raises(
        ValueError, match="features must be finite, got NaN or infinity"
    ):
        unknown_utility(mdp, uniform(mdp), np.full((5, 1), np.nan), 4)


def test_a_menu_offers_something() -> None:
    mdp = random_mdp(0, "endless")
    with pytest.raises(
        ValueError, match="utilities must name at least one reward, got none"
    ):
        unknown_utility(mdp, uniform(mdp), {}, 4)


def test_a_class_that_is_not_known() -> None:
    mdp = random_mdp(0, "endless")
    with pytest.raises(
        ValueError,
        match=r"utilities must be 'states', 'state-actions', .* got 'transitions'",
    ):
        unknown_utility(mdp, uniform(mdp), "transitions", 4)  # type: ignore[arg-type]


@pytest.mark.parametrize("utilities", ["states", "state-actions"])
def test_what_no_episode_reaches_changes_nothing(utilities: str) -> None:
    """Only a corner of the world is solved: the value is that of the corner alone."""
    horizon = 4
    small, large = cliff_world(7, 5), cliff_world(14, 11)
    corner = (large.labels["row"] < 5) & (large.labels["column"] < 7)
    table = np.random.default_rng(0).dirichlet(np.ones(4), size=large.n_states)
    kinds = {"utilities": utilities, "horizon": horizon}
    whole = unknown_utility(large, Policy(probabilities=table), **kinds)  # type: ignore[arg-type]
    alone = unknown_utility(small, Policy(probabilities=table[corner]), **kinds)  # type: ignore[arg-type]
    assert len(reachable(large, horizon)) == 16 < large.n_states
    assert whole.value == pytest.approx(alone.value, abs=1e-5)
    assert whole.decisions == pytest.approx(alone.decisions)
    assert whole.policy.probabilities.shape == (horizon, large.n_states, 4)
    assert whole.utility is not None
    assert len(whole.utility) == large.n_states
