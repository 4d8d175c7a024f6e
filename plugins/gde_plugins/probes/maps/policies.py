"""Optimal actions on decoded or true maps: breadth-first search over many maps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gde.data.cell_map import PAD
from gde_plugins.probes.arrays import CELLS, Bools, Codes, Floats, Indices

Moves = Mapping[str, tuple[int, int]]
"""Action to rows and columns moved."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Believed:
    """N maps, each with one agent and one goal."""

    free: Bools
    """(N, size, size) cells that can be entered; those of agent and goal always can."""
    agent: Indices
    """(N, 2) row and column."""
    goal: Indices
    """(N, 2) row and column."""

    @classmethod
    def likeliest(cls, decoded: Floats, classes: Sequence[str]) -> "Believed":
        """Take each cell's likeliest class (Arghal et al. 2026, section 5.2).

        Agent and goal are in the one cell with the highest probability of each; other
        cells so decoded are free. Padding is wall.
        """
        named = decoded.argmax(axis=-1)
        closed = np.isin(named, (classes.index("wall"), classes.index(PAD)))
        agent = top(_of_class(decoded, classes, "agent"))
        goal = top(_of_class(decoded, classes, "goal"))
        free = _opened(~closed, agent, goal)
        return cls(free=free, agent=agent, goal=goal)

    @classmethod
    def sampled(
        cls,
        decoded: Floats,
        classes: Sequence[str],
        rng: np.random.Generator,
    ) -> "Believed":
        """Draw one map from each decoded distribution (N, size, size, C).

        The places of agent and goal are drawn by their probabilities over all cells.
        Every other cell is drawn by its own, closed (wall or padding) or free, given
        that it is neither agent nor goal.
        """
        of_agent = _of_class(decoded, classes, "agent")
        of_goal = _of_class(decoded, classes, "goal")
        agent = _drawn_cells(of_agent, rng)
        goal = _drawn_cells(of_goal, rng)
        closed = _of_class(decoded, classes, "wall") + _of_class(decoded, classes, PAD)

        # Compared without a division by the other classes' sum, which is 0 where agent
        # and goal have all probability.
        others = decoded.sum(axis=-1) - of_agent - of_goal
        thresholds = rng.random(closed.shape) * np.maximum(others, 1e-12)
        free = _opened(thresholds >= closed, agent, goal)
        return cls(free=free, agent=agent, goal=goal)

    def optimal(self, moves: Moves) -> Bools:
        """(N, A) first actions of shortest paths; none without a path or at the goal."""
        # A closed border around every map, so that a step off the map needs no case of
        # its own.
        free = np.pad(self.free, ((0, 0), (1, 1), (1, 1)))
        steps = _steps_to(self.goal + 1, free, moves)

        maps = np.arange(len(steps))
        row, column = (self.agent + 1).T
        now = steps[maps, row, column]
        has_way = now > 0

        best = []
        for down, right in moves.values():
            after = steps[maps, row + down, column + right]
            best.append(has_way & (after == now - 1))
        return np.stack(best, axis=1)


def _of_class(decoded: Floats, classes: Sequence[str], name: str) -> Floats:
    """(N, size, size) probabilities of one class."""
    return decoded[..., classes.index(name)]


def top(probabilities: Floats | Bools) -> Indices:
    """(N, 2) row and column of the highest of (N, size, size)."""
    n, _, width = probabilities.shape
    best = probabilities.reshape(n, -1).argmax(axis=1)
    return np.stack(np.divmod(best, width), axis=1)


def _drawn_cells(probabilities: Floats, rng: np.random.Generator) -> Indices:
    """(N, 2) cells drawn by their probabilities (N, size, size), which need not sum to
    one.
    """
    n, _, width = probabilities.shape
    flat = probabilities.reshape(n, -1).astype(np.float64)

    # Inverse transform sampling: the first cell whose cumulative sum reaches a uniform
    # share of the total.
    summed = np.cumsum(flat, axis=1)
    thresholds = rng.random((n, 1)) * summed[:, -1:]
    drawn = (summed < thresholds).sum(axis=1)
    drawn = np.minimum(drawn, summed.shape[1] - 1)
    return np.stack(np.divmod(drawn, width), axis=1)


def _opened(free: Bools, *places: Indices) -> Bools:
    """The maps with a cell of each freed."""
    opened = free.copy()
    maps = np.arange(len(free))
    for place in places:
        row, column = place.T
        opened[maps, row, column] = True
    return opened


def _steps_to(goal: Indices, free: Bools, moves: Moves) -> Codes:
    """(N, H, W) steps to the goal, -1 without a path; the border of every map is
    closed.
    """
    steps = np.full(free.shape, -1, dtype=np.int64)
    frontier = np.zeros(free.shape, dtype=bool)
    row, column = goal.T
    frontier[np.arange(len(free)), row, column] = True

    n_steps = 0
    while frontier.any():
        steps[frontier] = n_steps

        # Cells from which an action leads into the frontier. What is rolled round lands
        # on the closed border.
        reached = np.zeros_like(frontier)
        for down, right in moves.values():
            reached |= np.roll(frontier, (-down, -right), axis=CELLS)
        frontier = reached & free & (steps < 0)
        n_steps += 1
    return steps
