"""Observed behaviour in tabulated worlds."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np

from gde.data.mdp import TabularMDP
from gde_plugins.meg.solvers.dynamics import Indices

UNUSABLE = -1
"""In place of an action: a decision that named none that could be taken."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Episode:
    """What was done in one episode.

    Raises:
        ValueError: states and actions that the model does not have, a decision in a terminal state, a step that the
            model rules out, or more decisions than the horizon.
    """

    mdp: TabularMDP
    states: Indices
    """(T,) the state before each decision."""
    actions: Indices
    """(T,) UNUSABLE where there is none. Such a decision uses up its time step and is worth 0 nats: neither the goal
    nor chance predicts it. It still counts as a decision wherever nats are divided by decisions."""
    horizon: int | None = None
    """Number of states whose utility counts, as in `known_utility`, for an agent that is told of a deadline; the last
    of as many decisions affects nothing. An episode that is cut off after H decisions, but whose last action can still
    reach the goal, has H + 1. None: the agent is told of none, and plans equally far ahead in every decision, see
    `gde_plugins.meg.trajectories.planning`."""
    cluster: str = ""
    """Episodes of one cluster are resampled together; empty: the episode is independent of all others."""

    def __post_init__(self) -> None:
        if not isinstance(self.mdp, TabularMDP):
            raise ValueError(f"mdp: wanted a TabularMDP, got {type(self.mdp).__name__}")
        if not isinstance(self.cluster, str):
            raise ValueError(f"cluster: wanted a text, got {self.cluster!r}")
        for name, values in (("states", self.states), ("actions", self.actions)):
            if not isinstance(values, np.ndarray) or values.dtype.kind not in "iu":
                got = f"{values.dtype} numbers" if isinstance(values, np.ndarray) else type(values).__name__
                raise ValueError(f"{name} must be a NumPy array of whole numbers, got {got}")
        if self.states.shape != self.actions.shape or self.states.ndim != 1:
            raise ValueError(f"states and actions must be equally long, got {self.states.shape}, {self.actions.shape}")
        least = max(len(self.states), 1)
        if self.horizon is not None and (not isinstance(self.horizon, Integral) or self.horizon < least):
            raise ValueError(
                f"horizon: wanted a whole number, at least 1 and the {len(self.states)} decisions, got {self.horizon!r}"
            )
        for name, values, least, n in (
            ("states", self.states, 0, self.mdp.n_states),
            ("actions", self.actions, UNUSABLE, self.mdp.n_actions),
        ):
            if ((values < least) | (values >= n)).any():
                raise ValueError(
                    f"{name}: wanted whole numbers from {least} to {n - 1}, got {_outside(values, least, n)}"
                )
        self._check_possible()

    def _check_possible(self) -> None:
        terminal = self.mdp.terminal
        if terminal is not None and terminal[self.states].any():
            at = int(terminal[self.states].argmax())
            raise ValueError(f"decision {at} is taken in state {self.states[at]}, where the episode is over")
        for a in np.unique(self.actions[:-1]):
            if a != UNUSABLE:
                self._check_steps(np.flatnonzero(self.actions[:-1] == a))

    def _check_steps(self, steps: Indices) -> None:
        """Of one action: the model gives each a chance."""
        action, before, after = self.actions[steps[0]], self.states[steps], self.states[steps + 1]
        chances = np.asarray(self.mdp.transition[action][before, after]).ravel()
        if (chances == 0).any():
            at = int(chances.argmin())
            step = f"from state {before[at]} by action {action} to state {after[at]}"
            raise ValueError(f"decision {steps[at]} leads {step}, which the model rules out")


def _outside(values: Indices, least: int, n: int) -> int:
    return int(values[(values < least) | (values >= n)][0])


def clusters_of(episodes: Sequence[Episode]) -> Indices:
    """(N,) index of each episode's cluster."""
    names = [episode.cluster or f"episode {i}" for i, episode in enumerate(episodes)]
    groups: Indices = np.unique(names, return_inverse=True)[1]
    return groups


def shared_labels(worlds: Sequence[TabularMDP]) -> list[str]:
    """Names of the state features that every world has, in the order of the first."""
    return [name for name in worlds[0].labels if all(name in world.labels for world in worlds)]
