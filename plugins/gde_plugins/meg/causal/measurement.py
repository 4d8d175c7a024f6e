"""What a measurement in a diagram returns, and the accuracy that it is about."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log

from scipy.special import xlogy

from gde.data.mdp import Floats
from gde_plugins.meg.causal.decision_problem import DecisionProblem, Policies
from gde_plugins.meg.solvers.result import Meg

GAP = 1e-6
"""Nats between the bounds of a converged measurement."""


@dataclass(frozen=True, kw_only=True, eq=False)
class DiagramMeg(Meg):
    """Goal-directedness in a diagram; `utility` has an axis for every target.

    Where decisions have different numbers of options, `decisions` counts them in units of the one with most.
    """

    targets: tuple[str, ...]
    """What the utility depends on, in the order of its axes."""
    policies: Mapping[str, Floats] = field(repr=False)
    """The policies that predict best, by decision; shape (*cardinalities of the parents, options)."""


def accuracy(problem: DecisionProblem, policies: Policies) -> float:
    """How much more log-probability than uniform choice the policies give to what is done, in nats (Definition 3.2)."""
    done = problem.distribution(problem.policy)
    logs = (xlogy(problem.marginal(done, problem.families[name]), policy).sum() for name, policy in policies.items())
    return problem.ceiling + float(sum(logs))


def measured(
    problem: DecisionProblem,
    utility: Floats,
    beta: float,
    policies: Policies,
    value: float,
    bounds: tuple[float, float],
    gap: float = GAP,
) -> DiagramMeg:
    """Bring a search's findings into the form of a measurement."""
    options = {name: problem.policy[name].shape[-1] for name in problem.decisions}
    most = max(options.values())
    return DiagramMeg(
        value=value,
        beta=beta,
        bounds=bounds,
        converged=bounds[1] - bounds[0] <= gap,
        decisions=sum(log(options[name]) for name in problem.consequential()) / log(most) if most > 1 else 0.0,
        n_actions=most,
        utility=problem.shaped(utility),
        targets=problem.targets,
        policies=policies,
    )
