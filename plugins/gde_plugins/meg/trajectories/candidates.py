"""What an agent may be after: utilities to measure its behaviour against."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array, diags_array

from gde.data.mdp import Floats, TabularMDP
from gde_plugins.meg.trajectories.episodes import shared_labels


def own_reward(mdp: TabularMDP) -> TabularMDP:
    """The world's own reward."""
    return mdp


@dataclass(frozen=True)
class Feature:
    """A state feature as utility: being where it is high, for as many of the horizon's time steps as possible.

    A world that has ended stands still, so its last state counts to the horizon: a goal that ends the episode is worth
    the more the sooner it is reached, as a key is that one comes to hold, and ending the episode is no loss in itself.
    """

    name: str

    def __call__(self, mdp: TabularMDP) -> TabularMDP:
        """The world that earns the feature.

        Raises:
            ValueError: the world has no such label.
        """
        if self.name not in mdp.labels:
            raise ValueError(
                f"wanted a label of the model, {', '.join(mdp.labels) or 'of which it has none'}, got {self.name!r}"
            )
        return standing_still(mdp, mdp.labels[self.name])


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
    return [
        name for name in shared_labels(worlds) if len(np.unique(np.concatenate([w.labels[name] for w in worlds]))) > 1
    ]
