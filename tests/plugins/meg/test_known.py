"""MEG with respect to a known utility: worked examples, limits, certificates and bad
input.
"""

from dataclasses import replace
from math import inf, log, nan

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from random_worlds import CASES, Kind, random_mdp, random_policy, uniform
from scipy.sparse import csr_array

from gde import Policy, TabularMDP
from gde_plugins.meg import Meg, known_utility, soft_policy
from gde_plugins.meg.solvers.process import observe, process_of

few = settings(max_examples=6)
each_case = pytest.mark.parametrize(("kind", "horizon"), CASES)
seeds = st.integers(0, 10_000)


def cheese() -> TabularMDP:
    """The mouse of MacDermott et al. (2024), Example 1: the cheese is left (0) or right
    (1), found (2) or not (3).
    """
    left, right = np.eye(4)[[2, 3, 2, 3]], np.eye(4)[[3, 2, 2, 3]]
    return TabularMDP(
        transition=(csr_array(left), csr_array(right)),
        start=np.array([0.5, 0.5, 0.0, 0.0]),
        reward=np.array([0.0, 0.0, 1.0, -1.0]),
        terminal=np.array([False, False, True, True]),
    )


def towards_cheese(probability: float) -> Policy:
    towards = [probability, 1 - probability]
    return Policy(
        probabilities=np.array([towards, towards[::-1], [0.5, 0.5], [0.5, 0.5]])
    )


@pytest.mark.parametrize("horizon", [2, None])
@pytest.mark.parametrize(
    ("probability", "beta", "value"),
    [
        (0.8, log(2), 0.192745),
        (0.2, -log(2), 0.192745),
        (1.0, inf, log(2)),
        (0.0, -inf, log(2)),
        (0.5, 0.0, 0.0),
    ],
)
def test_the_mouse(
    probability: float, beta: float, value: float, horizon: int | None
) -> None:
    meg = known_utility(cheese(), towards_cheese(probability), horizon)
    assert meg.value == pytest.approx(value, abs=1e-6)
    assert meg.beta == pytest.approx(beta)
    assert meg.converged
    assert meg.bounds[1] - meg.bounds[0] < 1e-9
    assert meg.decisions == 1
    assert meg.share == pytest.approx(value / log(2), abs=1e-6)
    assert meg.signed == pytest.approx(np.sign(beta) * value, abs=1e-6)


@each_case
@few
@given(seeds, st.floats(0.2, 3.0), st.sampled_from([1.0, -1.0]))
def test_a_soft_optimal_policy_is_recognised(
    kind: Kind, horizon: int | None, seed: int, size: float, sign: float
) -> None:
    """Its rationality is found, and its MEG is all its departure from random choice."""
    mdp, beta = random_mdp(seed, kind), sign * size
    policy = soft_policy(mdp, beta, horizon)
    going = slice(None) if mdp.terminal is None else ~mdp.terminal
    # Rounding hides the difference from an infinite rationality where hardly anything
    # is left to chance.
    assume((1 - policy.probabilities[..., going, :].max(axis=-1)).max() > 1e-6)
    meg = known_utility(mdp, policy, horizon, tolerance=1e-11)
    assert meg.beta == pytest.approx(beta, rel=1e-2)
    departs = observe(process_of(mdp, horizon), policy, on_actions=False).divergence
    assert meg.value == pytest.approx(departs, abs=1e-8)
    np.testing.assert_allclose(
        meg.policy.probabilities, policy.probabilities, atol=1e-3
    )


@each_case
@few
@given(seeds)
def test_the_value_is_the_accuracy_of_the_policy_that_comes_with_it(
    kind: Kind, horizon: int | None, seed: int
) -> None:
    mdp = random_mdp(seed, kind)
    policy = random_policy(seed, mdp, concentration=2.0)
    meg = known_utility(mdp, policy, horizon)
    predicted = meg.policy.probabilities
    flow = process_of(mdp, horizon).flow_of(policy)
    steps = predicted if horizon else predicted[None]
    nats = sum(
        float((now.taken.T * np.log(mdp.n_actions * step)).sum())
        for now, step in zip(flow, steps, strict=True)
    )
    assert meg.value == pytest.approx(nats, abs=1e-8)


@few
@given(seeds, st.integers(0, 8))
def test_bounds_hold_however_early_the_search_ends(seed: int, iterations: int) -> None:
    mdp = random_mdp(seed, "endless")
    policy = random_policy(seed, mdp)
    exact = known_utility(mdp, policy, 4)
    rough = known_utility(mdp, policy, 4, iterations=iterations)
    assert exact.converged
    assert rough.bounds[0] - 1e-9 <= exact.value <= rough.bounds[1] + 1e-9
    assert rough.converged or rough.bounds[1] > rough.bounds[0]


