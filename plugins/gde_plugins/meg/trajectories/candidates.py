"""What an agent may be after: utilities to measure its behaviour against."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from scipy.sparse import csr_array, diags_array

from gde.data.mdp import Floats, TabularMDP
from gde_plugins.meg.trajectories.episodes import shared_labels

Pursuit = Callable[[TabularMDP], TabularMDP]
"""Gives the world with the utility, as its reward, that behaviour in it is measured against."""


@runtime_checkable
class Statewise(Protocol):
    """A pursuit that gives many worlds side by side what it gives each of them, so it is asked once for all."""

    stands_still: bool
    """Whether terminal states last and earn up to the horizon, see `standing_still`."""

    def reward(self, mdp: TabularMDP) -> Floats:
        """(S,) or (S, A) the utility."""

    def __call__(self, mdp: TabularMDP) -> TabularMDP:
        """The world that earns it."""


@dataclass(frozen=True)
class OwnReward:
    """The world's own reward."""

    stands_still: ClassVar[bool] = False

    def reward(self, mdp: TabularMDP) -> Floats:
        return mdp.reward

    def __call__(self, mdp: TabularMDP) -> TabularMDP:
        return mdp


own_reward = OwnReward()


@dataclass(frozen=True)
class Feature:
    """A state feature as utility: being where it is high, for as many of the horizon's time steps as possible.

    A world that has ended stands still, so its last state counts to the horizon: a goal that ends the episode is worth
    the more the sooner it is reached, as a key is that one comes to hold, and ending the episode is no loss in itself.
    """

    name: str
    stands_still: ClassVar[bool] = True

    def reward(self, mdp: TabularMDP) -> Floats:
        """(S,) the feature.

        Raises:
            ValueError: the world has no such label.
        """
        if self.name not in mdp.labels:
            raise ValueError(
                f"wanted a label of the model, {', '.join(mdp.labels) or 'of which it has none'}, got {self.name!r}"
            )
        return mdp.labels[self.name]

    def __call__(self, mdp: TabularMDP) -> TabularMDP:
        """The world that earns the feature."""
        return standing_still(mdp, self.reward(mdp))


def standing_still(mdp: TabularMDP, reward: Floats) -> TabularMDP:
    """The world with terminal states that last, and earn, up to the horizon; nothing done in them matters."""
    if mdp.terminal is None or not mdp.terminal.any():
        return replace(mdp, reward=reward, terminal=None)
    ended = diags_array(mdp.terminal.astype(np.float64))
    going = diags_array((~mdp.terminal).astype(np.float64))
    stays = tuple(csr_array(going @ matrix + ended) for matrix in mdp.transition)
    return replace(mdp, transition=stays, reward=reward, terminal=None)


def menu(worlds: Sequence[TabularMDP]) -> list[str]:
    """The features that every world has and that are not the same in all states of all of them."""
    return [name for name in shared_labels(worlds) if _varies(np.concatenate([w.labels[name] for w in worlds]))]


def _varies(values: Floats) -> bool:
    return bool((values != values[0]).any())
