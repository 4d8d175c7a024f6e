"""What `bench_meg_sparse.py` measures against in large worlds: the textbook's way over
sparse matrices, vectorised.

All actions' transitions are one sparse matrix; a step backwards is one product, a
stable softmax and nothing else, a step forwards one product with its transpose. States
that episodes cannot reach are set aside, as ours does.
"""

import time
from collections.abc import Iterable
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize
from scipy.sparse import csr_array, vstack

from gde import Policy, TabularMDP
from gde.data.arrays import Doubles

SETTLED = 1e-10
"""Change at which an iteration without horizon ends."""


class Sparse:
    """Soft value iteration and the visits of its policy, over a finite horizon."""

    def __init__(self, mdp: TabularMDP, policy: Policy, horizon: int) -> None:
        self.states = self.reached(mdp, horizon)
        # A row that leads out is that of a last action, whatever follows it.
        rows = [matrix[self.states][:, self.states] for matrix in mdp.transition]
        self.ahead = csr_array(vstack(rows, format="csr"))
        self.back = self.ahead.T
        self.shape = (mdp.n_actions, len(self.states))
        self.start = mdp.start[self.states]
        self.horizon = horizon
        self.evaluations = 0
        table = policy.probabilities[..., self.states, :]
        self.visits = self.visited(
            table.T if table.ndim == 2 else table[t].T for t in range(horizon)
        )

    def reached(self, mdp: TabularMDP, horizon: int) -> NDArray[np.intp]:
        """The states that episodes reach."""
        reached = mdp.start > 0
        for _ in range(horizon - 1):
            following = [matrix.T @ reached.astype(float) for matrix in mdp.transition]
            reached = reached | (np.sum(following, axis=0) > 0)
        return np.flatnonzero(reached)

    def soft(self, utility: Doubles) -> tuple[Doubles, list[Doubles]]:
        """(S,) values at the start, and the (A, S) policies from the first step to the
        last.
        """
        values, policies = np.zeros(self.shape[1]), []
        for _ in range(self.horizon):
            quality = utility + (self.ahead @ values).reshape(self.shape)
            best = quality.max(axis=0)
            weights = np.exp(quality - best)
            total = weights.sum(axis=0)
            policies.append(weights / total)
            values = best + np.log(total / self.shape[0])
        return values, policies[::-1]

    def visited(self, policies: Iterable[Doubles]) -> Doubles:
        """(S,) visits of a whole episode."""
        now, total = self.start, np.zeros(self.shape[1])
        for policy in policies:
            total += now
            now = self.back @ (now * policy).ravel()
        return total

    def loss(self, utility: Doubles) -> tuple[float, Doubles]:
        """The accuracy of predicting the policy, negated, and its gradient."""
        self.evaluations += 1
        values, policies = self.soft(utility)
        return float(self.start @ values - self.visits @ utility), self.visited(
            policies
        ) - self.visits


class OverError(Exception):
    """The search is over."""


def fit(
    peer: Sparse, enough: float, close: float, most: float
) -> dict[str, tuple[int, float]]:
    """Fit any utility of states by L-BFGS, until it knows that it is there.

    By itself it knows only what its gradient says: the accuracy is concave, so that
    among utilities of up to twice the size of those found, which our bound supposes
    too, none is better by more than 3 |gradient| |utility|.

    Args:
        peer: the model.
        enough: accuracy in nats that it should reach, which it could not know.
        close: nats between its bounds at which it may stop.
        most: processor seconds.

    Returns:
        Evaluations and processor seconds until the accuracy was `enough` ("told") and
        until it knew so ("certified"); what did not happen is left out, and "over" says
        after how many it ended.
    """
    reached: dict[str, tuple[int, float]] = {}
    started = time.process_time()

    def loss(utility: Doubles) -> tuple[float, Doubles]:
        value, slope = peer.loss(utility)
        now = peer.evaluations, time.process_time() - started
        if -value >= enough:
            reached.setdefault("told", now)
        if utility.any() and 3 * float(np.abs(slope) @ np.abs(utility)) <= close:
            reached.setdefault("certified", now)
        reached["over"] = now
        if len(reached) == 3 or now[1] > most:
            raise OverError
        return value, slope

    with suppress(OverError):
        options = {"maxiter": 10**6, "maxfun": 10**6, "ftol": 0.0, "gtol": 0.0}
        minimize(
            loss, np.zeros(peer.shape[1]), jac=True, method="L-BFGS-B", options=options
        )
    return reached


def rationality(peer: Sparse, reward: Doubles) -> float:
    """The rationality of largest accuracy: where its slope changes sign, by doubling
    and Brent's method.
    """

    def slope(beta: float) -> float:
        return float(peer.loss(beta * reward)[1] @ reward)

    beta = 1.0 if slope(0.0) < 0 else -1.0
    while beta * slope(beta) < 0:
        beta *= 2
    return float(brentq(slope, 0.0, beta, xtol=1e-9))


class Endless(Sparse):
    """The same without horizon, discounted: soft value iteration and visits until
    neither changes by 1e-10.
    """

    def __init__(self, mdp: TabularMDP, policy: Policy) -> None:
        self.discount = mdp.discount
        super().__init__(mdp, policy, 1)

    def reached(self, mdp: TabularMDP, _: int) -> NDArray[np.intp]:
        """All states: nothing ends an episode."""
        return np.arange(mdp.n_states)

    def soft(self, utility: Doubles) -> tuple[Doubles, list[Doubles]]:
        values, change = np.zeros(self.shape[1]), np.inf
        while change > SETTLED:
            quality = utility + self.discount * (self.ahead @ values).reshape(
                self.shape
            )
            best = quality.max(axis=0)
            weights = np.exp(quality - best)
            total = weights.sum(axis=0)
            before, values = values, best + np.log(total / self.shape[0])
            change = np.abs(values - before).max()
        return values, [weights / total]

    def visited(self, policies: Iterable[Doubles]) -> Doubles:
        (policy,) = policies
        now, total = self.start, np.zeros(self.shape[1])
        while now.sum() > SETTLED:
            total += now
            now = self.discount * (self.back @ (now * policy).ravel())
        return total
