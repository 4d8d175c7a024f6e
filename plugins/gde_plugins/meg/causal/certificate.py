"""A proof of how large a measurement can be at most: policies with the observed outcomes, and random otherwise."""

import numpy as np

from gde.data.mdp import Floats
from gde_plugins.meg.causal.decision_problem import DecisionProblem, Policies

CORRECTIONS = 8
"""Newton steps; each doubles the digits."""
EXACT = 1e-13
"""Difference of probabilities that counts as rounding."""


def upper_bound(problem: DecisionProblem, nearly: Policies, basis: Floats | None = None) -> float:
    """At least the largest MEG that any utility of the targets gives, where decisions recall what they need.

    With a basis (n_outcomes, K), any weighted sum of its columns; then it is enough to have their expectations.

    By weak duality every policy with the same distribution of outcomes as the measured one proves a bound: the
    ceiling less its entropy. The measured policy itself is one; nearly optimal policies, corrected until they match,
    are another.
    """
    matched = _matched(problem, nearly, np.eye(problem.n_outcomes) if basis is None else basis)
    proofs = [problem.policy, *([] if matched is None else [matched])]
    return min(problem.most, *(problem.ceiling - problem.entropy(policies) for policies in proofs))


def _matched(problem: DecisionProblem, policies: Policies, basis: Floats) -> Policies | None:
    """Policies close to those given with the expectations of the measured one; None where none is found."""
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
    """One Newton step, the smallest one relative to the probabilities, along which every row goes on to sum to one."""
    slopes = {name: _slopes(problem, policies, name, basis) for name in policies}
    weighted = {name: slopes[name] * policies[name][..., None] for name in policies}
    n = len(missing)
    curvature = np.sum([weighted[name].reshape(-1, n).T @ slopes[name].reshape(-1, n) for name in policies], axis=0)
    step = np.linalg.lstsq(curvature, missing, rcond=1e-12)[0]
    return {name: policies[name] + weighted[name] @ step for name in policies}


def _slopes(problem: DecisionProblem, policies: Policies, name: str, basis: Floats) -> Floats:
    """(*family, K) derivative of the expectations by the probabilities of one decision, without the part that
    would change the sum of a row."""
    others, family = problem.distribution(policies, [name]), problem.families[name]
    slopes = np.stack([problem.marginal(others * problem.on_targets(each), family) for each in basis.T], axis=-1)
    return np.asarray(slopes - (slopes * policies[name][..., None]).sum(axis=-2, keepdims=True))
