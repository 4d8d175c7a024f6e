"""Agent or device? Adapted from Orseau et al. (2018), for walks in grids.

An agent goes for a place, by an optimal action with probability 1 - epsilon and at
random otherwise; the place and epsilon are unknown. A device acts at random, or maps
what it perceives to actions: the walls around it, its last action, both or neither. It
learns the map on the way (Krichevsky and Trofimov 1981). A priori half are agents. The
classes are ours: the authors weigh goals and devices by the lengths of programs.
"""

from collections.abc import Sequence
from math import log

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import shortest_path
from scipy.special import expit, gammaln, logsumexp

from gde.data.arrays import Doubles, Indices
from gde.data.mdp import TabularMDP
from gde.numerics.tabular import union
from gde_plugins.meg.trajectories.episodes import UNUSABLE, Episode
from gde_plugins.meg.trajectories.sample import Sample
from meg_studies.baselines.walkers import successors

EPSILONS = np.linspace(0.02, 0.9, 23)
"""Shares of random actions, a priori equally likely."""
PRIOR = 0.5
"""Prior count of each action in each context of a device."""


def probability_of_agent(episodes: Sequence[Episode]) -> float:
    """Return the probability that an agent, with a goal of its own in every world,
    produced these episodes.

    Raises:
        ValueError: a world is stochastic.
    """
    for episode in episodes:
        if not episode.mdp.deterministic:
            raise ValueError(
                "wanted worlds that leave nothing to chance, since a device perceives where actions lead"
            )
    evidence = _of_agent(episodes) - _of_device(episodes)
    return float(expit(evidence))


def _of_agent(episodes: Sequence[Episode]) -> float:
    """Return the log-probability of the actions, averaged over places in each world and
    over one epsilon.
    """
    sample = Sample.of(episodes)
    optimal_in = [_optimal(world) for world in sample.worlds]
    epsilons = EPSILONS[:, None, None]

    total = np.zeros(len(EPSILONS))
    for episode, world in zip(sample, sample.world_of, strict=True):
        optimal = optimal_in[world]
        n_places, _, n_actions = optimal.shape
        used = episode.actions != UNUSABLE
        actions = episode.actions[used]
        turns = np.arange(len(actions))

        # (G, T, A) by place, decision and action; an optimal agent chooses among its
        # options alike.
        options = optimal[:, episode.states[used]]
        n_options = np.maximum(options.sum(axis=2), 1)
        greedy = options[:, turns, actions] / n_options
        random = epsilons / n_actions
        chances = (1 - epsilons) * greedy + random

        # An episode has one place, hence the sum over turns before the mean over
        # places.
        logs = np.log(chances).sum(axis=2)
        total += logsumexp(logs, axis=1) - log(n_places)
    return float(logsumexp(total) - log(len(EPSILONS)))


def _optimal(world: TabularMDP) -> NDArray[np.bool_]:
    """Return (G, S, A) actions on a shortest way to each place; all of them in the
    place and where there is no way.
    """
    # (S, G), and (S, A, G) after an action.
    distance = shortest_path(union(world), unweighted=True)
    distance_after = distance[successors(world)]
    nearer = distance_after < distance[:, None, :]
    has_way = nearer.any(axis=1, keepdims=True)
    optimal = np.where(has_way, nearer, True)
    return np.asarray(optimal.transpose(2, 0, 1))


def _of_device(episodes: Sequence[Episode]) -> float:
    """Return the log-probability of the actions, averaged over what the device
    perceives; one map for all episodes.
    """
    n_actions = episodes[0].mdp.n_actions
    all_walls = []
    all_last = []
    all_actions = []
    for episode in episodes:
        # One bit for each action that leads nowhere.
        after = successors(episode.mdp)[episode.states]
        blocked = after == episode.states[:, None]
        bits = 1 << np.arange(n_actions)
        walls = blocked @ bits
        # An action of its own stands for the beginning, where there is no last one.
        last = np.concatenate([[n_actions], episode.actions])[:-1]

        used = episode.actions != UNUSABLE
        all_walls.append(walls[used])
        all_last.append(last[used])
        all_actions.append(episode.actions[used])
    walls = np.concatenate(all_walls).astype(np.intp)
    last = np.concatenate(all_last).astype(np.intp)
    actions = np.concatenate(all_actions).astype(np.intp)

    # The last action is -1 where it was unusable, so n_actions + 2 values keep the
    # numbers of pairs apart.
    neither = np.zeros_like(walls)
    both = walls * (n_actions + 2) + last
    found = [-len(actions) * log(n_actions)]
    for context in (neither, walls, last, both):
        found.append(_learned(context, actions, n_actions))
    return float(logsumexp(found) - log(len(found)))


def _learned(context: Indices, actions: Indices, n_actions: int) -> float:
    """Return the log-probability of the actions by a learned map: a Dirichlet prior in
    each context, integrated out.
    """
    _, place = np.unique(context, return_inverse=True)
    n_contexts = int(place.max(initial=0)) + 1
    counts: Doubles = np.zeros((n_contexts, n_actions))
    np.add.at(counts, (place, actions), 1.0)

    prior = PRIOR * n_actions
    totals = counts.sum(axis=1)
    of_contexts = gammaln(prior) - gammaln(totals + prior)
    of_actions = gammaln(counts + PRIOR) - gammaln(PRIOR)
    return float(of_contexts.sum() + of_actions.sum())
