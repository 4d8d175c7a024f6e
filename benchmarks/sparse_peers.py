"""What `bench_meg_sparse.py` measures against in large worlds: the textbook's way over sparse matrices, vectorised.

All actions' transitions are one sparse matrix; a step backwards is one product, a stable softmax and nothing else, a
step forwards one product with its transpose. No state is set aside and no bound is computed.
"""

from collections.abc import Iterable

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.sparse import csr_array, vstack

from gde import Policy, TabularMDP
from gde.data.mdp import Floats

SETTLED = 1e-10
"""Change at which an iteration without horizon ends."""


class Sparse:
    """Soft value iteration and the visits of its policy, over a finite horizon."""

    def __init__(self, mdp: TabularMDP, policy: Policy, horizon: int) -> None:
        self.ahead = csr_array(vstack(mdp.transition, format="csr"))
        self.back = self.ahead.T
        self.shape, self.start, self.horizon, self.evaluations = (mdp.n_actions, mdp.n_states), mdp.start, horizon, 0
        table = policy.probabilities
        self.visits = self.visited(table.T if table.ndim == 2 else table[t].T for t in range(horizon))

    def soft(self, utility: Floats) -> tuple[Floats, list[Floats]]:
        """(S,) values at the start, and the (A, S) policies from the first step to the last."""
        values, policies = np.zeros(self.shape[1]), []
        for _ in range(self.horizon):
            quality = utility + (self.ahead @ values).reshape(self.shape)
            best = quality.max(axis=0)
            weights = np.exp(quality - best)
            total = weights.sum(axis=0)
            policies.append(weights / total)
            values = best + np.log(total / self.shape[0])
        return values, policies[::-1]

    def visited(self, policies: Iterable[Floats]) -> Floats:
        """(S,) visits of a whole episode."""
        now, total = self.start, np.zeros(self.shape[1])
        for policy in policies:
            total += now
            now = self.back @ (now * policy).ravel()
        return total

    def loss(self, utility: Floats) -> tuple[float, Floats]:
        """The accuracy of predicting the policy, negated, and its gradient."""
        self.evaluations += 1
        values, policies = self.soft(utility)
        return float(self.start @ values - self.visits @ utility), self.visited(policies) - self.visits


class FoundError(Exception):
    """The search is there."""


def fit(peer: Sparse, enough: float, most: int) -> bool:
    """Fit any utility of states by L-BFGS, until the accuracy is `enough`: which it could not know by itself.

    Args:
        peer: the model.
        enough: nats.
        most: evaluations.

    Returns:
        Whether it got there.
    """

    def loss(utility: Floats) -> tuple[float, Floats]:
        value, slope = peer.loss(utility)
        if -value >= enough or peer.evaluations >= most:
            raise FoundError(-value >= enough)
        return value, slope

    try:
        options = {"maxiter": most, "maxfun": most, "ftol": 0.0, "gtol": 0.0}
        minimize(loss, np.zeros(peer.shape[1]), jac=True, method="L-BFGS-B", options=options)
    except FoundError as found:
        return bool(found.args[0])
    return False


def rationality(peer: Sparse, reward: Floats) -> float:
    """The rationality of largest accuracy: where its slope changes sign, by doubling and Brent's method."""

    def slope(beta: float) -> float:
        return float(peer.loss(beta * reward)[1] @ reward)

    beta = 1.0 if slope(0.0) < 0 else -1.0
    while beta * slope(beta) < 0:
        beta *= 2
    return float(brentq(slope, 0.0, beta, xtol=1e-9))


class Endless(Sparse):
    """The same without horizon, discounted: soft value iteration and visits until neither changes by 1e-10."""

    def __init__(self, mdp: TabularMDP, policy: Policy) -> None:
        self.discount = mdp.discount
        super().__init__(mdp, policy, 1)

    def soft(self, utility: Floats) -> tuple[Floats, list[Floats]]:
        values, change = np.zeros(self.shape[1]), np.inf
        while change > SETTLED:
            quality = utility + self.discount * (self.ahead @ values).reshape(self.shape)
            best = quality.max(axis=0)
            weights = np.exp(quality - best)
            total = weights.sum(axis=0)
            before, values = values, best + np.log(total / self.shape[0])
            change = np.abs(values - before).max()
        return values, [weights / total]

    def visited(self, policies: Iterable[Floats]) -> Floats:
        (policy,) = policies
        now, total = self.start, np.zeros(self.shape[1])
        while now.sum() > SETTLED:
            total += now
            now = self.discount * (self.back @ (now * policy).ravel())
        return total
