"""Worlds too large to tabulate: a certified lower bound from episodes and black-box
access, with a neural network.

Any function V of states is the soft value of some utility: U(s) = V(s) - ln mean_a
exp(gamma * E[V(s') | s, a]), in episodes without horizon (terminal states are worth V).
So the policy in proportion to exp(gamma * E[V(s')]) is exactly soft-optimal for that U,
whatever the network. Its accuracy on episodes that it was not fitted to is an unbiased
estimate of a lower bound of MEG towards any utility of states (MacDermott et al. 2024,
Definition 4.3). No soft Q-learning is needed and no error of a planner is left.

In stochastic worlds the expectation is a mean over samples, which is unbiased. The
prediction is the difference of one such mean, that of the action taken, and the log of
a sum of exponentials of all, which is convex. By Jensen's inequality, noise in the
samples lowers the prediction, so the bound holds with a single sample of each action.
Only V(s') may enter, and the samples must be drawn apart from the fit, as they are in
other episodes.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gde.data.mdp import Floats
from gde.numerics.stats import Estimate, cluster_mean
from gde_plugins.meg.solvers.dynamics import Indices, Mask

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module

STEPS = 400
"""Steps of Adam, each over all decisions at once."""
RATE = 0.02
"""Learning rate of Adam."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Tries:
    """The D decisions of N episodes, with M sampled successors of each action."""

    following: NDArray[np.float32]
    """(D, A, M, F) inputs of the network for the states that followed."""
    chances: NDArray[np.float32]
    """(D, A, M) probabilities of these: 1 / M for M samples; all 0 for an action that
    is not admissible then.
    """
    taken: Indices
    """(D,) the agent's actions."""
    episodes: Indices
    """(D,) each decision's episode, from 0 to N - 1."""
    clusters: Indices
    """(N,) each episode's unit of resampling, see `resampling_units`."""
    weights: Floats
    """(D,) discount ** t."""
    discount: float = 1.0

    def of(self, chosen: Mask) -> "Tries":
        """Return the decisions of the chosen (N,) episodes."""
        selected = chosen[self.episodes]
        return replace(
            self,
            following=self.following[selected],
            chances=self.chances[selected],
            taken=self.taken[selected],
            episodes=self.episodes[selected],
            weights=self.weights[selected],
        )


def lower_bound(
    tries: Tries, make: Callable[[], "Module"], rng: np.random.Generator, folds: int = 2
) -> Estimate:
    """Bound the nats an episode from below: each fold of clusters is predicted by a
    network fitted to the others.

    Args:
        tries: the decisions and the successors of all actions.
        make: makes a network from (..., F) inputs to (..., 1) values; seed it yourself.
        rng: for the folds and the interval.
        folds: number of parts that the clusters are cut into.

    Returns:
        The mean over episodes with its 95 % interval over clusters; its lower end is
        the certified bound. The value is that of the networks found: MEG itself may be
        higher.

    Raises:
        ValueError: fewer clusters than folds.
    """
    n_clusters = int(tries.clusters.max(initial=-1)) + 1
    if n_clusters < folds:
        raise ValueError(
            f"wanted at least {folds} clusters of episodes, one for each fold, got {n_clusters}"
        )

    # Whole clusters, so that no network has seen the world of an episode that it
    # predicts.
    shuffled = rng.permutation(n_clusters)
    part = shuffled[tries.clusters] % folds

    scores = np.zeros(len(tries.clusters))
    for fold in range(folds):
        others = tries.of(part != fold)
        network = _fit(make(), others)

        held_out = tries.of(part == fold)
        nats = _nats(network, held_out).detach().numpy()
        weighted = nats * held_out.weights
        scores += np.bincount(
            held_out.episodes, weights=weighted, minlength=len(scores)
        )
    return cluster_mean(scores, tries.clusters, rng)


def _fit(network: "Module", tries: Tries) -> "Module":
    """Fit the network by maximum likelihood."""
    import torch

    optimiser = torch.optim.Adam(network.parameters(), lr=RATE)
    total = max(tries.weights.sum(), 1.0)
    weights = torch.tensor(tries.weights / total)
    for _ in range(STEPS):
        optimiser.zero_grad()
        nats = _nats(network, tries)
        loss = -(nats * weights).sum()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return network


def _nats(network: "Module", tries: Tries) -> "Tensor":
    """Return (D,) log-probabilities of the actions taken, above chance among the
    admissible ones.
    """
    import torch

    # A successor that does not exist has chance 0, so its value does not matter.
    inputs = torch.from_numpy(tries.following)
    values = network(inputs)[..., 0].double()
    chances = torch.from_numpy(tries.chances).double()
    expected = tries.discount * (values * chances).sum(dim=-1)

    admissible = chances.any(dim=-1)
    ahead = expected.masked_fill(~admissible, -inf)
    n_admissible = admissible.sum(dim=-1, keepdim=True)
    logs = torch.log_softmax(ahead, dim=-1) + n_admissible.log()

    taken = torch.from_numpy(tries.taken)
    of_taken = logs.gather(-1, taken[:, None])
    return of_taken[:, 0]
