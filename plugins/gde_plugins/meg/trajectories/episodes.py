"""Observed behaviour in tabulated worlds."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gde.data.arrays import Indices
from gde.data.mdp import TabularMDP

UNUSABLE = -1
"""In place of an action: a decision that named no admissible one."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Episode:
    """The states and actions of one episode.

    Raises:
        ValueError: states and actions that the model does not have, a decision in a
            terminal state, a step that the model rules out, or more decisions than the
            horizon.
    """

    mdp: TabularMDP
    states: Indices
    """(T,) the state before each decision."""
    actions: Indices
    """(T,) UNUSABLE where there is none. Such a decision uses up its time step and is
    worth 0 nats: neither the goal nor chance predicts it. It still counts wherever nats
    are divided by decisions.
    """
    horizon: int | None = None
    """Number of states whose utility counts, as in `known_utility`, for an agent that
    knows a deadline; the last of as many decisions affects nothing. An episode that is
    cut off after H decisions, but whose last action can still reach the goal, has H +
    1. None: the agent knows no deadline and plans equally far ahead in every decision,
    see `gde_plugins.meg.trajectories.sample.planning_horizon`.
    """
    cluster: str = ""
    """Episodes of one cluster are resampled together; empty: the episode is independent
    of all others.
    """

    def __post_init__(self) -> None:
        self._check_ranges()
        self._check_possible()

    def _check_ranges(self) -> None:
        shape = self.states.shape
        if shape != self.actions.shape or len(shape) != 1:
            raise ValueError(
                f"states and actions must be equally long, got {shape}, {self.actions.shape}"
            )

        n_decisions = len(self.states)
        # Every decision takes a state that counts.
        shortest = max(n_decisions, 1)
        horizon = self.horizon
        if horizon is not None and horizon < shortest:
            wanted = (
                f"wanted a whole number, at least 1 and the {n_decisions} decisions"
            )
            raise ValueError(f"horizon: {wanted}, got {horizon!r}")

        _check_numbers("states", self.states, 0, self.mdp.n_states)
        _check_numbers("actions", self.actions, UNUSABLE, self.mdp.n_actions)

    def _check_possible(self) -> None:
        terminal = self.mdp.terminal
        if terminal is not None:
            is_over = terminal[self.states]
            if is_over.any():
                at = int(is_over.argmax())
                state = self.states[at]
                raise ValueError(
                    f"decision {at} is taken in state {state}, where the episode is over"
                )

        # The last decision leads out of the episode. An unusable answer may lead
        # anywhere.
        actions = self.actions[:-1]
        for action in np.unique(actions):
            if action == UNUSABLE:
                continue
            steps = np.flatnonzero(actions == action)
            before = self.states[steps]
            after = self.states[steps + 1]
            entries = self.mdp.transition[action][before, after]
            chances = np.asarray(entries).ravel()

            if (chances == 0).any():
                at = int(chances.argmin())
                step = (
                    f"from state {before[at]} by action {action} to state {after[at]}"
                )
                raise ValueError(
                    f"decision {steps[at]} leads {step}, which the model rules out"
                )


def _check_numbers(name: str, values: Indices, least: int, end: int) -> None:
    """Raise a ValueError unless all values are from `least` to below `end`."""
    is_outside = (values < least) | (values >= end)
    if is_outside.any():
        found = int(values[is_outside][0])
        raise ValueError(
            f"{name}: wanted whole numbers from {least} to {end - 1}, got {found}"
        )


def clusters_of(episodes: Sequence[Episode]) -> Indices:
    """Return the (N,) number of each episode's cluster."""
    # An episode without a cluster is one of its own.
    names = []
    for i, episode in enumerate(episodes):
        name = episode.cluster or f"episode {i}"
        names.append(name)
    _, numbers = np.unique(names, return_inverse=True)
    clusters: Indices = numbers
    return clusters


def resampling_units(clusters: Indices) -> Indices:
    """Return the (N,) number of each episode's unit of resampling: its cluster, or
    itself if there is one cluster.

    The episodes of one world are independent given the world, and a single world can
    tell of nothing else.
    """
    has_several = clusters.any()
    if has_several:
        return clusters
    return np.arange(len(clusters))


def shared_labels(worlds: Sequence[TabularMDP]) -> list[str]:
    """Return the names of the state features that every world has, in the order of the
    first.
    """
    shared = []
    for name in worlds[0].labels:
        if all(name in world.labels for world in worlds):
            shared.append(name)
    return shared
