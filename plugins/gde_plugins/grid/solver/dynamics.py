"""How the agent moves, and the grid as a Markov decision process."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gde.data.cell_map import Position
from gde.data.mdp import TabularMDP
from gde_plugins.grid.grid import Grid

MOVES: Mapping[str, Position] = {"UP": (-1, 0), "DOWN": (1, 0), "LEFT": (0, -1), "RIGHT": (0, 1)}
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

    def steps_to(self, goal: int) -> NDArray[np.float64]:
        """(S,) length of the shortest way to a state, inf where there is none; whatever way leads there leads back.

        In the few cells of a grid a queue is several times as fast as `gde.numerics.tabular.steps_to`.
        """
        ways = self.successors.tolist()
        waiting = [goal]
        steps = np.full(len(ways), np.inf).tolist()
        steps[goal] = 0.0
        for here in waiting:  # which grows meanwhile
            for there in ways[here]:
                if steps[there] > steps[here] + 1:
                    steps[there] = steps[here] + 1
                    waiting.append(there)
        return np.array(steps)

    def index(self, position: tuple[int, int]) -> int:
        """The state of a free cell."""
        return int(np.flatnonzero((self.positions == position).all(axis=1))[0])


def tabulate(grid: Grid, actions: tuple[str, ...] = ACTIONS) -> TabularMDP:
    """The grid's model: states are the free cells in reading order, the goal is terminal.

    Every step costs 1, so that the optimal value of a state is minus its distance to the goal; the environment's
    own reward, 1 on reaching the goal, would call every way optimal that gets there at all. Labels are `row`,
    `column`, `goal` (1 there) and `wall` (how many of the four cells beside it are walls).

    Args:
        grid: with closed border.
        actions: names of `MOVES`, in their order.
    """
    cells = FreeCells.of(grid.walls)
    here = np.arange(len(cells.positions))
    at_goal = here == cells.index(grid.goal)
    labels = {
        "row": cells.positions[:, 0].astype(float),
        "column": cells.positions[:, 1].astype(float),
        "goal": at_goal.astype(float),
        "wall": (cells.successors == here[:, None]).sum(axis=1).astype(float),
    }
    return shortest_way_model(cells.successors, cells.index(grid.agent), at_goal, labels, actions)


def shortest_way_model(
    successors: NDArray[np.intp],
    start: int,
    terminal: NDArray[np.bool_],
    labels: dict[str, NDArray[np.float64]],
    actions: tuple[str, ...] = ACTIONS,
) -> TabularMDP:
    """A deterministic world in which every step costs 1.

    Args:
        successors: (S, A) state that each action leads to, of terminal states what it would lead to if the episode
            went on; nothing that is solved looks at those.
        start: the first state.
        terminal: (S,) where the episode is over.
        labels: named (S,) features of states.
        actions: names of the A actions, in index order.
    """
    return TabularMDP(
        transition=tuple(_deterministic(successors[:, a]) for a in range(successors.shape[1])),
        start=(np.arange(len(successors)) == start).astype(float),
        reward=np.where(terminal, 0.0, STEP_REWARD),
        terminal=terminal,
        actions=actions,
        labels=labels,
    )


def _deterministic(successor: NDArray[np.intp]) -> csr_array:
    """(S, S) one certain successor a state."""
    n_states = len(successor)
    return csr_array((np.ones(n_states), successor, np.arange(n_states + 1)), shape=(n_states, n_states))
