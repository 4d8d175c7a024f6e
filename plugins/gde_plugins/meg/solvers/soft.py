"""Soft-optimal policies for a known reward."""

from math import isnan
from numbers import Real

from gde.data.mdp import Policy, TabularMDP
from gde_plugins.meg.solvers.process import process_of


def soft_policy(mdp: TabularMDP, beta: float, horizon: int | None = 30) -> Policy:
    """The policy of most causal entropy for its expected reward (MacDermott et al. 2024, Theorem 5.1, eq. 3).

    Args:
        mdp: the model; a reward (S,) is earned in each of the `horizon` states visited, a reward (S, A) by each action.
            Its discount is the chance that the episode goes on after a step.
        beta: rationality in units of 1 / reward. 0 is uniform; +-inf is the policy of most causal entropy among the
            best, or worst, ones.
        horizon: number of states visited, hence of decisions; None for episodes that go on until they end.

    Returns:
        (H, S, A) probabilities, (S, A) without horizon; uniform in terminal states.

    Raises:
        ValueError: the horizon is not positive, beta is NaN, or the policy is too large to tabulate.
    """
    if not isinstance(beta, Real) or isnan(beta):
        got = "NaN" if isinstance(beta, Real) else repr(beta)
        raise ValueError(f"beta must be a number or +-inf, got {got}")
    process = process_of(mdp, horizon)
    return process.tabulate(process.dynamics.utility(mdp.reward), beta)
