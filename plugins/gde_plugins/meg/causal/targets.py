"""MEG in a diagram with respect to target variables: towards any utility of their joint values."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import minimize

from gde.data.mdp import Floats
from gde_plugins.meg.causal.certificate import upper_bound
from gde_plugins.meg.causal.decision_problem import DecisionProblem
from gde_plugins.meg.causal.diagram import Diagram, checked
from gde_plugins.meg.causal.known import DIGITS, best_rationality
from gde_plugins.meg.causal.measurement import GAP, DiagramMeg, accuracy, measured
from gde_plugins.meg.causal.soft_optimal import soft_optimal

FEW = 4
"""Most outcomes for which each is tried as the aim of the decisions."""
ITERATIONS = 2000
STEEPEST = 1e-10
"""Largest difference between observed and predicted outcome probabilities at which the ascent ends."""


def target_variables(diagram: Diagram, targets: Sequence[str], decisions: Sequence[str] = ()) -> DiagramMeg:
    """Measure MEG with respect to target variables: the maximum over utilities of their joint values (Definition 4.4).

    Measured is the policy in the diagram's tables, P(D | parents of D); `Diagram.follow` gives it another.

    Where every decision recalls what it needs, the accuracy is concave in the utility: it is fitted by ascent along
    P_pi(targets) - P_U(targets), and both bounds are certified. Where it does not, the utility is sought in the same
    way and the rationality as for a known utility, see `gde_plugins.meg.causal.recall` for what is certain then.

    Args:
        diagram: a causal model.
        targets: names of the variables that a utility may depend on.
        decisions: names of the variables that decide, beside those that are decisions of the diagram already.

    Raises:
        ValueError: a name is no variable, a target is a decision, there is no decision or target, or exact inference
            is too large (the number of entries is named).
    """
    checked(diagram).check(targets)
    if not targets:
        raise ValueError("wanted at least one target variable, got none")
    posited = diagram.posit(decisions)
    if own := [name for name in targets if name in posited.decisions]:
        raise ValueError(
            f"wanted targets that are no decisions, got {', '.join(own)}: any policy aims at its own actions"
        )
    problem = DecisionProblem(posited, [targets])
    if problem.order is None:
        found = [best_rationality(problem, each) for each in _candidates(problem)]
        best = max(found, key=lambda each: (round(each.value, DIGITS), each.bounds[0]))
        if problem.n_outcomes == 2:
            return best
        bounds = (best.bounds[0], problem.most)  # of all utilities, not of this one
        return replace(best, bounds=bounds, converged=bounds[1] - bounds[0] <= GAP)
    utility = _ascended(problem)
    policies = soft_optimal(problem, utility)
    value = max(accuracy(problem, policies), 0.0)
    return measured(problem, utility, 1.0, policies, value, (value, max(upper_bound(problem, policies), value)))


def _candidates(problem: DecisionProblem) -> Iterator[Floats]:
    """Yield utilities (n_outcomes,) to try where ascent may end in a local maximum.

    Of two outcomes all utilities are one but for scale and origin (Proposition 3.1). Of more, these are the one that
    ascent finds, what is observed more often than under uniform choice, and, of few, each outcome by itself.
    """
    if problem.n_outcomes == 2:
        yield np.array([0.0, 1.0])
        return
    yield _ascended(problem)
    yield problem.outcomes(problem.policy) - problem.outcomes(problem.uniform)
    if problem.n_outcomes <= FEW:
        yield from np.eye(problem.n_outcomes)


def _ascended(problem: DecisionProblem) -> Floats:
    """Return the (n_outcomes,) utility for which observed and predicted outcomes agree best."""
    observed = problem.outcomes(problem.policy)

    def loss(utility: Floats) -> tuple[float, Floats]:
        policies = soft_optimal(problem, utility)
        predicted = problem.outcomes(policies)
        return float(utility @ (predicted - observed)) + problem.entropy(policies), predicted - observed

    start = np.zeros(problem.n_outcomes)
    options = {"maxiter": ITERATIONS, "gtol": STEEPEST, "ftol": 0.0}
    found: Floats = minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x
    return found
