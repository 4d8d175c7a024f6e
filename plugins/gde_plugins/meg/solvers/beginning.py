"""Where to begin the search for a utility of states: where it would end if decisions had no deadline.

Without horizon any function V of states is the soft value of some utility, U = V - ln mean exp E[V'], and what it
predicts of a decision is the softmax of the expected values of what follows. That is a logistic regression: it takes no
pass over time to evaluate. With a horizon it is only near, so that a few steps of L-BFGS say all that it can.
"""

import numpy as np
from scipy.optimize import minimize

from gde.data.mdp import Floats
from gde_plugins.meg.solvers.dynamics import Dynamics
from gde_plugins.meg.solvers.softmax import soften

STEPS = 8
"""Of L-BFGS; more would fit V to what has a deadline."""


def beginning(dynamics: Dynamics, taken: Floats) -> Floats:
    """(S,) utilities that predict (A, S) actions taken in whole episodes, as if there were no horizon."""
    decided = taken.sum(axis=0)

    def loss(values: Floats) -> tuple[float, Floats]:
        quality = dynamics.ahead(values)
        worth = float((taken * quality).sum())
        soft, policy = soften(quality)
        return float(decided @ soft) - worth, -dynamics.arrivals(taken - decided * policy)

    options = {"maxiter": STEPS, "maxfun": 2 * STEPS}
    values = minimize(loss, np.zeros(dynamics.n_states), jac=True, method="L-BFGS-B", options=options).x
    earned: Floats = values - soften(dynamics.ahead(values)).values
    earned[dynamics.ending] = values[dynamics.ending]
    return earned
