"""How the agent moves, and the grid as a Markov decision process."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gde.data.grid import Grid
from gde.data.mdp import TabularMDP

MOVES = {"UP": (-1, 0), "DOWN": (1, 0), "LEFT": (0, -1), "RIGHT": (0, 1)}
"""Action to (rows, columns) moved, in action index order."""
ACTIONS = tuple(MOVES)
STEP_REWARD = -1.0


@dataclass(frozen=True, kw_only=True, eq=False)
class FreeCells:
    """The states: free cells in reading order."""

    positions: NDArray[np.intp]
    """(S, 2) row and column of every free cell."""
    successors: NDArray[np.intp]
    """(S, A) state that each action leads to; a wall leaves the agent where it is."""

    @classmethod
    def of(cls, walls: NDArray[np.bool_]) -> "FreeCells":
        """The states of a (height, width) wall mask with closed border."""
        positions = np.argwhere(~walls)
        here = np.arange(len(positions))
        index = np.full(walls.shape, -1)
        index[~walls] = here
        targets = positions[:, None, :] + np.array(list(MOVES.values()))
        reached = index[targets[..., 0], targets[..., 1]]
        return cls(positions=positions, successors=np.where(reached < 0, here[:, None], reached))

    @property
    def graph(self) -> csr_array:
        """(S, S) an edge for every move."""
        n_states, n_actions = self.successors.shape
        ends = np.arange(0, n_states * n_actions + 1, n_actions)
        return csr_array((np.ones(n_states * n_actions), self.successors.ravel(), ends), shape=(n_states, n_states))

    def index(self, position: tuple[int, int]) -> int:
        """The state of a free cell."""
        return int(np.flatnonzero((self.positions == position).all(axis=1))[0])


def tabulate(grid: Grid) -> TabularMDP:
    """The grid's model: states are the free cells in reading order, the goal is terminal.

    Every step costs 1, so that the optimal value of a state is minus its distance to the goal; the environment's
    own reward, 1 on reaching the goal, would call every way optimal that gets there at all.
    """
    cells = FreeCells.of(grid.walls)
    start, goal = cells.index(grid.agent), cells.index(grid.goal)
    successors = cells.successors.copy()
    successors[goal] = goal
    at_goal = np.arange(len(successors)) == goal
    return TabularMDP(
        transition=tuple(_deterministic(successors[:, a]) for a in range(len(ACTIONS))),
        start=(np.arange(len(successors)) == start).astype(float),
        reward=np.where(at_goal, 0.0, STEP_REWARD),
        terminal=at_goal,
        actions=ACTIONS,
        labels={"row": cells.positions[:, 0].astype(float), "column": cells.positions[:, 1].astype(float)},
    )


def _deterministic(successor: NDArray[np.intp]) -> csr_array:
    """(S, S) one certain successor a state."""
    n_states = len(successor)
    return csr_array((np.ones(n_states), successor, np.arange(n_states + 1)), shape=(n_states, n_states))
