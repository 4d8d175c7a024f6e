"""Distances that shaping does not change, on rewards whose distance is known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from gde.data.mdp import TabularMDP
from gde_plugins.reward_baselines.canonical import (
    Setting,
    dard_canonical,
    dard_distance,
    epic_canonical,
    epic_distance,
    full_reward,
)

S, A = 5, 3
BOTH = pytest.mark.parametrize("distance", [epic_distance, dard_distance])


def setting(seed: int = 0, discount: float = 0.9) -> Setting:
    rng = np.random.default_rng(seed)
    transition = rng.dirichlet(np.full(S, 0.5), (S, A))
    return Setting(
        transition, rng.dirichlet(np.ones(S)), rng.dirichlet(np.ones(A)), discount
    )


def rewards(seed: int, shape: tuple[int, ...] = (S, A, S)) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def shaped(reward: np.ndarray, potential: np.ndarray, discount: float) -> np.ndarray:
    return reward + discount * potential[None, None, :] - potential[:, None, None]


@BOTH
@settings(max_examples=30)
@given(
    seed=st.integers(0, 50),
    power=st.integers(-300, 300),
    shift=st.floats(-5, 5),
    discount=st.floats(0, 1),
)
def test_shaping_scale_and_shift_are_no_distance(
    distance: object, seed: int, power: int, shift: float, discount: float
) -> None:
    where, reward = setting(seed, discount), rewards(seed)
    other = shaped(reward, 3 * rewards(seed + 1, (S,)), discount) + shift
    third = rewards(seed + 2)
    expected = distance(third, reward, where)  # type: ignore[operator]
    for scale in (1.0, 10.0**power):
        found = distance(reward, scale * other, where)  # type: ignore[operator]
        assert found == pytest.approx(0, abs=1e-6)
        found = distance(third, scale * other, where)  # type: ignore[operator]
        assert found == pytest.approx(expected, abs=1e-6)


@BOTH
@settings(max_examples=30)
@given(seed=st.integers(0, 50))
def test_the_opposite_is_furthest_and_the_distance_is_a_pseudometric(
    distance: object, seed: int
) -> None:
    where, (a, b, c) = setting(seed), (rewards(seed + i) for i in range(3))
    assert distance(a, -a, where) == pytest.approx(1)  # type: ignore[operator]
    ab, bc, ac = (distance(x, y, where) for x, y in ((a, b), (b, c), (a, c)))  # type: ignore[operator]
    assert distance(b, a, where) == pytest.approx(ab)  # type: ignore[operator]
    assert ac <= ab + bc + 1e-9
    assert distance(a, b, where) ** 2 + distance(a, -b, where) ** 2 == pytest.approx(1)  # type: ignore[operator]


@BOTH
def test_a_potential_alone_is_like_no_reward(distance: object) -> None:
    where = setting()
    nothing = np.zeros(S)
    potential = shaped(np.zeros((S, A, S)), rewards(1, (S,)), where.discount)
    assert distance(potential, nothing, where) == 0  # type: ignore[operator]
    assert distance(rewards(2), nothing, where) == pytest.approx(0.5**0.5)  # type: ignore[operator]


def test_canonical_forms_are_their_definitions() -> None:
    where, R = setting(3, 0.7), rewards(3)
    for s, a, t in [(0, 0, 1), (2, 1, 2), (4, 2, 0)]:
        epic, dard = R[s, a, t], R[s, a, t]
        for b in range(A):
            p = where.actions[b]
            for x in range(S):
                weight = p * where.states[x]
                epic += weight * (0.7 * R[t, b, x] - R[s, b, x])
                epic -= 0.7 * sum(
                    weight * where.states[y] * R[x, b, y] for y in range(S)
                )
                dard += p * (
                    0.7 * where.transition[t, b, x] * R[t, b, x]
                    - where.transition[s, b, x] * R[s, b, x]
                )
                both = where.transition[s, b, x] * where.transition[t, b]
                dard -= 0.7 * p * float(both @ R[x, b])
        assert epic_canonical(R, where)[s, a, t] == pytest.approx(epic)
        assert dard_canonical(R, where)[s, a, t] == pytest.approx(dard)


def test_distances_weigh_transitions_by_states_and_actions() -> None:
    """The correlation of canonical forms over the distribution of transitions of each
    definition.
    """
    where, a, b = setting(4), rewards(7), rewards(8)
    independent = np.zeros((S, A, S))
    possible = np.zeros((S, A, S))
    for s, action, t in np.ndindex(S, A, S):
        independent[s, action, t] = (
            where.states[s] * where.actions[action] * where.states[t]
        )
        possible[s, action, t] = (
            where.states[s] * where.actions[action] * where.transition[s, action, t]
        )
    for distance, canonical, weights in (
        (epic_distance, epic_canonical, independent),
        (dard_distance, dard_canonical, possible),
    ):
        series = np.stack([canonical(a, where).ravel(), canonical(b, where).ravel()])
        (vary_a, joint), (_, vary_b) = np.cov(series, aweights=weights.ravel(), ddof=0)
        expected = np.sqrt((1 - joint / np.sqrt(vary_a * vary_b)) / 2)
        assert distance(a, b, where) == pytest.approx(expected)


def test_only_what_can_happen_counts_for_dynamics_aware_distances() -> None:
    """In a deterministic circle, rewards that differ on impossible transitions alone;
    without a discount the canonical form looks nowhere else.
    """
    circle = np.zeros((S, A, S))
    for s in range(S):
        circle[s, :, (s + 1) % S] = 1
    where = Setting(circle, np.full(S, 1 / S), np.full(A, 1 / A), 0.0)
    R = rewards(5)
    other = np.where(circle > 0, R, rewards(6))
    assert dard_distance(R, other, where) == pytest.approx(0, abs=1e-9)
    assert epic_distance(R, other, where) > 0.3


def test_rewards_of_states_and_actions_are_those_of_their_transitions() -> None:
    where = setting()
    assert np.array_equal(full_reward(np.arange(S), where)[2], np.full((A, S), 2))
    by_action = rewards(1, (S, A))
    assert epic_distance(
        by_action, np.repeat(by_action[:, :, None], S, axis=2), where
    ) == pytest.approx(0, abs=1e-9)
    for wrong in (np.zeros((S + 1,)), np.zeros((A, S)), np.full(S, np.nan)):
        with pytest.raises(
            ValueError,
            match=r"a reward: wanted finite numbers of shape \(5,\), \(5, 3\) or",
        ):
            full_reward(wrong, where)


def test_a_process_is_compared_with_all_states_and_actions_alike() -> None:
    matrices = tuple(csr_array(np.roll(np.eye(3), shift, axis=1)) for shift in (0, 1))
    mdp = TabularMDP(
        transition=matrices,
        start=np.array([1.0, 0, 0]),
        reward=np.zeros(3),
        discount=0.5,
    )
    where = Setting.uniform(mdp)
    assert where.transition.shape == (3, 2, 3)
    assert where.transition[2, 1].tolist() == [1, 0, 0]
    potential = np.array([0.0, 2.0, -1.0])
    reward = np.array([1.0, 0.0, 0.0])
    assert epic_distance(
        reward, shaped(full_reward(reward, where), potential, 0.5), where
    ) == pytest.approx(0, abs=1e-9)


def test_a_terminal_state_is_never_left() -> None:
    ring = csr_array(np.roll(np.eye(3), 1, axis=1))
    ends = np.array([False, False, True])
    mdp = TabularMDP.of((ring,), np.zeros(3), terminal=ends)
    where = Setting.uniform(mdp)
    assert where.transition[:, 0].argmax(axis=1).tolist() == [1, 2, 2]
    assert (where.transition.sum(axis=2) == 1).all()
