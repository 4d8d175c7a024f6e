"""Observed behaviour in tabulated worlds."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np

from gde.data.mdp import TabularMDP
from gde_plugins.meg.solvers.dynamics import Indices

UNUSABLE = -1
"""In place of an action: a decision that named no admissible one."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Episode:
    """The states and actions of one episode.

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
    """Number of states whose utility counts, as in `known_utility`, for an agent that knows a deadline; the last of as
    many decisions affects nothing. An episode that is cut off after H decisions, but whose last action can still reach
    the goal, has H + 1. None: the agent knows no deadline and plans equally far ahead in every decision, see
    `gde_plugins.meg.trajectories.sample.planning_horizons`."""
    cluster: str = ""
    """Episodes of one cluster are resampled together; empty: the episode is independent of all others."""

    def __post_init__(self) -> None:
        self._check_types()
        self._check_ranges()
        self._check_possible()

    def _check_types(self) -> None:
        if not isinstance(self.mdp, TabularMDP):
            raise ValueError(f"mdp: wanted a TabularMDP, got {type(self.mdp).__name__}")
        if not isinstance(self.cluster, str):
            raise ValueError(f"cluster: wanted a text, got {self.cluster!r}")
        for name, values in (("states", self.states), ("actions", self.actions)):
            if not isinstance(values, np.ndarray):
                raise ValueError(f"{name} must be a NumPy array of whole numbers, got {type(values).__name__}")
            if values.dtype.kind not in "iu":
                raise ValueError(f"{name} must be a NumPy array of whole numbers, got {values.dtype} numbers")

    def _check_ranges(self) -> None:
        if self.states.shape != self.actions.shape or self.states.ndim != 1:
            raise ValueError(f"states and actions must be equally long, got {self.states.shape}, {self.actions.shape}")
        shortest = max(len(self.states), 1)
        if self.horizon is not None and (not isinstance(self.horizon, Integral) or self.horizon < shortest):
            raise ValueError(
                f"horizon: wanted a whole number, at least 1 and the {len(self.states)} decisions, got {self.horizon!r}"
            )
        for name, values, least, n in (
            ("states", self.states, 0, self.mdp.n_states),
            ("actions", self.actions, UNUSABLE, self.mdp.n_actions),
        ):
            outside = values[(values < least) | (values >= n)]
            if len(outside):
                raise ValueError(f"{name}: wanted whole numbers from {least} to {n - 1}, got {int(outside[0])}")

    def _check_possible(self) -> None:
        terminal = self.mdp.terminal
        if terminal is not None and terminal[self.states].any():
            at = int(terminal[self.states].argmax())
            raise ValueError(f"decision {at} is taken in state {self.states[at]}, where the episode is over")
        for action in np.unique(self.actions[:-1]):
            if action == UNUSABLE:
                continue
            steps = np.flatnonzero(self.actions[:-1] == action)
            before = self.states[steps]
            after = self.states[steps + 1]
            chances = np.asarray(self.mdp.transition[action][before, after]).ravel()
            if (chances == 0).any():
                at = int(chances.argmin())
                step = f"from state {before[at]} by action {action} to state {after[at]}"
                raise ValueError(f"decision {steps[at]} leads {step}, which the model rules out")


def clusters_of(episodes: Sequence[Episode]) -> Indices:
    """Return the (N,) number of each episode's cluster."""
    names = [episode.cluster or f"episode {i}" for i, episode in enumerate(episodes)]
    clusters: Indices = np.unique(names, return_inverse=True)[1]
    return clusters


def resampling_units(clusters: Indices) -> Indices:
    """Return the (N,) number of each episode's unit of resampling: its cluster, or itself if there is one cluster.

    The episodes of one world are independent given the world, and a single world can tell of nothing else.
    """
    return clusters if clusters.any() else np.arange(len(clusters))


def shared_labels(worlds: Sequence[TabularMDP]) -> list[str]:
    """Return the names of the state features that every world has, in the order of the first."""
    return [name for name in worlds[0].labels if all(name in world.labels for world in worlds)]
