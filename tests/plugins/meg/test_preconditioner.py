"""The approximate inverse of the curvature, where the search begins, and how a search
ends in large worlds.
"""

from dataclasses import replace

import numpy as np
import pytest
import random_models
from random_worlds import Kind, random_mdp, random_policy
from scipy.sparse.linalg import LinearOperator, cg

from gde import Policy, TabularMDP
from gde.data.arrays import Doubles
from gde_plugins.meg import known_utility, soft_policy, unknown_utility
from gde_plugins.meg.solvers.preconditioner import initial_utility, preconditioner
from gde_plugins.meg.solvers.process import observe, process_of
from gde_plugins.meg.worlds import cliff_world, epsilon_greedy, greedy


def world(kind: Kind) -> TabularMDP:
    """A cliff world, with an end at its goal or a discount."""
    mdp = cliff_world(7, 5)
    ends = mdp.labels["goal"] == 1
    return replace(
        mdp,
        terminal=ends if kind == "episodic" else None,
        discount=0.9 if kind == "discounted" else 1.0,
    )


@pytest.mark.parametrize(
    ("kind", "horizon"), [("discounted", None), ("episodic", None), ("endless", 25)]
)
def test_the_preconditioner_inverts_the_curvature(
    kind: Kind, horizon: int | None
) -> None:
    """At once without a horizon; with one, conjugate gradients need no more than ten
    steps, which else are too few.
    """
    mdp = world(kind)
    process, everywhere = process_of(mdp, horizon), np.ones(mdp.n_states, dtype=bool)
    fit = process.fit(
        process.dynamics.utility(
            0.1 * np.random.default_rng(0).normal(size=mdp.n_states) - 1
        )
    )
    solve = preconditioner(
        process.dynamics, everywhere, fit.deciding, fit.counts(on_actions=False)
    )

    def curvature(step: Doubles) -> Doubles:
        return fit.change(process.dynamics.utility(step), on_actions=False)

    missing = curvature(np.random.default_rng(1).normal(size=mdp.n_states))
    if horizon is None:
        assert np.linalg.norm(
            missing - curvature(solve(missing))
        ) < 1e-2 * np.linalg.norm(missing)
        return
    system, easier = (
        LinearOperator((mdp.n_states,) * 2, matvec=each, dtype=float)
        for each in (curvature, solve)
    )
    assert cg(system, missing, rtol=1e-2, M=easier, maxiter=10)[1] == 0
    assert cg(system, missing, rtol=1e-2, maxiter=10)[1] > 0


@pytest.mark.parametrize("n_terminal", [0, 2])
def test_the_utilities_predict_a_soft_optimal_policy_nearly_as_well_as_any(
    n_terminal: int,
) -> None:
    mdp = random_models.random_mdp(
        np.random.default_rng(0), 30, 3, n_terminal=n_terminal
    )
    mdp = TabularMDP(**{**vars(mdp), "discount": 0.9})
    policy = soft_policy(mdp, 1.0, None)
    process = process_of(mdp, None)
    seen = observe(process, policy, on_actions=False)
    dynamics = process.dynamics
    utility = initial_utility(dynamics, seen.occupancy.taken)
    predicted = (
        seen.occupancy.earns(dynamics.utility(utility))
        - process.fit(dynamics.utility(utility)).value
    )
    best = unknown_utility(mdp, policy, "states", None).value
    assert 0.8 * best < predicted <= best + 1e-9


def test_a_policy_that_does_not_fit_is_still_refused() -> None:
    mdp = cliff_world(20, 20)
    with pytest.raises(ValueError, match=r"the policy must have shape \(400, 4\)"):
        known_utility(mdp, Policy(probabilities=np.full((30, 4), 0.25)), 3)


def test_bounds_are_certified_where_states_are_hardly_ever_visited() -> None:
    """Visits of 1e-20 and less: their utilities take for ever to settle, and are worth
    nothing.
    """
    mdp = cliff_world(14, 14)
    policy = epsilon_greedy(greedy(mdp, 12), 0.05)
    meg = unknown_utility(mdp, policy, "states", 12)
    assert meg.converged
    closer = unknown_utility(mdp, policy, "states", 12, tolerance=1e-8)
    assert meg.value <= closer.bounds[1] + 1e-9
    assert closer.value <= meg.bounds[1] + 1e-9


def test_random_policies_are_found_as_before() -> None:
    """Newton's method from zero, and after L-BFGS over one-hot features."""
    mdp = random_mdp(3, "endless", n_states=12)
    policy = random_policy(3, mdp)
    table, features = (
        unknown_utility(mdp, policy, each, 6, tolerance=1e-9)
        for each in ("states", np.eye(12))
    )  # type: ignore[arg-type]
    assert table.value == pytest.approx(features.value, abs=1e-8)
