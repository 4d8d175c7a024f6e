"""Lower bounds against tabular optima."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from black_boxes import AS_THEY_ARE
from meg_studies.language.tabular_agent import Tabulated
from random_models import random_policy

from gde.data.arrays import Doubles, Indices
from gde_plugins.meg import unknown_utility
from gde_plugins.meg.trajectories.black_box import Tries, lower_bound
from gde_plugins.meg.trajectories.episodes import UNUSABLE, Episode, clusters_of
from gde_plugins.meg.worlds import cliff_world, epsilon_greedy, greedy

WORLD = cliff_world(4, 3)
HORIZON = 6
ERRING = epsilon_greedy(greedy(WORLD, HORIZON), 0.2)


@pytest.mark.extended
def test_the_bound_reaches_the_tabular_optimum() -> None:
    rng, world = (
        np.random.default_rng(0),
        replace(WORLD, discount=0.8, terminal=WORLD.labels["goal"] > 0),
    )
    states = np.arange(12)
    policy = epsilon_greedy(replace(ERRING, probabilities=ERRING.probabilities[0]), 0.2)
    agent = Tabulated(mdp=world, probabilities=policy.probabilities, steps=40)
    episodes = [agent.draw(rng, str(i)) for i in range(150)]
    optimum = unknown_utility(world, policy, "states", None)

    one_hot = lower_bound(
        tabulated(episodes, [np.eye(12)[states]] * 150), AS_THEY_ARE, rng
    )
    coarse = lower_bound(
        tabulated(episodes, [(states % 4 / 4)[:, None]] * 150), AS_THEY_ARE, rng
    )
    assert one_hot.interval is not None
    assert one_hot.interval[0] <= optimum.bounds[1] + 1e-6
    assert one_hot.value == pytest.approx(optimum.value, rel=0.3)
    assert coarse.value < one_hot.value


def test_too_few_clusters_are_said() -> None:
    agent = Tabulated(
        mdp=WORLD,
        probabilities=random_policy(np.random.default_rng(0), WORLD).probabilities,
        steps=3,
    )
    tries = tabulated(
        [agent.draw(np.random.default_rng(0), "one")] * 3, [np.eye(12)] * 3
    )
    with pytest.raises(
        ValueError, match="at least 2 clusters of episodes, one for each fold, got 1"
    ):
        lower_bound(tries, AS_THEY_ARE, np.random.default_rng(0))


def tabulated(episodes: Sequence[Episode], inputs: Sequence[Doubles]) -> Tries:
    """Read exact successors from tabulated worlds, with (S, F) inputs each, in
    which nothing need be sampled.
    """
    # Arrays of all episodes are as wide as the action with the most successors;
    # what is left over has chance 0.
    most = 0
    for episode in episodes:
        for matrix in episode.mdp.transition:
            n_successors = np.diff(matrix.indptr)
            most = max(most, int(n_successors.max()))

    following = []
    chances = []
    taken = []
    weights = []
    for episode, features in zip(episodes, inputs, strict=True):
        times = np.flatnonzero(episode.actions != UNUSABLE)
        successors, probabilities = _successors(episode, times, features, most)
        following.append(successors)
        chances.append(probabilities)
        taken.append(episode.actions[times])
        exponents = times.astype(np.float64)
        weights.append(episode.mdp.discount**exponents)

    lengths = [len(actions) for actions in taken]
    return Tries(
        following=np.concatenate(following).astype(np.float32),
        chances=np.concatenate(chances).astype(np.float32),
        taken=np.concatenate(taken),
        episodes=np.repeat(np.arange(len(episodes)), lengths),
        clusters=clusters_of(episodes),
        weights=np.concatenate(weights),
        discount=episodes[0].mdp.discount,
    )


def _successors(
    episode: Episode, times: Indices, inputs: Doubles, most: int
) -> tuple[Doubles, Doubles]:
    """Return (D, A, M, F) following and (D, A, M) chances of the decisions at these
    times.
    """
    n_decisions = len(times)
    shape = (n_decisions, episode.mdp.n_actions, most)
    following = np.zeros((*shape, inputs.shape[1]))
    chances = np.zeros(shape)
    for action, matrix in enumerate(episode.mdp.transition):
        rows = matrix.tocsr()[episode.states[times]]
        counts = np.diff(rows.indptr)

        # Number the entries of each row from 0, which is their place along M.
        decision = np.repeat(np.arange(n_decisions), counts)
        row_starts = np.repeat(rows.indptr[:-1], counts)
        place = np.arange(rows.nnz) - row_starts
        following[decision, action, place] = inputs[rows.indices]
        chances[decision, action, place] = rows.data
    return following, chances
