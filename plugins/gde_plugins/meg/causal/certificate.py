"""Upper bounds of MEG, proven by policies with the observed outcomes and the highest
entropy.
"""

import numpy as np

from gde.data.arrays import Doubles
from gde_plugins.meg.causal.decision_problem import DecisionProblem, Policies

CORRECTIONS = 8
"""Newton steps; each doubles the number of correct digits."""
EXACT = 1e-13
"""Difference of probabilities that counts as rounding."""


def upper_bound(
    problem: DecisionProblem, nearly: Policies, basis: Doubles | None = None
) -> float:
    """Return an upper bound of MEG over all utilities of the targets, where decisions
    recall what they need.

    By weak duality every policy with the same distribution of outcomes as the measured
    one proves a bound: the ceiling less its entropy. The measured policy itself is one
    such policy. Another one is made of nearly optimal policies, corrected until they
    match.

    Args:
        problem: the decisions.
        nearly: nearly optimal policies.
        basis: (n_outcomes, K), for utilities that are weighted sums of its columns.
            Then policies match if the expectations of the columns do. None stands for
            all utilities.
    """
    if basis is None:
        basis = np.eye(problem.n_outcomes)
    bounds = [problem.most, problem.ceiling - problem.entropy(problem.policy)]

    matched = _matched(problem, nearly, basis)
    if matched is not None:
        bounds.append(problem.ceiling - problem.entropy(matched))
    return min(bounds)


def _matched(
    problem: DecisionProblem, policies: Policies, basis: Doubles
) -> Policies | None:
    """Return policies close to those given with the expectations of the measured one;
    None where none is found.
    """
    wanted = problem.outcomes(problem.policy) @ basis
    largest = float(np.abs(basis).max())
    tolerance = EXACT * max(1.0, largest)

    for _ in range(CORRECTIONS):
        missing = wanted - problem.outcomes(policies) @ basis
        if np.abs(missing).max() <= tolerance:
            return policies

        policies = _corrected(problem, policies, missing, basis)
        # A step that leaves the simplex has no policy behind it, so it proves nothing.
        for table in policies.values():
            if table.min() < 0:
                return None
    return None


def _corrected(
    problem: DecisionProblem,
    policies: Policies,
    missing: Doubles,
    basis: Doubles,
) -> Policies:
    """Take the Newton step that is smallest relative to the probabilities and keeps the
    sum of every row.
    """
    n = len(missing)
    steps = {}
    curvatures = []
    for name, policy in policies.items():
        slopes = _slopes(problem, policies, name, basis)
        weighted = slopes * policy[..., None]
        left = weighted.reshape(-1, n)
        right = slopes.reshape(-1, n)
        curvatures.append(left.T @ right)
        steps[name] = weighted

    # Least squares, as the curvature is singular where a direction of the basis changes
    # nothing.
    curvature = np.sum(curvatures, axis=0)
    multipliers = np.linalg.lstsq(curvature, missing, rcond=1e-12)[0]

    corrected = {}
    for name, policy in policies.items():
        corrected[name] = policy + steps[name] @ multipliers
    return corrected


def _slopes(
    problem: DecisionProblem,
    policies: Policies,
    name: str,
    basis: Doubles,
) -> Doubles:
    """Return the (*family, K) derivative of the expectations by the probabilities of
    one decision.
    """
    family = problem.families[name]
    others = problem.distribution(policies, [name])
    columns = []
    for column in basis.T:
        worth = others * problem.on_targets(column)
        columns.append(problem.marginal(worth, family))
    slopes = np.stack(columns, axis=-1)

    # Without the mean of its row, a step along the slopes leaves the sum of the row at
    # one.
    weighted = slopes * policies[name][..., None]
    mean = weighted.sum(axis=-2, keepdims=True)
    return np.asarray(slopes - mean)
