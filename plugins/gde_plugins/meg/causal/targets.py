"""MEG in a diagram with respect to target variables: towards any utility of their joint
values.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from gde.data.mdp import Floats
from gde_plugins.meg.causal.certificate import upper_bound
from gde_plugins.meg.causal.decision_problem import DecisionProblem
from gde_plugins.meg.causal.diagram import Diagram
from gde_plugins.meg.causal.known import DIGITS, best_rationality
from gde_plugins.meg.causal.measurement import GAP, DiagramMeg, accuracy, measured
from gde_plugins.meg.causal.parametric import ascended
from gde_plugins.meg.causal.soft_optimal import soft_optimal

FEW = 4
"""Most outcomes for which each is tried as the aim of the decisions."""


def target_variables(
    diagram: Diagram, targets: Sequence[str], decisions: Sequence[str] = ()
) -> DiagramMeg:
    """Measure MEG with respect to target variables: the maximum over utilities of their
    joint values (Definition 4.4).

    The measured policy is the one in the diagram's tables, P(D | parents of D);
    `Diagram.follow` gives another.

    Where every decision recalls what it needs, the accuracy is concave in the utility:
    ascent along P_pi(targets) - P_U(targets) fits it, and both bounds are certified.
    Elsewhere ascent is one of several ways to find the utility, with the rationality as
    for a known one; `gde_plugins.meg.causal.recall` says what is certain then.

    Args:
        diagram: a causal model. targets: names of the variables that a utility may
        depend on. decisions: names of the variables that decide, in addition to the
        decisions of the diagram.

    Raises:
        ValueError: a name is no variable, a target is a decision, there is no decision
        or target, or exact inference
            is too large (the number of entries is named).
    """
    diagram.check(targets)
    if not targets:
        raise ValueError("wanted at least one target variable, got none")
    posited = diagram.posit(decisions)
    own = [name for name in targets if name in posited.decisions]
    if own:
        raise ValueError(
            f"wanted targets that are no decisions, got {', '.join(own)}: any policy aims at its own actions"
        )
    problem = DecisionProblem(posited, [targets])
    if problem.order is None:
        return _without_recall(problem)

    utility = ascended(problem, np.eye(problem.n_outcomes))
    policies = soft_optimal(problem, utility)
    value = max(accuracy(problem, policies), 0.0)
    upper = max(upper_bound(problem, policies), value)
    return measured(problem, utility, 1.0, policies, value, (value, upper))


def _without_recall(problem: DecisionProblem) -> DiagramMeg:
    found = [best_rationality(problem, utility) for utility in _candidates(problem)]
    # Of values that differ by rounding alone the one with the higher lower bound is
    # known better.
    best = max(found, key=lambda each: (round(each.value, DIGITS), each.bounds[0]))

    # Of two outcomes, one utility stands for all; else the upper bound has to hold for
    # those not tried, too.
    if problem.n_outcomes == 2:
        return best
    lower = best.bounds[0]
    upper = problem.most
    return replace(best, bounds=(lower, upper), converged=upper - lower <= GAP)


def _candidates(problem: DecisionProblem) -> Iterator[Floats]:
    """Yield utilities (n_outcomes,) to try where ascent may end in a local maximum.

    All utilities of two outcomes are equal up to scale and origin (Proposition 3.1).
    For more outcomes, these are the utility that ascent finds, the excess of observed
    over uniform frequencies, and, for few, each outcome by itself.
    """
    if problem.n_outcomes == 2:
        yield np.array([0.0, 1.0])
        return
    each_outcome = np.eye(problem.n_outcomes)
    yield ascended(problem, each_outcome)
    yield problem.outcomes(problem.policy) - problem.outcomes(problem.uniform)
    if problem.n_outcomes <= FEW:
        yield from each_outcome
