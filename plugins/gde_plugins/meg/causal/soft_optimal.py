"""Policies of highest entropy for what they attain (MacDermott et al. 2024, Definition
3.1) in influence diagrams.
"""

from math import inf, isinf

import numpy as np
from scipy.special import entr, softmax

from gde.data.arrays import Doubles
from gde_plugins.meg.causal.decision_problem import DecisionProblem, Policies

TIE = 1e-12
"""Expected utilities closer than this are equal for an optimal policy; the unit is the
expected absolute utility.
"""


def soft_optimal(
    problem: DecisionProblem, utility: Doubles, beta: float = 1.0
) -> Policies:
    """Find the policies that maximise beta * E[utility] + entropy, by one pass of
    backward induction; at +-inf, the entropy among the optimal ones.

    Args:
        problem: the decisions.
        utility: (n_outcomes,) of the targets' joint values.
        beta: rationality, in units of 1 / utility.
    """
    policies = dict(problem.uniform)
    for name in problem.order:
        policies[name] = _reply(problem, policies, name, utility, beta)
    return policies


def _reply(
    problem: DecisionProblem,
    policies: Policies,
    name: str,
    utility: Doubles,
    beta: float,
) -> Doubles:
    """Return the best policy of one decision, the others fixed; uniform where the
    decision is never reached.
    """
    family = problem.families[name]
    others = problem.distribution(policies, [name])
    reach = problem.marginal(others, family)
    worth = problem.marginal(others * problem.on_targets(utility), family)
    absolute = problem.on_targets(np.abs(utility))
    size = problem.marginal(others * absolute, family)

    # The entropies of the other decisions count like utilities of their own.
    entropy = np.zeros_like(reach)
    for other in problem.decisions:
        if other == name:
            continue
        weights = problem.distribution(policies, [name, other])
        surprise = problem.spread(entr(policies[other]), problem.families[other])
        entropy += problem.marginal(weights * surprise, family)

    # All sums are joint with reaching the decision; the choice depends on them given
    # that it is reached.
    reached = np.where(reach > 0, reach, 1.0)
    blur = TIE * size / reached
    return _boltzmann(worth / reached, entropy / reached, beta, blur)


def _boltzmann(
    worth: Doubles,
    entropy: Doubles,
    beta: float,
    blur: Doubles,
) -> Doubles:
    """Return the softmax over the last axis; at +-inf over the best alone, up to the
    `blur` of their values.
    """
    if not isinf(beta):
        merits = beta * worth + entropy
        return np.asarray(softmax(merits, axis=-1))

    worth = np.sign(beta) * worth
    place = worth.argmax(axis=-1, keepdims=True)
    blur_of_best = np.take_along_axis(blur, place, axis=-1)
    short = worth.max(axis=-1, keepdims=True) - worth
    best = short <= blur + blur_of_best
    among_best = np.where(best, entropy, -inf)
    return np.asarray(softmax(among_best, axis=-1))
