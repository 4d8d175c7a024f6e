"""Trajectories of the library imitation (Gleave et al. 2022) as episodes in a tabulated world."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from gde.data.mdp import TabularMDP
from gde_plugins.meg.solvers.dynamics import Indices
from gde_plugins.meg.trajectories.episodes import Episode

StateOf = Callable[[Any], int]
"""From an observation to a state."""


def from_imitation(
    trajectories: Sequence[Any], mdp: TabularMDP, state_of: StateOf | None = None, horizon: int | None = None
) -> list[Episode]:
    """Episodes of trajectories with `obs` (T + 1, ...) and `acts` (T,), like those of `imitation.data.types`.

    Args:
        trajectories: played in the world.
        mdp: the world.
        state_of: the state that an observation (...) shows. Without, observations are states, or one-hot (S,).
        horizon: as in `Episode`.

    Raises:
        ValueError: which trajectory has what that fits neither this form nor the world.
    """
    if not isinstance(trajectories, Iterable):
        raise ValueError(f"trajectories: wanted a list of them, got {type(trajectories).__name__}")
    if not isinstance(mdp, TabularMDP):
        raise ValueError(f"mdp: wanted a TabularMDP, got {type(mdp).__name__}")
    found = []
    for i, trajectory in enumerate(trajectories):
        try:
            found.append(_episode(trajectory, mdp, state_of, horizon))
        except ValueError as error:
            raise ValueError(f"trajectory {i}: {error}") from error
    return found


def _episode(trajectory: Any, mdp: TabularMDP, state_of: StateOf | None, horizon: int | None) -> Episode:
    if not hasattr(trajectory, "obs") or not hasattr(trajectory, "acts"):
        raise ValueError(f"wanted something with obs and acts, got {type(trajectory).__name__}")
    actions = np.asarray(trajectory.acts)
    if actions.ndim != 1 or actions.dtype.kind not in "iu":
        raise ValueError(f"acts must be one whole number a step, got {actions.dtype} of shape {actions.shape}")
    if len(trajectory.obs) != len(actions) + 1:
        raise ValueError(f"wanted one observation more than actions, {len(actions) + 1}, got {len(trajectory.obs)}")
    states = _states(trajectory.obs, mdp.n_states, state_of)
    episode = Episode(mdp=mdp, states=states[:-1], actions=actions, horizon=horizon)
    if len(actions) and mdp.transition[actions[-1]][states[-2], states[-1]] == 0:
        step = f"from state {states[-2]} by action {actions[-1]} to state {states[-1]}"
        raise ValueError(f"the last step leads {step}, which the model rules out")
    return episode


def _states(observations: Any, n_states: int, state_of: StateOf | None) -> Indices:
    if state_of is not None:
        states = np.array([state_of(observation) for observation in observations], dtype=np.intp)
    else:
        seen = np.asarray(observations)
        states = _one_hot(seen) if seen.shape[1:] == (n_states,) else seen.squeeze()
        if states.ndim != 1 or states.dtype.kind not in "iu":
            raise ValueError(
                f"obs must be states or one-hot (T + 1, {n_states}), got {seen.dtype} of shape {seen.shape}:"
                " give state_of, which tells the state of an observation"
            )
    if ((states < 0) | (states >= n_states)).any():
        raise ValueError(f"wanted states from 0 to {n_states - 1}, got {int(states.min())} to {int(states.max())}")
    return np.asarray(states, dtype=np.intp)


def _one_hot(seen: Any) -> Indices:
    if not ((seen == 0) | (seen == 1)).all() or (seen.sum(axis=1) != 1).any():
        raise ValueError("one-hot obs must have a single 1 in every row")
    hot: Indices = seen.argmax(axis=1)
    return hot
