"""Another place where the goal of a tabulated world might be."""

import numpy as np

from gde.data.mdp import TabularMDP
from gde_plugins.meg.solvers.dynamics import Mask
from gde_plugins.meg.trajectories.sample import steps_from_start

TARGET = "target"
Place = Mask
"""(S,) the states of one cell."""


def placebo(world: TabularMDP, rng: np.random.Generator) -> Place | None:
    """Draw another cell as far from the start as the goal; None if there is none.

    Raises:
        ValueError: the model does not tell what is where.
    """
    goal = goal_of(world)
    steps = steps_from_start(world)
    distance = steps[goal].min()
    is_alike = (steps == distance) & ~same_cell(world, goal)
    alike = np.flatnonzero(is_alike)
    if not len(alike):
        return None
    drawn = rng.choice(alike)
    return same_cell(world, np.arange(world.n_states) == drawn)


def goal_of(world: TabularMDP) -> Place:
    """Return the states in which the goal is reached.

    Raises:
        ValueError: the model does not tell what is where, or what would follow if the
        episode went on.
    """
    missing = {"row", "column", "goal"} - set(world.labels)
    if missing:
        names = ", ".join(sorted(missing))
        raise ValueError(
            f"wanted worlds with labels row, column and goal, got none called {names}"
        )

    # A placebo leaves the goal open, so the model must say how to leave it.
    goal = world.labels["goal"] > 0
    is_final = True
    for matrix in world.transition:
        staying = matrix.diagonal()[goal]
        is_final = is_final and bool((staying == 1).all())
    if is_final or not goal.any():
        raise ValueError(
            "wanted models that tell what would follow at the goal if the episode went on, got none"
        )
    return np.asarray(goal)


def same_cell(world: TabularMDP, places: Mask) -> Mask:
    """Return the (S,) states that share a cell with one of these."""
    rows = world.labels["row"].tolist()
    columns = world.labels["column"].tolist()
    cells = list(zip(rows, columns, strict=True))
    wanted = {cells[state] for state in np.flatnonzero(places)}
    return np.array([cell in wanted for cell in cells])