def test_a_search_that_was_given_up_says_so() -> None:
    mdp = random_mdp(2, "endless")
    meg = known_utility(mdp, random_policy(2, mdp, concentration=2.0), 4, iterations=1)
    assert not meg.converged
    assert meg.bounds[0] == pytest.approx(meg.value)
    assert meg.value < meg.bounds[1] - 0.1


def test_every_optimal_policy_has_the_same_value() -> None:
    """Whichever of the equally good ways it takes."""
    ways = np.eye(4)[[1, 3, 3, 3]], np.eye(4)[[2, 3, 3, 3]], np.eye(4)[[0, 3, 3, 3]]
    mdp = TabularMDP(
        transition=tuple(csr_array(way) for way in ways),
        start=np.eye(4)[0],
        reward=np.array([0.0, 0.0, 0.0, 1.0]),
    )
    values = []
    for share in (0.0, 0.3, 1.0):
        table = uniform(mdp).probabilities.copy()
        table[0] = [share, 1 - share, 0.0]
        values.append(known_utility(mdp, Policy(probabilities=table), 3))
    assert [meg.value for meg in values] == pytest.approx([log(3 / 2)] * 3)
    assert {meg.beta for meg in values} == {inf}


def test_a_nearly_optimal_policy_has_a_finite_rationality() -> None:
    meg = known_utility(cheese(), towards_cheese(1 - 1e-6), 2)
    assert meg.beta == pytest.approx(log(1e6 - 1) / 2, rel=1e-3)
    assert meg.converged
    assert meg.value < log(2)


def test_time_dependent_policies_may_be_longer_than_the_horizon() -> None:
    mdp = random_mdp(0, "endless")
    policy = random_policy(0, mdp, horizon=6)
    shorter = Policy(probabilities=policy.probabilities[:4])
    assert known_utility(mdp, policy, 4).value == known_utility(mdp, shorter, 4).value


def test_the_last_decision_matters_only_where_actions_are_rewarded() -> None:
    by_state, by_action = (
        random_mdp(0, "endless"),
        random_mdp(0, "endless", on_actions=True),
    )
    assert known_utility(by_state, uniform(by_state), 4).decisions == pytest.approx(3)
    assert known_utility(by_action, uniform(by_action), 4).decisions == pytest.approx(4)
    assert known_utility(by_state, random_policy(0, by_state), 1).value == 0


@pytest.mark.parametrize("shape", [(5, 2), (4, 3), (3, 5, 3)])
def test_a_policy_must_fit(shape: tuple[int, ...]) -> None:
    policy = Policy(probabilities=np.full(shape, 1 / shape[-1]))
    with pytest.raises(
        ValueError,
        match=r"the policy must have shape \(5, 3\) or \(at least 4, 5, 3\), got",
    ):
        known_utility(random_mdp(0, "endless"), policy, 4)


def test_without_horizon_a_policy_is_stationary() -> None:
    mdp = random_mdp(0, "discounted")
    with pytest.raises(
        ValueError, match=r"must be stationary, of shape \(5, 3\), got \(7, 5, 3\)"
    ):
        known_utility(mdp, random_policy(0, mdp, horizon=7), None)


@pytest.mark.parametrize("horizon", [0, -1, 2.5, "3", nan])
def test_a_horizon_is_a_positive_integer(horizon: object) -> None:
    mdp = random_mdp(0, "endless")
    with pytest.raises(
        ValueError,
        match=f"horizon must be an integer of at least 1 state visited, got {horizon!r}",
    ):
        known_utility(mdp, uniform(mdp), horizon)  # type: ignore[arg-type]


def test_a_policy_that_does_not_end_needs_a_horizon() -> None:
    stay, leave = csr_array(np.eye(2)), csr_array(np.array([[0.0, 1.0], [0.0, 1.0]]))
    ends = np.array([False, True])
    mdp = TabularMDP(
        transition=(stay, leave), start=1.0 - ends, reward=ends - 1.0, terminal=ends
    )
    staying = Policy(probabilities=np.array([[1.0, 0.0], [0.5, 0.5]]))
    with pytest.raises(
        ValueError,
        match="under the policy, no terminal state can be reached from state 0",
    ):
        known_utility(mdp, staying, None)
    dawdling = known_utility(
        mdp, Policy(probabilities=np.array([[0.9, 0.1], [0.5, 0.5]])), None
    )
    # pi_beta waits with probability q = 1 - exp(-V) / 2; the accuracy is largest where
    # q is the policy's own.
    assert dawdling.beta < 0
    assert dawdling.value == pytest.approx(10 * (0.9 * log(1.8) + 0.1 * log(0.2)))


def test_what_comes_without_a_model_has_no_policy() -> None:
    meg = Meg(
        value=0.0,
        beta=0.0,
        bounds=(0.0, 0.0),
        converged=True,
        decisions=1.0,
        n_actions=2,
    )
    with pytest.raises(ValueError, match="without a tabulated model"):
        _ = meg.policy
    assert replace(meg, value=0.5, beta=-1.0).signed == -0.5
