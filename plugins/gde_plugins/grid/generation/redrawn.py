"""Counterfactual goals of random grids: the generator's, given the agent's start.

`mazes.generate` draws the goal before the agent. So a goal is the likelier, given the
start, the fewer other cells were at a wanted distance from it, where the agent might
have been.
"""

from collections.abc import Mapping

import numpy as np

from gde.data.cell_map import Position
from gde_plugins.grid.grid import Grid
from gde_plugins.grid.solver.dynamics import as_position, steps_to


def alike_goals(
    grid: Grid, wanted: range, exchanged: bool = False
) -> Mapping[str, float]:
    """Weigh the cells as far from the start as the goal by the generator's chances.

    P(goal | start, walls) is P(goal) P(start | goal): the goal is uniform over the
    cells that have others at a wanted distance, the agent uniform over those others.

    Args:
        grid: the grid with its goal.
        wanted: the lengths of the shortest way that the generator accepts.
        exchanged: whether start and goal were exchanged after they were drawn. Then the
            start was the goal, and all these cells were equally likely.
    """
    steps = steps_to(grid.walls, [grid.agent])
    weights = {}
    for each in np.argwhere(steps == steps[grid.goal]):
        cell = as_position(each)
        n_agents = 1
        if not exchanged:
            from_goal = steps_to(grid.walls, [cell])
            is_wanted = (from_goal >= wanted.start) & (from_goal < wanted.stop)
            n_agents = int(is_wanted.sum())
        weights[cell_name(cell)] = 1 / n_agents
    return weights


def cell_name(cell: Position) -> str:
    """The name of the goal in a cell."""
    row, column = cell
    return f"{row},{column}"


def named_cell(name: str) -> Position:
    """The cell of a name."""
    row, column = name.split(",")
    return int(row), int(column)
