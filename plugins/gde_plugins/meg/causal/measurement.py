"""The result of a measurement in a diagram, and the accuracy that it maximises."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log

from scipy.special import xlogy

from gde.data.arrays import Doubles
from gde_plugins.meg.causal.decision_problem import DecisionProblem, Policies
from gde_plugins.meg.solvers.result import Meg

GAP = 1e-6
"""Nats between the bounds of a converged measurement."""


@dataclass(frozen=True, kw_only=True, eq=False)
class DiagramMeg(Meg):
    """Goal-directedness in a diagram; `utility` has an axis for every target.

    Where decisions have different numbers of options, `decisions` counts them in units
    of the one with most.
    """

    targets: tuple[str, ...]
    """The variables that the utility depends on, in the order of its axes."""
    policies: Mapping[str, Doubles] = field(repr=False)
    """The policies that predict best, by decision; shape (*cardinalities of the
    parents, options).
    """


def accuracy(problem: DecisionProblem, policies: Policies) -> float:
    """Return the log-probability of the measured choices above that of uniform choice,
    in nats (Definition 3.2).
    """
    done = problem.distribution(problem.policy)
    logs = 0.0
    for name, policy in policies.items():
        # What was never done counts nothing, however unlikely: `xlogy` gives zero
        # there.
        frequencies = problem.marginal(done, problem.families[name])
        logs += xlogy(frequencies, policy).sum()
    return problem.ceiling + float(logs)


def measured(
    problem: DecisionProblem,
    utility: Doubles,
    beta: float,
    policies: Policies,
    value: float,
    bounds: tuple[float, float],
) -> DiagramMeg:
    """Make a measurement of the findings of a search."""
    most = max(table.shape[-1] for table in problem.policy.values())

    # A decision that the targets do not depend on raises no ceiling.
    ceiling = 0.0
    for name in problem.consequential():
        ceiling += log(problem.policy[name].shape[-1])
    decisions = ceiling / log(most) if most > 1 else 0.0

    return DiagramMeg(
        value=value,
        beta=beta,
        bounds=bounds,
        converged=bounds[1] - bounds[0] <= GAP,
        decisions=decisions,
        n_actions=most,
        utility=problem.shaped(utility),
        targets=problem.targets,
        policies=policies,
    )
