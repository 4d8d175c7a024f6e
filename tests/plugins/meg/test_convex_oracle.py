"""MEG against an independent convex solver: the least divergence from random choice of
any occupancy measure.

By duality MEG is the divergence of the policy that is as random as can be among those
with the same expected utility (known utility), or the same expected number of visits
(unknown utility), as the policy measured.
"""

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from random_worlds import CASES, Kind, random_mdp, random_policy

from gde import Policy, TabularMDP
from gde.data.arrays import Doubles
from gde_plugins.meg import known_utility, unknown_utility
from gde_plugins.meg.solvers.process import process_of

Measures = Callable[[Any, Any], list[Any]]
"""Constraints on the total (S, A) actions taken and (S,) visits."""
SEEDS = range(4)


def least_divergence(
    mdp: TabularMDP, horizon: int | None, constraints: Measures
) -> float:
    """Over all flows of probability that satisfy the constraints; written out densely,
    one variable a time step.
    """
    S, A, T = mdp.n_states, mdp.n_actions, horizon or 1
    going = np.ones(S, dtype=bool) if mdp.terminal is None else ~mdp.terminal
    dense = np.stack([matrix.toarray() for matrix in mdp.transition])
    taken = [cp.Variable((S, A), nonneg=True) for _ in range(T)]
    visits = [cp.Variable(S, nonneg=True) for _ in range(T)]
    arrivals = [
        mdp.discount * sum(dense[a].T @ now[:, a] for a in range(A)) for now in taken
    ]
    flows = [
        cp.sum(now, axis=1) == cp.multiply(going, here)
        for now, here in zip(taken, visits, strict=True)
    ]
    if horizon is None:
        flows.append(visits[0] == mdp.start + arrivals[0])
    else:
        flows.append(visits[0] == mdp.start)
        flows += [
            after == arrived
            for after, arrived in zip(visits[1:], arrivals[:-1], strict=True)
        ]
    divergence = sum(
        cp.sum(
            cp.rel_entr(
                now[going],
                cp.reshape(here[going], (going.sum(), 1), order="C")
                @ np.full((1, A), 1 / A),
            )
        )
        for now, here in zip(taken, visits, strict=True)
    )
    problem = cp.Problem(
        cp.Minimize(divergence), flows + constraints(sum(taken), sum(visits))
    )
    problem.solve(
        solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10
    )
    return float(problem.value)


def seen(
    mdp: TabularMDP, policy: Policy, horizon: int | None
) -> tuple[Doubles, Doubles]:
    """The (S, A) actions taken and (S,) visits of a policy."""
    flow = [*process_of(mdp, horizon).flow_of(policy)]
    taken: Doubles = sum(
        (now.taken.T for now in flow), start=np.zeros((mdp.n_states, mdp.n_actions))
    )
    return taken, sum((now.visits for now in flow), start=np.zeros(mdp.n_states))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("on_actions", [False, True])
@pytest.mark.parametrize(("kind", "horizon"), CASES)
def test_known_utility(
    kind: Kind, horizon: int | None, on_actions: bool, seed: int
) -> None:
    mdp = random_mdp(seed, kind, n_states=4, on_actions=on_actions)
    policy = random_policy(seed, mdp, concentration=2.0)
    acted, visited = seen(mdp, policy, horizon)

    def equal_utility(taken: Any, visits: Any) -> list[Any]:
        measured, own = (taken, acted) if on_actions else (visits, visited)
        return [
            cp.sum(cp.multiply(mdp.reward, measured)) == float((mdp.reward * own).sum())
        ]

    expected = least_divergence(mdp, horizon, equal_utility)
    assert known_utility(mdp, policy, horizon).value == pytest.approx(
        expected, abs=1e-6
    )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("kind", "horizon"), CASES)
def test_unknown_utility_of_states(kind: Kind, horizon: int | None, seed: int) -> None:
    mdp = random_mdp(seed, kind, n_states=4)
    policy = random_policy(seed, mdp, concentration=2.0)
    _, visited = seen(mdp, policy, horizon)
    expected = least_divergence(mdp, horizon, lambda taken, visits: [visits == visited])
    meg = unknown_utility(mdp, policy, "states", horizon)
    assert meg.value == pytest.approx(expected, abs=1e-6)
    assert meg.bounds[1] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("kind", "horizon"), CASES)
def test_unknown_utility_of_features(
    kind: Kind, horizon: int | None, seed: int
) -> None:
    mdp = random_mdp(seed, kind, n_states=4)
    policy = random_policy(seed, mdp, concentration=2.0)
    acted, _ = seen(mdp, policy, horizon)
    features = np.random.default_rng(seed).normal(size=(4, 3, 2))

    def equal_features(taken: Any, visits: Any) -> list[Any]:
        return [
            cp.sum(cp.multiply(features[..., k], taken))
            == float((features[..., k] * acted).sum())
            for k in (0, 1)
        ]

    expected = least_divergence(mdp, horizon, equal_features)
    assert unknown_utility(mdp, policy, features, horizon).value == pytest.approx(
        expected, abs=1e-6
    )
