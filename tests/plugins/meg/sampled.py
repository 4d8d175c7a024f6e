"""Worlds with something in them, episodes drawn from policies, and runs that recorded
them.
"""

from dataclasses import replace

import numpy as np
from one_by_one import planned

from gde.data.arrays import Doubles
from gde.data.evidence import Evidence
from gde.data.mdp import Policy, TabularMDP
from gde.data.observation import Observation, State, World
from gde.data.trajectory import Decision, EpisodeKey, Trajectory, Turn
from gde_plugins.grid.config import GridConfig
from gde_plugins.grid.environment import GridEnvironment
from gde_plugins.meg import soft_policy
from gde_plugins.meg.trajectories.episodes import Episode


def grids(n: int) -> list[TabularMDP]:
    """Grids with a key that has no use, in a free cell other than start and goal."""
    environment = GridEnvironment(GridConfig(size=7, density=0.3))
    models = []
    for seed in range(n):
        environment.reset(seed)
        mdp = environment.mdp()
        places = np.flatnonzero((mdp.labels["goal"] == 0) & (mdp.start == 0))
        key = np.arange(mdp.n_states) == np.random.default_rng(seed).choice(places)
        models.append(replace(mdp, labels={**mdp.labels, "key": key.astype(float)}))
    return models


def sample(
    mdp: TabularMDP,
    policy: Policy,
    n: int,
    rng: np.random.Generator,
    horizon: int,
    decisions: int | None = None,
) -> list[Episode]:
    """`n` episodes of at most `decisions` (by default `horizon`) steps of a (T, S, A)
    policy, each its own cluster.
    """
    moves = np.stack([matrix.toarray() for matrix in mdp.transition], axis=1)
    terminal = (
        np.zeros(mdp.n_states, dtype=bool) if mdp.terminal is None else mdp.terminal
    )
    state = _draw(np.tile(mdp.start, (n, 1)), rng)
    states, actions = [], []
    for t in range(horizon if decisions is None else decisions):
        states.append(state)
        actions.append(_draw(policy.probabilities[t, state], rng))
        state = _draw(moves[state, actions[-1]], rng)
    visited, taken = np.stack(states, axis=1), np.stack(actions, axis=1)
    lengths = np.where(
        terminal[visited].any(axis=1),
        terminal[visited].argmax(axis=1),
        visited.shape[1],
    )
    return [
        Episode(
            mdp=mdp,
            states=visited[i, : lengths[i]],
            actions=taken[i, : lengths[i]],
            horizon=horizon,
        )
        for i in range(n)
    ]


def untold(mdp: TabularMDP, beta: float, steps: int) -> Policy:
    """(steps, S, A) the soft-optimal policy of an agent that is told of no deadline:
    the same at every step.
    """
    first = soft_policy(mdp, beta, planned(mdp)).probabilities[0]
    return Policy(probabilities=np.tile(first, (steps, 1, 1)))


def _draw(probabilities: Doubles, rng: np.random.Generator) -> np.ndarray:
    """(N,) one index from each row of (N, K) probabilities."""
    cumulative = probabilities.cumsum(axis=1)
    cumulative[:, -1] = 1.0
    return (rng.random(len(probabilities))[:, None] > cumulative).sum(axis=1)


def recorded(episodes: list[Episode], seed: int = 0) -> Evidence:
    """The episodes as a run would record them, each in a world of its own that is named
    by its cluster.
    """
    trajectories = tuple(_trajectory(i, episode) for i, episode in enumerate(episodes))
    return Evidence(
        trajectories=trajectories,
        seed=seed,
        mdp=lambda one: episodes[one.key.world].mdp,
    )


def _trajectory(world: int, episode: Episode) -> Trajectory:
    decided = [
        Decision.act(episode.mdp.actions[a])
        if a >= 0
        else Decision.unusable("unparsable", "wanted an action")
        for a in episode.actions
    ]
    turns = tuple(
        Turn(
            index=t,
            observation=Observation(text="?"),
            decision=decision,
            reward=0.0,
            terminated=False,
            success=float(False),
            truncated=False,
            state=State(facts={}, index=int(episode.states[t])),
        )
        for t, decision in enumerate(decided)
    )
    return Trajectory(
        key=EpisodeKey(condition=0, world=world),
        seed=world,
        world=World(id=f"world {world}", base=episode.cluster),
        labels={},
        horizon=(episode.horizon or len(turns) + 1)
        - int(episode.mdp.terminal is not None),
        turns=turns,
        ending="horizon",
    )
