"""Agent or device? The posterior of Orseau et al. (2018), for walks in grids.

An agent goes for a place, by an optimal action with probability 1 - epsilon and at random otherwise; it is not known
which place, nor epsilon. A device acts at random, or maps what it perceives to what it does: the walls around it, its
last action, both or neither, and the map is learned on the way (Krichevsky and Trofimov 1981). A priori half is agents.
This is the authors' definition with classes of our own: they weigh goals and devices by the lengths of programs.
"""

from collections.abc import Sequence
from math import log

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import shortest_path
from scipy.special import expit, gammaln, logsumexp

from gde.data.mdp import Floats, TabularMDP
from gde.numerics.tabular import union
from gde_plugins.meg.solvers.dynamics import Indices
from gde_plugins.meg.trajectories.episodes import UNUSABLE, Episode
from gde_plugins.meg.trajectories.sample import Sample

EPSILONS = np.linspace(0.02, 0.9, 23)
"""Shares of random actions, a priori equally likely."""
PRIOR = 0.5
"""Of each action in a context of a device that was never met, in actions seen."""


def probability_of_agent(episodes: Sequence[Episode]) -> float:
    """That what is behind these episodes is an agent, with a goal of its own in every world.

    Raises:
        ValueError: a world leaves something to chance.
    """
    if not all(episode.mdp.deterministic for episode in episodes):
        raise ValueError("wanted worlds that leave nothing to chance, since a device perceives where actions lead")
    return float(expit(_of_agent(episodes) - _of_device(episodes)))


def _of_agent(episodes: Sequence[Episode]) -> float:
    """Log-probability of the actions, averaged over places in each world and over one epsilon."""
    total = np.zeros(len(EPSILONS))
    sample = Sample.of(episodes)
    best = [_optimal(world) for world in sample.worlds]
    for episode, world in zip(sample, sample.world_of, strict=True):
        optimal = best[world]
        used = episode.actions != UNUSABLE
        states, actions = episode.states[used], episode.actions[used]
        options = optimal[:, states]  # (G, T, A)
        greedy = options[:, np.arange(len(actions)), actions] / np.maximum(options.sum(axis=2), 1)
        chances = (1 - EPSILONS[:, None, None]) * greedy + EPSILONS[:, None, None] / optimal.shape[2]
        total += logsumexp(np.log(chances).sum(axis=2), axis=1) - log(len(optimal))
    return float(logsumexp(total) - log(len(EPSILONS)))


def _optimal(world: TabularMDP) -> NDArray[np.bool_]:
    """(G, S, A) actions on a shortest way to each place; all of them in the place itself and where there is no way."""
    distance = shortest_path(union(world), unweighted=True)
    after = _successors(world)
    nearer = distance[after] < distance[:, None, :]
    optimal = np.where(nearer.any(axis=1, keepdims=True), nearer, True)
    return np.asarray(optimal.transpose(2, 0, 1))


def _successors(world: TabularMDP) -> Indices:
    """(S, A)."""
    found: Indices = np.stack([matrix.indices for matrix in world.transition], axis=1).astype(np.intp)
    return found


def _of_device(episodes: Sequence[Episode]) -> float:
    """Log-probability of the actions, averaged over what the device perceives; one map for all episodes."""
    n_actions = episodes[0].mdp.n_actions
    walls, last, taken = [], [], []
    for episode in episodes:
        after = _successors(episode.mdp)[episode.states]
        used = episode.actions != UNUSABLE
        walls.append(((after == episode.states[:, None]) @ (1 << np.arange(n_actions)))[used])
        last.append(np.concatenate([[n_actions], episode.actions])[:-1][used])
        taken.append(episode.actions[used])
    seen, before, actions = (np.concatenate(each).astype(np.intp) for each in (walls, last, taken))
    perceived = [np.zeros_like(seen), seen, before, seen * (n_actions + 2) + before]
    devices = [-len(actions) * log(n_actions), *(_learned(each, actions, n_actions) for each in perceived)]
    return float(logsumexp(devices) - log(len(devices)))


def _learned(context: Indices, actions: Indices, n_actions: int) -> float:
    """Log-probability of the actions by the estimator of each context: a Dirichlet prior, integrated out."""
    _, place = np.unique(context, return_inverse=True)
    counts: Floats = np.zeros((int(place.max(initial=0)) + 1, n_actions))
    np.add.at(counts, (place, actions), 1.0)
    prior = PRIOR * n_actions
    each = gammaln(counts + PRIOR) - gammaln(PRIOR)
    return float((gammaln(prior) - gammaln(counts.sum(axis=1) + prior)).sum() + each.sum())
