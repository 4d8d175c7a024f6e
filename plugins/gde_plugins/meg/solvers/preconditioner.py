"""An approximate Newton step for utilities of states, from a stationary surrogate of
the soft-optimal policy.

The curvature of the soft value is the variance of the utility that an episode earns
owing to its choices. A change u of the utility changes the values to come by M u, M =
(I - P)^-1, with P the transitions of the policy. A decision's part of the variance is
that of the expected values between its actions. With C the sum of these over decisions,
the curvature is M' C M and its inverse (I - P) C^-1 (I - P)'.

Without horizon this is exact. With one, choices and values depend on time; P is then
the average over time that leads to the same visits, and C the sum. That is close enough
for conjugate gradients to end within a few steps.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csc_array, csr_array, diags_array
from scipy.sparse.linalg import LinearOperator, SuperLU, cg, splu

from gde.data.arrays import Doubles
from gde_plugins.meg.solvers.dynamics import Dynamics, Mask
from gde_plugins.meg.solvers.softmax import soften

ROUNDING = 1e-6
"""Share of the diagonal of C that is added to it: some changes of values leave every
choice as it is.
"""
LEAST = 1e-13
"""Share of the largest entry that is added too, for states that are hardly ever
visited.
"""
CLOSE = 1e-2
"""Share of the right-hand side at which the inner iteration ends."""
PRODUCTS = 50
"""Steps of the inner iteration after which C is factored instead."""
MOST_FACTORED = 200_000
"""States up to which it is: factors of 10^5 states of a grid take about .3 GiB."""
START_STEPS = 8
"""Steps of L-BFGS for the start; more would fit it to decisions that have a
deadline.
"""

Solve = Callable[[Doubles], Doubles]


def preconditioner(
    dynamics: Dynamics, where: Mask, taken: Doubles, visits: Doubles
) -> Solve:
    """Return a function from a (K,) difference in visits to about the (K,) utilities
    that close it.

    Args:
        dynamics: the world.
        where: (S,) the K states with a finite utility.
        taken: (A, S) decisions of a whole episode that have consequences.
        visits: (S,) of a whole episode.
    """
    invert = _inverse_of_choices(dynamics, taken)
    chances = np.zeros_like(taken)
    np.divide(taken, visits, where=visits > 0, out=chances)

    # (I - P) C^-1 (I - P)', from right to left.
    def step(missing: Doubles) -> Doubles:
        whole = np.zeros(dynamics.n_states)
        whole[where] = missing
        left = whole - dynamics.arrivals(chances * whole)

        values = invert(left)
        expected = (chances * dynamics.ahead(values)).sum(axis=0)
        utilities = values - expected
        return np.asarray(utilities[where])

    return step


def _inverse_of_choices(dynamics: Dynamics, taken: Doubles) -> Solve:
    """Solve with C, the covariance between actions of where they lead.

    Conjugate gradients are quick where everything is near everything. Where worlds are
    wide, as grids are, they are slow and the factors of C are sparse.
    """
    decided = taken.sum(axis=0)
    inverse = np.zeros_like(decided)
    np.divide(1.0, decided, where=decided > 0, out=inverse)
    shares = taken * inverse

    # Scale the diagonal to one. What should be zero may be less, by rounding.
    squared = dynamics.successors.power(2).T @ taken.ravel()
    diagonal = np.maximum(dynamics.discount**2 * squared, 0)

    # Where no choice leads anywhere else, C is zero, and one in its place keeps the
    # system solvable.
    largest = float(diagonal.max(initial=0.0))
    nothing = float(not diagonal.any())
    added = ROUNDING * diagonal + LEAST * largest + nothing
    scale = 1 / np.sqrt(diagonal + added)

    def product(values: Doubles) -> Doubles:
        values = scale * values
        expected = dynamics.ahead(values)
        expected -= (shares * expected).sum(axis=0)
        covaried = dynamics.arrivals(taken * expected)
        return np.asarray(scale * (covaried + added * values))

    n_states = dynamics.n_states
    system = LinearOperator((n_states, n_states), matvec=product, dtype=np.float64)

    @cache
    def factors() -> SuperLU:
        covariance = _covariance(dynamics, taken, shares)
        regular = covariance + diags_array(added)
        scaled = diags_array(scale) @ regular @ diags_array(scale)
        return splu(
            csc_array(scaled),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )

    is_slow = False

    def invert(missing: Doubles) -> Doubles:
        nonlocal is_slow
        wanted = scale * missing
        if not is_slow:
            most = PRODUCTS if n_states <= MOST_FACTORED else None
            solved, unfinished = cg(system, wanted, rtol=CLOSE, maxiter=most)
            is_slow = unfinished > 0 and most is not None
        if is_slow:
            solved = factors().solve(wanted)
        return np.asarray(scale * solved)

    return invert


def _covariance(dynamics: Dynamics, taken: Doubles, shares: Doubles) -> csr_array:
    """Return C (S, S): summed over decisions, the covariance between actions of the
    next state's probabilities.
    """
    S = dynamics.n_states
    successors = dynamics.discount * dynamics.successors
    second = successors.T @ (diags_array(taken.ravel()) @ successors)

    # Row s: the mean over the actions of s.
    columns = np.arange(taken.size)
    rows = np.tile(np.arange(S), len(taken))
    averaging = csr_array((shares.ravel(), (rows, columns)), shape=(S, taken.size))
    mean = averaging @ successors
    decided = diags_array(taken.sum(axis=0))
    return csr_array(second - mean.T @ (decided @ mean))


def initial_utility(dynamics: Dynamics, taken: Doubles) -> Doubles:
    """Return (S,) utilities that predict (A, S) actions taken in whole episodes, as if
    there were no horizon.

    Without horizon any function V of states is the soft value of some utility, U = V -
    ln mean exp E[V'], and predicts of a decision the softmax of E[V']. Fitting V is a
    logistic regression, which takes no pass over time.
    """
    decided = taken.sum(axis=0)

    def loss(values: Doubles) -> tuple[float, Doubles]:
        quality = dynamics.ahead(values)
        # Now, since the next line overwrites the qualities.
        worth = float((taken * quality).sum())
        soft, policy = soften(quality)
        nats = float(decided @ soft) - worth
        slope = -dynamics.arrivals(taken - decided * policy)
        return nats, slope

    found = minimize(
        loss,
        np.zeros(dynamics.n_states),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": START_STEPS, "maxfun": 2 * START_STEPS},
    )
    values: Doubles = found.x

    # An end has no decision after it: its value is its utility.
    following = soften(dynamics.ahead(values)).values
    earned = values - following
    earned[dynamics.ending] = values[dynamics.ending]
    return earned
