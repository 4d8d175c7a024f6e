"""Utilities that an agent may pursue, to measure its behaviour against."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array, diags_array

from gde.data.arrays import Doubles
from gde.data.mdp import TabularMDP
from gde_plugins.meg.trajectories.episodes import shared_labels

Pursuit = Callable[[TabularMDP], TabularMDP]
"""Returns the world with the utility that behaviour is measured against as its
reward.
"""


def own_reward(mdp: TabularMDP) -> TabularMDP:
    """Return the world as it is: the utility is its own reward."""
    return mdp


@dataclass(frozen=True)
class Feature:
    """A state feature as utility: being where it is high, for as many of the horizon's
    time steps as possible.

    A world that has ended stands still, so its last state counts up to the horizon. A
    goal that ends the episode is worth more the sooner it is reached, like a key that
    the agent comes to hold. Ending is no loss in itself.
    """

    name: str

    def __call__(self, mdp: TabularMDP) -> TabularMDP:
        """Return the world that earns the feature.

        Raises:
            ValueError: the world has no such label.
        """
        if self.name not in mdp.labels:
            known = ", ".join(mdp.labels) or "of which it has none"
            raise ValueError(f"wanted a label of the model, {known}, got {self.name!r}")
        return standing_still(mdp, mdp.labels[self.name])


def standing_still(mdp: TabularMDP, reward: Doubles) -> TabularMDP:
    """Return the world with terminal states that last, and earn, up to the horizon,
    whatever is done in them.
    """
    if mdp.terminal is None or not mdp.terminal.any():
        return replace(mdp, reward=reward, terminal=None)

    # Every action leads from a terminal state to itself.
    ended = diags_array(mdp.terminal.astype(np.float64))
    going = diags_array((~mdp.terminal).astype(np.float64))
    transition = []
    for matrix in mdp.transition:
        lasting = going @ matrix + ended
        transition.append(csr_array(lasting))
    return replace(mdp, transition=tuple(transition), reward=reward, terminal=None)


def menu(worlds: Sequence[TabularMDP]) -> list[str]:
    """Return the features that every world has and that vary over the states of all
    worlds together.
    """
    varying = []
    for name in shared_labels(worlds):
        values = np.concatenate([world.labels[name] for world in worlds])
        is_constant = (values == values[0]).all()
        if not is_constant:
            varying.append(name)
    return varying
