"""The weights of a basis of utilities that predict the policies of a diagram best."""

from dataclasses import replace

import numpy as np
from scipy.optimize import minimize

from gde.data.arrays import Doubles
from gde_plugins.meg.causal.certificate import upper_bound
from gde_plugins.meg.causal.decision_problem import DecisionProblem
from gde_plugins.meg.causal.measurement import DiagramMeg, accuracy, measured
from gde_plugins.meg.causal.soft_optimal import soft_optimal

ITERATIONS = 2000
STEEPEST = 1e-10
"""Largest difference between observed and predicted expectations at which the ascent
ends.
"""


def fitted(problem: DecisionProblem, basis: Doubles) -> DiagramMeg:
    """Measure MEG towards any weighted sum of the columns of `basis` (n_outcomes, K);
    `weights` are those of the best, and the bounds are certified.

    The accuracy is concave in the weights. At the maximum the observed expectations of
    the columns equal the predicted ones; their difference is the gradient.
    """
    observed = problem.outcomes(problem.policy) @ basis

    def loss(weights: Doubles) -> tuple[float, Doubles]:
        policies = soft_optimal(problem, basis @ weights)
        excess = problem.outcomes(policies) @ basis - observed
        value = float(weights @ excess) + problem.entropy(policies)
        return value, excess

    start = np.zeros(basis.shape[1])
    options = {"maxiter": ITERATIONS, "gtol": STEEPEST, "ftol": 0.0}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options=options)
    weights: Doubles = found.x

    utility = basis @ weights
    policies = soft_optimal(problem, utility)
    value = max(accuracy(problem, policies), 0.0)
    upper = max(upper_bound(problem, policies, basis), value)
    meg = measured(problem, utility, 1.0, policies, value, (value, upper))
    return replace(meg, weights=weights)
