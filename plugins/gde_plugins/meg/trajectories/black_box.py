"""Worlds too large to tabulate: a certified lower bound from episodes and black-box access, with a neural network.

Any function V of states is the soft value of some utility: U(s) = V(s) - ln mean_a exp(gamma * E[V(s') | s, a]), in
episodes without horizon (terminal states are worth V). So the policy in proportion to exp(gamma * E[V(s')]) is exactly
soft-optimal for that U, whatever the network. Its accuracy on episodes that it was not fitted to is an unbiased
estimate of a lower bound of MEG towards any utility of states (MacDermott et al. 2024, Definition 4.3). No soft
Q-learning is needed and no error of a planner is left.

In stochastic worlds the expectation is a mean over samples, which is unbiased. The prediction is the difference of one
such mean, that of the action taken, and the log of a sum of exponentials of all, which is convex. By Jensen's
inequality, noise in the samples lowers the prediction, so the bound holds with a single sample of each action. Only
V(s') may enter, and the samples must be drawn apart from the fit, as they are in other episodes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gde.data.mdp import Floats
from gde.numerics.stats import Estimate, cluster_mean
from gde_plugins.meg.solvers.dynamics import Indices
from gde_plugins.meg.trajectories.episodes import UNUSABLE, Episode, clusters_of

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module

STEPS, RATE = 400, 0.02
"""Steps of Adam over all decisions at once, and its learning rate."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Tries:
    """The D decisions of N episodes, with M sampled successors of each action.

    Raises:
        ValueError: shapes that disagree, an action taken that has no successor, or a discount outside (0, 1].
    """

    following: NDArray[np.float32]
    """(D, A, M, F) inputs of the network for the states that followed."""
    chances: NDArray[np.float32]
    """(D, A, M) probabilities of these: 1 / M for M samples; all 0 for an action that is not admissible then."""
    taken: Indices
    """(D,) the agent's actions."""
    episodes: Indices
    """(D,) each decision's episode, from 0 to N - 1."""
    clusters: Indices
    """(N,) each episode's unit of resampling, see `resampling_units`."""
    weights: Floats
    """(D,) discount ** t."""
    discount: float = 1.0

    def __post_init__(self) -> None:
        shape = self.following.shape
        if len(shape) != 4 or self.chances.shape != shape[:3] or self.taken.shape != shape[:1]:
            wanted = "following (D, A, M, F), chances (D, A, M) and taken (D,)"
            raise ValueError(f"wanted {wanted}, got {shape}, {self.chances.shape} and {self.taken.shape}")
        if not self.chances[np.arange(len(self.taken)), self.taken].any(axis=1).all():
            raise ValueError("taken: wanted actions that can be taken, got one without any try")
        if not 0 < self.discount <= 1:
            raise ValueError(f"discount must be above 0 and at most 1, got {self.discount}")

    @classmethod
    def tabulated(cls, episodes: Sequence[Episode], inputs: Sequence[Floats]) -> "Tries":
        """Read exact successors from tabulated worlds, with (S, F) inputs each, in which nothing need be sampled."""
        most = max(int(np.diff(matrix.indptr).max()) for each in episodes for matrix in each.mdp.transition)
        parts = [_successors(episode, features, most) for episode, features in zip(episodes, inputs, strict=True)]
        lengths = [len(taken) for _, _, taken, _ in parts]
        following, chances, taken, weights = (np.concatenate(each) for each in zip(*parts, strict=True))
        return cls(
            following=following.astype(np.float32),
            chances=chances.astype(np.float32),
            taken=taken,
            episodes=np.repeat(np.arange(len(episodes)), lengths),
            clusters=clusters_of(episodes),
            weights=weights,
            discount=episodes[0].mdp.discount,
        )

    def of(self, chosen: NDArray[np.bool_]) -> "Tries":
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


def lower_bound(tries: Tries, make: Callable[[], "Module"], rng: np.random.Generator, folds: int = 2) -> Estimate:
    """Bound the nats an episode from below: each fold of clusters is predicted by a network fitted to the others.

    Args:
        tries: the decisions and the successors of all actions.
        make: makes a network from (..., F) inputs to (..., 1) values; seed it yourself.
        rng: for the folds and the interval.
        folds: number of parts that the clusters are cut into.

    Returns:
        The mean over episodes with its 95 % interval over clusters; its lower end is the certified bound. The value is
        that of the networks found: MEG itself may be higher.

    Raises:
        ValueError: fewer clusters than folds.
    """
    count = int(tries.clusters.max(initial=-1)) + 1
    if count < folds:
        raise ValueError(f"wanted at least {folds} clusters of episodes, one for each fold, got {count}")
    part = rng.permutation(count)[tries.clusters] % folds
    scores = np.zeros(len(tries.clusters))
    for fold in range(folds):
        network = _fit(make(), tries.of(part != fold))
        held_out = tries.of(part == fold)
        nats = _nats(network, held_out).detach().numpy() * held_out.weights
        scores += np.bincount(held_out.episodes, weights=nats, minlength=len(scores))
    return cluster_mean(scores, tries.clusters, rng)


def _fit(network: "Module", tries: Tries) -> "Module":
    """Fit the network by maximum likelihood."""
    import torch

    optimiser = torch.optim.Adam(network.parameters(), lr=RATE)
    weights = torch.tensor(tries.weights / max(tries.weights.sum(), 1.0))
    for _ in range(STEPS):
        optimiser.zero_grad()
        loss = -(_nats(network, tries) * weights).sum()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return network


def _nats(network: "Module", tries: Tries) -> "Tensor":
    """Return (D,) log-probabilities of the actions taken, above chance among the admissible ones."""
    import torch

    values = network(torch.from_numpy(tries.following))[..., 0].double()
    chances = torch.from_numpy(tries.chances).double()
    admissible = chances.any(dim=-1)
    ahead = (tries.discount * (values * chances).sum(dim=-1)).masked_fill(~admissible, -inf)
    logs = torch.log_softmax(ahead, dim=-1) + admissible.sum(dim=-1, keepdim=True).log()
    return logs.gather(-1, torch.from_numpy(tries.taken)[:, None])[:, 0]


def _successors(episode: Episode, inputs: Floats, most: int) -> tuple[Floats, Floats, Indices, Floats]:
    """Return following, chances, taken and weights of one episode's usable decisions."""
    times = np.flatnonzero(episode.actions != UNUSABLE)
    shape = len(times), episode.mdp.n_actions, most
    following = np.zeros((*shape, inputs.shape[1]))
    chances = np.zeros(shape)
    for action, matrix in enumerate(episode.mdp.transition):
        rows = matrix.tocsr()[episode.states[times]]
        counts = np.diff(rows.indptr)
        decision = np.repeat(np.arange(len(times)), counts)
        place = np.arange(rows.nnz) - np.repeat(rows.indptr[:-1], counts)
        following[decision, action, place] = inputs[rows.indices]
        chances[decision, action, place] = rows.data
    return following, chances, episode.actions[times], episode.mdp.discount ** times.astype(np.float64)
