"""A proof of how large a measurement can be: policies with the observed outcomes that are random otherwise."""

import numpy as np

from gde.data.mdp import Floats
from gde_plugins.meg.causal.decision_problem import DecisionProblem, Policies

CORRECTIONS = 8
"""Newton steps; each doubles the digits."""
EXACT = 1e-13
"""Difference of probabilities that counts as rounding."""


def upper_bound(problem: DecisionProblem, nearly: Policies, basis: Floats | None = None) -> float:
    """Return an upper bound of MEG over all utilities of the targets, where decisions recall what they need.

    By weak duality every policy with the same distribution of outcomes as the measured one proves a bound: the ceiling
    less its entropy. The measured policy itself is one; nearly optimal policies, corrected until they match, are
    another.

    Args:
        problem: the decisions.
        nearly: nearly optimal policies.
        basis: (n_outcomes, K), for utilities that are weighted sums of its columns; then it is enough to match their
            expectations. None for all utilities.
    """
    matched = _matched(problem, nearly, np.eye(problem.n_outcomes) if basis is None else basis)
    bounds = [problem.most, problem.ceiling - problem.entropy(problem.policy)]
    if matched is not None:
        bounds.append(problem.ceiling - problem.entropy(matched))
    return min(bounds)


def _matched(problem: DecisionProblem, policies: Policies, basis: Floats) -> Policies | None:
    """Return policies close to those given with the expectations of the measured one; None where none is found."""
    wanted = problem.outcomes(problem.policy) @ basis
    size = max(1.0, float(np.abs(basis).max()))
    for _ in range(CORRECTIONS):
        missing = wanted - problem.outcomes(policies) @ basis
        if np.abs(missing).max() <= EXACT * size:
            return policies
        policies = _corrected(problem, policies, missing, basis)
        if any(table.min() < 0 for table in policies.values()):
            return None
    return None


def _corrected(problem: DecisionProblem, policies: Policies, missing: Floats, basis: Floats) -> Policies:
    """Take the smallest Newton step relative to the probabilities along which every row still sums to one."""
    slopes = {name: _slopes(problem, policies, name, basis) for name in policies}
    weighted = {name: slopes[name] * policies[name][..., None] for name in policies}
    n = len(missing)
    curvature = np.sum([weighted[name].reshape(-1, n).T @ slopes[name].reshape(-1, n) for name in policies], axis=0)
    step = np.linalg.lstsq(curvature, missing, rcond=1e-12)[0]
    return {name: policies[name] + weighted[name] @ step for name in policies}


def _slopes(problem: DecisionProblem, policies: Policies, name: str, basis: Floats) -> Floats:
    """Return the (*family, K) derivative of the expectations by the probabilities of one decision.

    The part that would change the sum of a row is projected out.
    """
    others = problem.distribution(policies, [name])
    family = problem.families[name]
    slopes = np.stack([problem.marginal(others * problem.on_targets(each), family) for each in basis.T], axis=-1)
    return np.asarray(slopes - (slopes * policies[name][..., None]).sum(axis=-2, keepdims=True))
