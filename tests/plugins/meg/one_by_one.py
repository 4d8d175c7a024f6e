"""The plain way to score behaviour, one episode and one time step after the other: what
batches must agree with.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from unittest.mock import patch
from weakref import WeakKeyDictionary

import numpy as np

from gde.data.arrays import Doubles
from gde.data.mdp import TabularMDP
from gde_plugins.meg.solvers.finite_horizon import Finite
from gde_plugins.meg.trajectories.behaviour import Behaviour, above_chance
from gde_plugins.meg.trajectories.episodes import UNUSABLE, Episode
from gde_plugins.meg.trajectories.sample import Sample
from gde_plugins.meg.trajectories.utilities import Pursuit, standing_still

Part = tuple[Episode, Finite, slice]
"""An episode, the process of its world alone, and where its states are among those side
by side.
"""
_PARTS: WeakKeyDictionary[Behaviour, list[Part]] = WeakKeyDictionary()


_SAMPLES: WeakKeyDictionary[Behaviour, Sample] = WeakKeyDictionary()
"""The episodes behind each behaviour that was read while these tests run."""
_read = Behaviour.of


def _remembered(episodes: Sequence[Episode], pursuit: Pursuit) -> Behaviour:
    behaviour = _read(episodes, pursuit)
    _SAMPLES[behaviour] = Sample.of(episodes)
    return behaviour


Behaviour.of = staticmethod(_remembered)  # type: ignore[method-assign]


def scores(episodes: Sequence[Episode], pursuit: Pursuit, beta: float) -> Doubles:
    """(N,) nats above chance of each episode."""
    worlds = [pursuit(episode.mdp) for episode in episodes]
    horizons = [episode.horizon or planned(episode.mdp) for episode in episodes]
    return np.array(
        [
            _score(one, Finite(mdp, horizon), mdp.reward, beta)
            for one, mdp, horizon in zip(episodes, worlds, horizons, strict=True)
        ]
    )


@contextmanager
def without_batches() -> Iterator[None]:
    """While it lasts, the behaviour of a sample is scored episode by episode."""
    with patch.multiple(
        Behaviour,
        scores=_scores,
        accuracy=_accuracy,
        scores_of_chance=_scores_of_chance,
    ):
        yield


def _score(
    episode: Episode,
    process: Finite,
    reward: Doubles,
    beta: float,
    chance: bool = False,
) -> float:
    """Nats above chance of what was done, or expected of random choice in the same
    states.
    """
    policies = [
        *process.policies(process.dynamics.utility(reward), beta)
    ]  # from one state to go to all
    total = 0.0
    for t, (state, action) in enumerate(
        zip(episode.states, episode.actions, strict=True)
    ):
        if action != UNUSABLE:
            policy = policies[_to_go(episode, process, t) - 1][:, state]
            nats = above_chance(policy, len(policy), bool(np.isinf(beta)))
            total += process.dynamics.discount**t * float(
                nats.mean() if chance else nats[action]
            )
    return total


def _to_go(episode: Episode, process: Finite, t: int) -> int:
    """Without deadline as many states count from every decision on."""
    return process.horizon if episode.horizon is None else episode.horizon - t


def _slope(episode: Episode, process: Finite, reward: Doubles) -> tuple[float, Doubles]:
    """Nats above chance at rationality 1, and their derivative by the reward (S,).

    What an action is expected to collect of each state's reward, less what the policy
    is, looked ahead.
    """
    dynamics, (S,) = process.dynamics, reward.shape
    to_come, nats, slope, here = np.zeros((S, S)), 0.0, np.zeros(S), np.eye(S)
    turns: defaultdict[int, list[int]] = defaultdict(list)
    for t in np.flatnonzero(episode.actions != UNUSABLE):
        turns[_to_go(episode, process, t)].append(t)
    for to_go, step in enumerate(process.soft_steps(dynamics.utility(reward)), start=1):
        after = (
            dynamics.discount * (dynamics.successors @ to_come).reshape(-1, S, S) + here
        )
        to_come = np.einsum("as,asz->sz", step.policy, after)
        for t in turns[to_go]:
            state, action, weight = (
                episode.states[t],
                episode.actions[t],
                dynamics.discount**t,
            )
            nats += weight * float(
                above_chance(step.policy[action, state], dynamics.n_actions)
            )
            slope += weight * (after[action, state] - to_come[state])
    return nats, slope


def _scores(self: Behaviour, beta: float, reward: Doubles | None = None) -> Doubles:
    earned = self.mdp.reward if reward is None else reward
    return np.array(
        [
            _score(one, process, earned[place], beta)
            for one, process, place in _parts(self)
        ]
    )


def _scores_of_chance(self: Behaviour, beta: float) -> Doubles:
    return np.array(
        [
            _score(one, process, self.mdp.reward[place], beta, True)
            for one, process, place in _parts(self)
        ]
    )


def _accuracy(
    self: Behaviour, reward: Doubles, chosen: Doubles
) -> tuple[float, Doubles]:
    nats, slope = 0.0, np.zeros(len(reward))
    for count, (episode, process, place) in zip(chosen, _parts(self), strict=True):
        own, change = _slope(episode, process, reward[place])
        nats += count * own
        slope[place] += count * change
    return nats, slope


def _parts(behaviour: Behaviour) -> list[Part]:
    if behaviour not in _PARTS:
        _PARTS[behaviour] = [*_apart(behaviour)]
    return _PARTS[behaviour]


def _apart(behaviour: Behaviour) -> Iterator[Part]:
    sample = _SAMPLES[behaviour]
    starts = np.cumsum([0, *(world.n_states for world in sample.worlds)])
    assert behaviour.mdp.terminal is not None
    stands_still = not behaviour.mdp.terminal.any()
    for one, number in zip(sample, sample.world_of, strict=True):
        start, size = starts[number], one.mdp.n_states
        world = standing_still(one.mdp, np.zeros(size)) if stands_still else one.mdp
        yield (
            one,
            Finite(world, one.horizon or planned(one.mdp)),
            slice(start, start + size),
        )


def planned(mdp: TabularMDP) -> int:
    """States that count for an agent without deadline: three times the way to the
    farthest state, and the own.
    """
    reached, steps = mdp.start > 0, 0
    while True:
        further = reached | (
            sum(matrix.T @ reached.astype(float) for matrix in mdp.transition) > 0
        )
        if (further == reached).all():
            return 3 * steps + 1
        reached, steps = further, steps + 1
