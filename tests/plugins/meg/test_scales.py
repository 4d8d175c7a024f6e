"""Rewards of very different sizes: neither their unit nor what is large elsewhere
changes a measurement.
"""

from dataclasses import replace
from math import inf, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_worlds import CASES, Kind, random_mdp, random_policy
from scipy.sparse import csr_array

from gde import Policy, TabularMDP
from gde_plugins.meg import causal, known_utility, soft_policy, unknown_utility

few = settings(max_examples=5)
seeds = st.integers(0, 10_000)
PENALTIES = [1e2, 1e6, 1e8, 1e9, 1e10, 1e12]


def beside_lava(penalty: float, discount: float = 1.0) -> TabularMDP:
    """From 0 one can stay, go to 1, which pays, or fall into the lava 2; there is no
    way back.
    """
    ways = [0, 1, 2], [1, 1, 2], [2, 1, 2]
    return TabularMDP(
        transition=tuple(csr_array(np.eye(3)[way]) for way in ways),
        start=np.array([1.0, 0.0, 0.0]),
        reward=np.array([0.0, 1.0, -penalty]),
        discount=discount,
    )


def acting(*first: float) -> Policy:
    return Policy(probabilities=np.array([first, [1 / 3] * 3, [1 / 3] * 3]))


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize(("horizon", "discount"), [(5, 1.0), (None, 0.9)])
def test_a_large_penalty_hides_no_small_difference(
    penalty: float, horizon: int | None, discount: float
) -> None:
    """Nobody falls in, so it does not matter how much that would cost."""
    careful = acting(0.05, 0.95, 0.0)
    wanted = known_utility(beside_lava(100.0, discount), careful, horizon)
    meg = known_utility(beside_lava(penalty, discount), careful, horizon)
    assert meg.converged
    assert meg.value == pytest.approx(wanted.value, abs=1e-8)
    assert meg.beta == pytest.approx(wanted.beta, rel=1e-4)
    best = known_utility(beside_lava(penalty, discount), acting(0.0, 1.0, 0.0), horizon)
    assert best.value == pytest.approx(log(3))
    assert best.beta == inf


@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_large_penalty_in_a_diagram(penalty: float) -> None:
    """As above: two of three options matter, in odds of 19 to 1."""
    diagram = causal.Diagram(
        causal.decision("D", [0.05, 0.95, 0.0]),
        causal.chance("T", np.eye(3), ["D"]),
        causal.utility("U", [0.0, 1.0, -penalty], ["T"]),
    )
    meg = causal.towards_utilities(diagram)
    assert meg.value == pytest.approx(
        log(3) + 0.95 * log(0.95) + 0.05 * log(0.05), abs=1e-6
    )
    assert meg.beta == pytest.approx(log(19), rel=1e-4)


@pytest.mark.parametrize(("kind", "horizon"), CASES)
@few
@given(seeds, st.integers(-12, 12))
def test_the_unit_of_the_reward(
    kind: Kind, horizon: int | None, seed: int, digits: int
) -> None:
    mdp, unit = random_mdp(seed, kind), 10.0**digits
    policy = random_policy(seed, mdp)
    one, other = (
        known_utility(mdp, policy, horizon),
        known_utility(replace(mdp, reward=unit * mdp.reward), policy, horizon),
    )
    assert other.converged
    assert other.value == pytest.approx(one.value, abs=1e-8)
    optimal = soft_policy(replace(mdp, reward=unit * mdp.reward), inf, horizon)
    assert known_utility(mdp, optimal, horizon).beta == inf


@pytest.mark.parametrize(
    ("kind", "horizon"), [case for case in CASES if case[0] != "episodic"]
)
@few
@given(seeds, st.sampled_from([1e3, 1e6, 1e9, -1e9]))
def test_a_large_origin(
    kind: Kind, horizon: int | None, seed: int, origin: float
) -> None:
    """Tenths that are added to 1e9 are known to seven digits."""
    mdp = random_mdp(seed, kind)
    policy = random_policy(seed, mdp)
    shifted = known_utility(replace(mdp, reward=mdp.reward + origin), policy, horizon)
    assert shifted.value == pytest.approx(
        known_utility(mdp, policy, horizon).value, abs=1e-5
    )


@few
@given(seeds, st.sampled_from([1e3, 1e6, 1e9, 1e11, 1e12, 1e13, 1e14]))
def test_where_rounding_decides_nothing_is_certified(seed: int, prize: float) -> None:
    """A prize that all episodes end with by the horizon changes nothing in exact
    arithmetic, but drowns the rest.
    """
    mdp = random_mdp(seed, "endless")
    ends = np.arange(6) == 5
    widened = [np.pad(matrix.toarray(), (0, 1)) for matrix in mdp.transition]
    onwards = tuple(
        csr_array(
            0.5 * matrix
            + 0.5 * np.eye(6)[[5] * 6] * (~ends)[:, None]
            + np.diag(1.0 * ends)
        )
        for matrix in widened
    )
    policy = random_policy(seed, random_mdp(seed, "endless", n_states=6))
    world = TabularMDP(
        transition=onwards,
        start=np.append(mdp.start, 0.0),
        reward=np.append(mdp.reward, 0.0),
        terminal=ends,
    )
    # The chance of an end does not depend on actions, hence neither do the prizes.
    exact = known_utility(world, policy, 4)
    drowned = known_utility(
        replace(world, reward=world.reward + prize * ends), policy, 4
    )
    assert drowned.bounds[0] - 1e-8 <= exact.value <= drowned.bounds[1] + 1e-8


def test_rounding_in_the_rewards_casts_no_doubt() -> None:
    mdp = random_mdp(0, "endless")
    policy = random_policy(0, mdp)
    noisy = replace(mdp, reward=np.array([0.0, 1e-17, 1.0, -2.0, 0.5]))
    exact = replace(mdp, reward=np.array([0.0, 0.0, 1.0, -2.0, 0.5]))
    assert known_utility(noisy, policy, 4).converged
    assert known_utility(noisy, policy, 4).value == pytest.approx(
        known_utility(exact, policy, 4).value
    )


@few
@given(seeds, st.sampled_from([1e-9, 1e-3, 1e3, 1e9]))
def test_the_unit_of_features(seed: int, unit: float) -> None:
    mdp = random_mdp(seed, "endless")
    policy = random_policy(seed, mdp, concentration=2.0)
    known = known_utility(mdp, policy, 4)
    fitted = unknown_utility(mdp, policy, unit * mdp.reward[:, None], 4)
    assert fitted.bounds[0] - 1e-5 <= known.value <= fitted.bounds[1] + 1e-5


def test_features_that_are_zero_everywhere() -> None:
    mdp = random_mdp(0, "endless")
    meg = unknown_utility(mdp, random_policy(0, mdp), np.zeros((5, 2)), 4)
    assert (meg.value, meg.bounds[0]) == (0.0, 0.0)
