"""MEG in a diagram with respect to target variables: towards any utility of their joint
values.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gde_plugins.meg.causal.decision_problem import DecisionProblem
from gde_plugins.meg.causal.diagram import Diagram
from gde_plugins.meg.causal.fitting import fitted
from gde_plugins.meg.causal.measurement import DiagramMeg


def target_variables(
    diagram: Diagram, targets: Sequence[str], decisions: Sequence[str] = ()
) -> DiagramMeg:
    """Measure MEG with respect to target variables: the maximum over utilities of their
    joint values (Definition 4.4).

    The measured policy is the one in the diagram's tables, P(D | parents of D);
    `Diagram.follow` gives another.

    The accuracy is concave in the utility: ascent along P_pi(targets) - P_U(targets)
    fits it, and both bounds are certified.

    Args:
        diagram: a causal model.
        targets: names of the variables that a utility may depend on.
        decisions: names of the variables that decide, in addition to the decisions of
            the diagram.

    Raises:
        ValueError: a name is no variable, a target is a decision, there is no decision
            or target, a decision does not recall what it needs, or exact inference is
            too large.
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
    return replace(fitted(problem, np.eye(problem.n_outcomes)), weights=None)
