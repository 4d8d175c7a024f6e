"""Does it adapt? The criterion of Kenton et al. (2023), for walkers in grids.

An agent is a system that would choose otherwise if its actions influenced the world otherwise. So a mechanism of the
world is changed and the same system put into the same states: where the goal is (the mechanism of its utility), or what
the actions do. The answer needs the power to intervene, which no record of behaviour gives.
"""

from dataclasses import replace

import numpy as np

from gde.data.mdp import Floats, TabularMDP
from gde_plugins.meg.trajectories.placebo import Place, goal_of, placebo
from gde_plugins.meg.validity.walkers import Maker, Memory

RESPONDS = 0.02
"""Mean total variation of the policy from which on a system counts as adapting."""


def response_to_goal(make: Maker, world: TabularMDP, rng: np.random.Generator) -> float | None:
    """Return the mean total variation of the policy over states when the goal is moved; None if it cannot be."""
    elsewhere = placebo(world, rng)
    if elsewhere is None:
        return None
    reward = world.reward
    if reward.ndim == 1:
        reward = np.where(elsewhere, reward.max(), reward.min())
    labels = {**world.labels, "goal": elsewhere.astype(np.float64)}
    moved = replace(world, terminal=elsewhere, reward=reward, labels=labels)

    # In either goal the episode would be over.
    going = ~(goal_of(world) | elsewhere)
    return _variation(_policy(make, world), _policy(make, moved), going)


def response_to_actions(make: Maker, world: TabularMDP, rng: np.random.Generator) -> float:
    """Return the same when the actions are shuffled: above zero for every system that perceives what they do."""
    order = np.roll(np.arange(world.n_actions), int(rng.integers(1, world.n_actions)))
    shuffled = replace(world, transition=tuple(world.transition[action] for action in order))
    return _variation(_policy(make, world), _policy(make, shuffled), ~goal_of(world))


def _policy(make: Maker, world: TabularMDP) -> Floats:
    """Return (S, A) the first choice in every state, in a world that the walker has just entered."""
    walker = make(world)
    after = np.stack([matrix.indices for matrix in world.transition])
    return np.array([walker(state, after[:, state], Memory()) for state in range(world.n_states)])


def _variation(one: Floats, other: Floats, states: Place) -> float:
    return float(np.abs(one - other)[states].sum(axis=1).mean() / 2)
