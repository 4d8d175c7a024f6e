"""A proof of how large a measurement can be at most: policies with the observed outcomes, and random otherwise."""

import numpy as np

from gde.data.mdp import Floats
from gde_plugins.meg.causal.decision_problem import DecisionProblem, Policies

CORRECTIONS = 8
"""Newton steps; each doubles the digits."""
EXACT = 1e-13
"""Difference of probabilities that counts as rounding."""


def upper_bound(problem: DecisionProblem, nearly: Policies) -> float:
    """At least the largest MEG that any utility of the targets gives, where decisions recall what they need.

    By weak duality every policy with the same distribution of outcomes as the measured one proves a bound: the
    ceiling less its entropy. The measured policy itself is one; nearly optimal policies, corrected until they match,
    are another.
    """
    matched = _matched(problem, nearly)
    proofs = [problem.policy, *([] if matched is None else [matched])]
    return min(problem.most, *(problem.ceiling - problem.entropy(policies) for policies in proofs))


def _matched(problem: DecisionProblem, policies: Policies) -> Policies | None:
    """Policies close to those given with the outcomes of the measured one; None where none is found."""
    wanted = problem.outcomes(problem.policy)
    for _ in range(CORRECTIONS):
        missing = wanted - problem.outcomes(policies)
        if np.abs(missing).max() <= EXACT:
            return policies
        policies = _corrected(problem, policies, missing)
        if any(table.min() < 0 for table in policies.values()):
            return None
    return None


def _corrected(problem: DecisionProblem, policies: Policies, missing: Floats) -> Policies:
    """One Newton step, the smallest one relative to the probabilities, along which every row goes on to sum to one."""
    slopes = {name: _slopes(problem, policies, name) for name in policies}
    weighted = {name: slopes[name] * policies[name][..., None] for name in policies}
    n = len(missing)
    curvature = np.sum([weighted[name].reshape(-1, n).T @ slopes[name].reshape(-1, n) for name in policies], axis=0)
    step = np.linalg.lstsq(curvature, missing, rcond=1e-12)[0]
    return {name: policies[name] + weighted[name] @ step for name in policies}


def _slopes(problem: DecisionProblem, policies: Policies, name: str) -> Floats:
    """(*family, n_outcomes) derivative of the outcomes by the probabilities of one decision, without the part that
    would change the sum of a row."""
    others, family = problem.distribution(policies, [name]), problem.families[name]
    every = np.eye(problem.n_outcomes)
    slopes = np.stack([problem.marginal(others * problem.on_targets(outcome), family) for outcome in every], axis=-1)
    return np.asarray(slopes - (slopes * policies[name][..., None]).sum(axis=-2, keepdims=True))
