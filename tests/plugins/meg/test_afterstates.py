"""Short cuts of large worlds against the long way: afterstates, states within reach, the surrogate of the curvature."""

from dataclasses import replace

import numpy as np
import pytest
from random_worlds import KINDS, Kind, random_mdp, random_policy
from scipy.sparse.linalg import LinearOperator, cg

from gde import Policy, TabularMDP
from gde.data.mdp import Floats
from gde_plugins.meg import known_utility, unknown_utility
from gde_plugins.meg.solvers import surrogate
from gde_plugins.meg.solvers.afterstates import AfterstateFit, Afterstates
from gde_plugins.meg.solvers.finite import Finite, FiniteFit
from gde_plugins.meg.solvers.process import process_of
from gde_plugins.meg.solvers.reach import Reach
from gde_plugins.meg.worlds import cliff_world, epsilon_greedy, greedy

HORIZON = 9


def world(kind: Kind) -> TabularMDP:
    """A cliff world, with an end at its goal or a discount."""
    mdp = cliff_world(7, 5)
    ends = mdp.labels["goal"] == 1
    return replace(mdp, terminal=ends if kind == "episodic" else None, discount=0.9 if kind == "discounted" else 1.0)


def utility(mdp: TabularMDP, seed: int, scale: float = 1.0) -> Floats:
    """Random, and -inf in a corner that need not be entered."""
    found = scale * np.random.default_rng(seed).normal(size=mdp.n_states)
    found[-1] = -np.inf
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_afterstates_are_another_way_to_the_same_policy(kind: Kind) -> None:
    mdp = world(kind)
    process = Finite(mdp, HORIZON)
    earned, step = process.dynamics.utility(utility(mdp, 0)), np.random.default_rng(1).normal(size=mdp.n_states)
    change = process.dynamics.utility(step)
    afterstates = Afterstates(process.dynamics)
    assert afterstates.few
    assert afterstates.counts.shape[1] < 1.5 * mdp.n_states
    short, long = AfterstateFit(afterstates, earned, HORIZON), FiniteFit(process, earned)
    assert short.value == pytest.approx(long.value, abs=1e-12)
    np.testing.assert_allclose(short.deciding, long.deciding, atol=1e-12)
    for on_actions in (False, True):
        np.testing.assert_allclose(short.counts(on_actions), long.counts(on_actions), atol=1e-12)
        np.testing.assert_allclose(short.change(change, on_actions), long.change(change, on_actions), atol=1e-11)
    for ours, theirs in ((short.flow, long.flow), (short.tangent(change), long.tangent(change))):
        for now, then in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(now.taken, then.taken, atol=1e-12)
            np.testing.assert_allclose(now.visits, then.visits, atol=1e-12)


@pytest.mark.parametrize(("scale", "kind"), [(1.0, AfterstateFit), (500.0, FiniteFit)])
def test_values_too_far_apart_go_the_long_way(scale: float, kind: type) -> None:
    mdp = cliff_world(7, 5)
    process = Finite(mdp, HORIZON)
    fit = process.fit(process.dynamics.utility(utility(mdp, 0, scale)))
    assert isinstance(fit, kind)
    assert np.isfinite(fit.value)
    assert fit.counts(on_actions=False).sum() == pytest.approx(HORIZON)


def test_worlds_without_common_afterstates_go_the_long_way() -> None:
    mdp = random_mdp(0, "endless")
    assert isinstance(Finite(mdp, 4).fit(Finite(mdp, 4).dynamics.utility(mdp.reward)), FiniteFit)


@pytest.mark.parametrize("is_map", [True, False])
@pytest.mark.parametrize(("kind", "horizon"), [("discounted", None), ("episodic", None), ("endless", 25)])
def test_the_surrogate_inverts_the_curvature(
    kind: Kind, horizon: int | None, is_map: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At once without a horizon; with one, conjugate gradients need no more than ten steps, which else are too few."""
    monkeypatch.setattr(surrogate, "_is_map", lambda _: is_map)
    mdp = world(kind)
    process, everywhere = process_of(mdp, horizon), np.ones(mdp.n_states, dtype=bool)
    fit = process.fit(process.dynamics.utility(0.1 * np.random.default_rng(0).normal(size=mdp.n_states) - 1))
    solve = surrogate.Surrogate(process.dynamics, everywhere).solve(fit.deciding, fit.counts(on_actions=False))

    def curvature(step: Floats) -> Floats:
        return fit.change(process.dynamics.utility(step), on_actions=False)

    missing = curvature(np.random.default_rng(1).normal(size=mdp.n_states))
    if horizon is None:
        assert np.linalg.norm(missing - curvature(solve(missing))) < 1e-2 * np.linalg.norm(missing)
        return
    system, easier = (LinearOperator((mdp.n_states,) * 2, matvec=each, dtype=float) for each in (curvature, solve))
    assert cg(system, missing, rtol=1e-2, M=easier, maxiter=10)[1] == 0
    assert cg(system, missing, rtol=1e-2, maxiter=10)[1] > 0


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_out_of_reach_does_not_matter(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    mdp = world(kind)
    mdp, horizon = replace(mdp, start=np.eye(mdp.n_states)[0]), 3
    policy = epsilon_greedy(greedy(mdp, horizon), 0.3)
    reach = Reach.of(mdp, policy, horizon)
    assert 1 < reach.mdp.n_states < mdp.n_states
    assert np.isfinite(reach.whole(np.zeros(reach.mdp.n_states), np.inf)).sum() == reach.mdp.n_states
    features = np.random.default_rng(0).normal(size=(mdp.n_states, 2))

    def measured() -> list[tuple[float, float, float]]:
        megs = [known_utility(mdp, policy, horizon)]
        megs += [unknown_utility(mdp, policy, each, horizon, tolerance=1e-10) for each in ("states", features)]  # type: ignore[arg-type]
        assert all(meg.policy.probabilities.shape == (horizon, mdp.n_states, mdp.n_actions) for meg in megs)
        assert all(meg.utility is not None and meg.utility.shape == (mdp.n_states,) for meg in megs)
        return [(meg.value, meg.bounds[1], meg.decisions) for meg in megs]

    part = measured()
    everything = Reach(mdp, policy, np.arange(mdp.n_states), mdp.n_states)
    monkeypatch.setattr(Reach, "of", classmethod(lambda *_: everything))
    np.testing.assert_allclose(part, measured(), atol=1e-8)


def test_a_policy_that_does_not_fit_is_still_refused() -> None:
    mdp = cliff_world(20, 20)
    with pytest.raises(ValueError, match=r"the policy must have shape \(400, 4\)"):
        known_utility(mdp, Policy(probabilities=np.full((30, 4), 0.25)), 3)


def test_bounds_are_certified_where_states_are_hardly_ever_visited() -> None:
    """Visits of 1e-20 and less: their utilities take for ever to settle, and are worth nothing."""
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
    table, features = (unknown_utility(mdp, policy, each, 6, tolerance=1e-9) for each in ("states", np.eye(12)))  # type: ignore[arg-type]
    assert table.value == pytest.approx(features.value, abs=1e-8)
