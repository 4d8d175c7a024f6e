"""The moves of the agent, and the grid as a Markov decision process."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from gde.data.arrays import Bools, Doubles, Indices
from gde.data.cell_map import Position
from gde.data.mdp import TabularMDP
from gde.numerics import tabular
from gde_plugins.grid.grid import Grid

MOVES: Mapping[str, Position] = {
    "UP": (-1, 0),
    "DOWN": (1, 0),
    "LEFT": (0, -1),
    "RIGHT": (0, 1),
}
"""Action to (rows, columns) moved, in action index order."""
ACTIONS = tuple(MOVES)
STEP_REWARD = -1.0


@dataclass(frozen=True, kw_only=True, eq=False)
class FreeCells:
    """The states: free cells in reading order."""

    positions: Indices
    """(S, 2) row and column of every free cell."""
    successors: Indices
    """(S, A) state that each action leads to; a wall leaves the agent where it is."""

    @classmethod
    def of(cls, walls: Bools) -> "FreeCells":
        """Return the states of a (height, width) wall mask with closed border."""
        positions = np.argwhere(~walls)
        here = np.arange(len(positions))
        index = np.full(walls.shape, -1)
        index[~walls] = here

        # The border is closed, so no target lies outside the grid.
        moves = np.array(list(MOVES.values()))
        targets = positions[:, None, :] + moves
        reached = index[targets[..., 0], targets[..., 1]]
        successors = np.where(reached < 0, here[:, None], reached)
        return cls(positions=positions, successors=successors)

    @property
    def graph(self) -> csr_array:
        """(S, S) matrix with an edge for every move."""
        n_states, n_actions = self.successors.shape
        targets = self.successors.ravel()
        ones = np.ones(len(targets))
        ends = np.arange(0, len(targets) + 1, n_actions)
        return csr_array((ones, targets, ends), shape=(n_states, n_states))

    def index(self, position: tuple[int, int]) -> int:
        """Return the state of a free cell."""
        is_here = (self.positions == position).all(axis=1)
        return int(np.flatnonzero(is_here)[0])


def steps_to(walls: Bools, targets: ArrayLike) -> Doubles:
    """Return (height, width) the steps from every cell to the nearest of (K, 2) targets;
    inf in walls and where there is no way.
    """
    is_target = np.zeros_like(walls)
    is_target[tuple(np.transpose(targets))] = True
    steps = np.full(walls.shape, np.inf)
    cells = FreeCells.of(walls)
    steps[~walls] = tabular.steps_to(cells.graph, np.flatnonzero(is_target[~walls]))
    return steps


def around(cell: Position) -> tuple[Indices, Indices]:
    """Return the rows and columns that the moves lead to from a cell."""
    rows, columns = (np.array(cell) + list(MOVES.values())).T
    return rows, columns


def as_position(cell: Indices) -> Position:
    """Return a (row, column) array as a position."""
    row, column = cell.tolist()
    return row, column


def tabulate(grid: Grid, actions: tuple[str, ...] = ACTIONS) -> TabularMDP:
    """Return the grid's model: states are the free cells in reading order, the goal is
    terminal.

    Every step costs 1, so the optimal value of a state is minus its distance to the
    goal. The environment's own reward, 1 on reaching the goal, would make every way
    optimal that gets there at all. Labels are `row`, `column`, `goal` (1 there) and
    `wall` (number of walls among the four cells beside it).

    Args:
        grid: with closed border.
        actions: names of `MOVES`, in their order.
    """
    cells = FreeCells.of(grid.walls)
    rows, columns = cells.positions.T
    here = np.arange(len(rows))
    at_goal = here == cells.index(grid.goal)
    # A move into a wall is one that leads nowhere.
    n_walls = (cells.successors == here[:, None]).sum(axis=1)
    labels = {
        "row": rows.astype(float),
        "column": columns.astype(float),
        "goal": at_goal.astype(float),
        "wall": n_walls.astype(float),
    }
    return shortest_way_model(
        cells.successors, cells.index(grid.agent), at_goal, labels, actions
    )


def shortest_way_model(
    successors: Indices,
    start: int,
    terminal: Bools,
    labels: dict[str, Doubles],
    actions: tuple[str, ...] = ACTIONS,
) -> TabularMDP:
    """Return the model of a deterministic world in which every step costs 1.

    Args:
        successors: (S, A) state that each action leads to. In terminal states it is the
        one that would follow if the
            episode went on; solvers ignore it.
        start: the first state.
        terminal: (S,) True if the episode is over.
        labels: named (S,) features of states.
        actions: names of the A actions, in index order.
    """
    is_start = np.arange(len(successors)) == start
    return TabularMDP(
        transition=tuple(_deterministic(of_action) for of_action in successors.T),
        start=is_start.astype(float),
        reward=np.where(terminal, 0.0, STEP_REWARD),
        terminal=terminal,
        actions=actions,
        labels=labels,
    )


def _deterministic(successor: Indices) -> csr_array:
    """Return the (S, S) transition matrix with one certain successor a state."""
    n_states = len(successor)
    ones = np.ones(n_states)
    ends = np.arange(n_states + 1)
    return csr_array((ones, successor, ends), shape=(n_states, n_states))
