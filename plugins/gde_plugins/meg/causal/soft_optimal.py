"""Policies of highest entropy for what they attain (MacDermott et al. 2024, Definition 3.1) in influence diagrams."""

from collections.abc import Iterator
from math import inf, isinf

import numpy as np
from scipy.special import entr, softmax

from gde.data.mdp import Floats
from gde.seeding import generator
from gde_plugins.meg.causal.decision_problem import DecisionProblem, Policies

QUALIFYING, FINAL = 30, 2000
"""Rounds of improvement without recall: for every start, and for the best of them."""
SETTLED = 1e-12
"""Change of a probability below which a round has changed nothing."""
STARTS = 6
"""Random starts of the search without recall, beside the uniform policy and the one that is measured."""
TIE = 1e-12
"""Expected utilities count as equal for an optimal policy if they are closer than this share of their sizes: of what
they would be if all utilities were positive."""


def soft_optimal(problem: DecisionProblem, utility: Floats, beta: float = 1.0) -> Policies:
    """The policies that maximise beta * E[utility] + entropy; at beta = +-inf, the entropy among the optimal ones.

    Where the decisions recall what they need (`DecisionProblem.order`), one pass of backward induction finds the one
    maximum. Elsewhere the problem is not concave: policies are improved one at a time, each to the best reply to the
    others, from several starts, and the best end is taken: a local maximum at least.

    Args:
        problem: the decisions.
        utility: (n_outcomes,) of the targets' joint values.
        beta: rationality, in units of 1 / utility.
    """
    if problem.order is not None:
        policies = dict(problem.uniform)
        for name in problem.order:
            policies[name] = _reply(problem, policies, name, utility, beta)
        return policies
    ends = [_improved(problem, start, utility, beta, QUALIFYING) for start in _starts(problem)]
    best = max(ends, key=lambda policies: merit(problem, policies, utility, beta))
    return _improved(problem, best, utility, beta, FINAL)


def merit(problem: DecisionProblem, policies: Policies, utility: Floats, beta: float) -> tuple[float, float]:
    """What soft-optimal policies maximise; at infinite beta the entropy decides between equal utilities alone."""
    expected, entropy = float(problem.outcomes(policies) @ utility), problem.entropy(policies)
    if isinf(beta):
        return round(np.sign(beta) * expected / (TIE * np.ptp(utility) or 1.0)), entropy
    return beta * expected + entropy, 0.0


def _starts(problem: DecisionProblem) -> Iterator[Policies]:
    yield problem.uniform
    yield problem.policy
    rng = generator(0, "soft optimal policies")
    for _ in range(STARTS):
        yield {
            name: rng.dirichlet(np.full(table.shape[-1], 0.5), size=table.shape[:-1])
            for name, table in problem.policy.items()
        }


def _improved(problem: DecisionProblem, start: Policies, utility: Floats, beta: float, rounds: int) -> Policies:
    policies = dict(start)
    for _ in range(rounds):
        before = dict(policies)
        for name in reversed(problem.decisions):
            policies[name] = _reply(problem, policies, name, utility, beta)
        if max(np.abs(policies[name] - before[name]).max() for name in policies) < SETTLED:
            break
    return policies


def _reply(problem: DecisionProblem, policies: Policies, name: str, utility: Floats, beta: float) -> Floats:
    """The best policy of one decision, all others kept; uniform where the decision is never reached."""
    family = problem.families[name]
    others = problem.distribution(policies, [name])
    reach = problem.marginal(others, family)
    worth = problem.marginal(others * problem.on_targets(utility), family)
    entropy = np.zeros_like(reach)
    for other in problem.decisions:
        if other != name:
            unmade = problem.distribution(policies, [name, other])
            surprise = problem.spread(entr(policies[other]), problem.families[other])
            entropy += problem.marginal(unmade * surprise, family)
    size = problem.marginal(others * problem.on_targets(np.abs(utility)), family)
    reached = np.where(reach > 0, reach, 1.0)
    return _boltzmann(worth / reached, entropy / reached, beta, TIE * size / reached)


def _boltzmann(worth: Floats, entropy: Floats, beta: float, blur: Floats) -> Floats:
    """Softmax over the last axis; at beta = +-inf over the best alone, as far as values that are blurred so much tell,
    by the entropy that they leave."""
    if not isinf(beta):
        return np.asarray(softmax(beta * worth + entropy, axis=-1))
    worth = np.sign(beta) * worth
    blur_of_best = np.take_along_axis(blur, worth.argmax(axis=-1, keepdims=True), axis=-1)
    best = worth.max(axis=-1, keepdims=True) - worth <= blur + blur_of_best
    return np.asarray(softmax(np.where(best, entropy, -inf), axis=-1))
