"""Do first choices depend on the goal, or on what actions do? A check after Kenton et
al. (2023), for walkers in grids.

Kenton et al. call a system an agent if it would choose otherwise in a world where its
actions had other consequences, and discover agents as a causal graph of mechanisms. No
graph is discovered here. One mechanism of the world is changed: where the goal is, or
what the actions do. The check compares the first choice of the same walker in every
state. Walkers that only perceive walls pass the second check too.
"""

from dataclasses import replace

import numpy as np

from gde.data.arrays import Doubles
from gde.data.mdp import TabularMDP
from meg_studies.baselines.walkers import Maker, Memory, successors
from meg_studies.placebo import Place, goal_of, placebo

RESPONDS = 0.02
"""Mean total variation of first choices from which on they count as different."""


def response_to_goal(
    make: Maker, world: TabularMDP, rng: np.random.Generator
) -> float | None:
    """Return the mean total variation of first choices when the goal is moved;
    None if it cannot be.
    """
    elsewhere = placebo(world, rng)
    if elsewhere is None:
        return None

    # A walker may find the goal in the reward, in the labels or in where the episode
    # ends, so all three move.
    reward = world.reward
    if reward.ndim == 1:
        reward = np.where(elsewhere, reward.max(), reward.min())
    labels = dict(world.labels)
    labels["goal"] = elsewhere.astype(np.float64)
    moved = replace(world, terminal=elsewhere, reward=reward, labels=labels)

    # In either goal the episode would be over.
    over = goal_of(world) | elsewhere
    before = _policy(make, world)
    after = _policy(make, moved)
    return _variation(before, after, ~over)


def response_to_actions(
    make: Maker, world: TabularMDP, rng: np.random.Generator
) -> float:
    """Return the same when the actions are shuffled: above zero for every system that
    perceives what they do.
    """
    shift = int(rng.integers(1, world.n_actions))
    order = np.roll(np.arange(world.n_actions), shift)
    transition = tuple(world.transition[action] for action in order)
    shuffled = replace(world, transition=transition)

    before = _policy(make, world)
    after = _policy(make, shuffled)
    return _variation(before, after, ~goal_of(world))


def _policy(make: Maker, world: TabularMDP) -> Doubles:
    """Return (S, A) the first choice in every state, in a world that the walker has
    just entered.
    """
    walker = make(world)
    rows = []
    for state, after in enumerate(successors(world)):
        rows.append(walker(state, after, Memory()))
    return np.array(rows)


def _variation(one: Doubles, other: Doubles, states: Place) -> float:
    """Return the mean total variation over these states."""
    differences = np.abs(one - other)[states].sum(axis=1)
    return float(differences.mean() / 2)
