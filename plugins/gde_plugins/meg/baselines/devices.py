"""Agent or device? The posterior of Orseau et al. (2018), for walks in grids.

An agent goes for a place, by an optimal action with probability 1 - epsilon and at random otherwise; the place and
epsilon are unknown. A device acts at random, or maps what it perceives to actions: the walls around it, its last
action, both or neither, and the map is learned on the way (Krichevsky and Trofimov 1981). A priori half are agents.
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
"""Prior count of each action in each context of a device."""


def probability_of_agent(episodes: Sequence[Episode]) -> float:
    """Return the probability that an agent, with a goal of its own in every world, produced these episodes.

    Raises:
        ValueError: a world is stochastic.
    """
    if not all(episode.mdp.deterministic for episode in episodes):
        raise ValueError("wanted worlds that leave nothing to chance, since a device perceives where actions lead")
    return float(expit(_of_agent(episodes) - _of_device(episodes)))


def _of_agent(episodes: Sequence[Episode]) -> float:
    """Return the log-probability of the actions, averaged over places in each world and over one epsilon."""
    sample = Sample.of(episodes)
    optimal_in = [_optimal(world) for world in sample.worlds]
    total = np.zeros(len(EPSILONS))
    for episode, world in zip(sample, sample.world_of, strict=True):
        optimal = optimal_in[world]
        used = episode.actions != UNUSABLE
        actions = episode.actions[used]
        # (G, T, A) by place, decision and action.
        options = optimal[:, episode.states[used]]
        greedy = options[:, np.arange(len(actions)), actions] / np.maximum(options.sum(axis=2), 1)
        chances = (1 - EPSILONS[:, None, None]) * greedy + EPSILONS[:, None, None] / optimal.shape[2]
        total += logsumexp(np.log(chances).sum(axis=2), axis=1) - log(len(optimal))
    return float(logsumexp(total) - log(len(EPSILONS)))


def _optimal(world: TabularMDP) -> NDArray[np.bool_]:
    """Return (G, S, A) actions on a shortest way to each place; all of them in the place and where there is no way."""
    distance = shortest_path(union(world), unweighted=True)
    nearer = distance[_successors(world)] < distance[:, None, :]
    optimal = np.where(nearer.any(axis=1, keepdims=True), nearer, True)
    return np.asarray(optimal.transpose(2, 0, 1))


def _successors(world: TabularMDP) -> Indices:
    """Return the (S, A) next states."""
    found: Indices = np.stack([matrix.indices for matrix in world.transition], axis=1).astype(np.intp)
    return found


def _of_device(episodes: Sequence[Episode]) -> float:
    """Return the log-probability of the actions, averaged over what the device perceives; one map for all episodes."""
    n_actions = episodes[0].mdp.n_actions
    parts: list[tuple[Indices, Indices, Indices]] = []
    for episode in episodes:
        used = episode.actions != UNUSABLE
        after = _successors(episode.mdp)[episode.states]
        # One bit for each action that leads nowhere.
        walls = (after == episode.states[:, None]) @ (1 << np.arange(n_actions))
        last = np.concatenate([[n_actions], episode.actions])[:-1]
        parts.append((walls[used], last[used], episode.actions[used]))
    walls, last, actions = (np.concatenate(each).astype(np.intp) for each in zip(*parts, strict=True))

    contexts = (np.zeros_like(walls), walls, last, walls * (n_actions + 2) + last)
    random_choice = -len(actions) * log(n_actions)
    found = [random_choice, *(_learned(context, actions, n_actions) for context in contexts)]
    return float(logsumexp(found) - log(len(found)))


def _learned(context: Indices, actions: Indices, n_actions: int) -> float:
    """Return the log-probability of the actions by a learned map: a Dirichlet prior in each context, integrated out."""
    _, place = np.unique(context, return_inverse=True)
    counts: Floats = np.zeros((int(place.max(initial=0)) + 1, n_actions))
    np.add.at(counts, (place, actions), 1.0)
    prior = PRIOR * n_actions
    each = gammaln(counts + PRIOR) - gammaln(PRIOR)
    return float((gammaln(prior) - gammaln(counts.sum(axis=1) + prior)).sum() + each.sum())
