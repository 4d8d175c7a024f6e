"""Optimal actions on maps, decoded or true: breadth-first search over many maps at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gde.data.cell_map import PAD
from gde_plugins.probes.arrays import Bools, Codes, Floats, Indices

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

        Agent and goal are in the one cell with the highest probability of each; other cells so decoded are free.
        Padding is wall.
        """
        named = decoded.argmax(axis=-1)
        free = (named != classes.index("wall")) & (named != classes.index(PAD))
        agent = top(decoded[..., classes.index("agent")])
        goal = top(decoded[..., classes.index("goal")])
        return cls(free=_opened(free, agent, goal), agent=agent, goal=goal)

    @classmethod
    def sampled(cls, decoded: Floats, classes: Sequence[str], rng: np.random.Generator) -> "Believed":
        """Draw one map from each decoded distribution (N, size, size, C).

        The places of agent and goal are drawn by their probabilities over all cells. Every other cell is drawn by its
        own, closed (wall or padding) or free, given that it is neither agent nor goal.
        """
        of_agent = decoded[..., classes.index("agent")]
        of_goal = decoded[..., classes.index("goal")]
        agent = _drawn_cells(of_agent, rng)
        goal = _drawn_cells(of_goal, rng)

        closed = decoded[..., classes.index("wall")] + decoded[..., classes.index(PAD)]
        others = decoded.sum(axis=-1) - of_agent - of_goal
        free = rng.random(closed.shape) * np.maximum(others, 1e-12) >= closed
        return cls(free=_opened(free, agent, goal), agent=agent, goal=goal)

    def optimal(self, moves: Moves) -> Bools:
        """(N, A) actions that begin a shortest way; none where there is no way, or nowhere to go."""
        # A closed border around every map, so that a step off the map needs no case of its own.
        steps = _steps_to(self.goal + 1, np.pad(self.free, ((0, 0), (1, 1), (1, 1))), moves)
        maps = np.arange(len(steps))
        row, column = (self.agent + 1).T
        now = steps[maps, row, column]

        best = []
        for down, right in moves.values():
            after = steps[maps, row + down, column + right]
            best.append((now > 0) & (after >= 0) & (after == now - 1))
        return np.stack(best, axis=1)


def top(probabilities: Floats) -> Indices:
    """(N, 2) row and column of the highest of (N, size, size)."""
    best = probabilities.reshape(len(probabilities), -1).argmax(axis=1)
    return np.stack(np.divmod(best, probabilities.shape[2]), axis=1)


def _drawn_cells(probabilities: Floats, rng: np.random.Generator) -> Indices:
    """(N, 2) cells drawn by their probabilities (N, size, size), which need not sum to one."""
    flat = probabilities.reshape(len(probabilities), -1)
    summed = np.cumsum(flat.astype(np.float64), axis=1)
    thresholds = rng.random((len(summed), 1)) * summed[:, -1:]
    drawn = np.minimum((summed < thresholds).sum(axis=1), summed.shape[1] - 1)
    return np.stack(np.divmod(drawn, probabilities.shape[2]), axis=1)


def _opened(free: Bools, *places: Indices) -> Bools:
    """The maps with a cell of each freed."""
    opened = free.copy()
    for place in places:
        opened[np.arange(len(free)), place[:, 0], place[:, 1]] = True
    return opened


def _steps_to(goal: Indices, free: Bools, moves: Moves) -> Codes:
    """(N, H, W) steps to the goal, -1 where there is no way; the border of every map is closed."""
    steps = np.full(free.shape, -1, dtype=np.int64)
    frontier = np.zeros(free.shape, dtype=bool)
    frontier[np.arange(len(free)), goal[:, 0], goal[:, 1]] = True
    n_steps = 0
    while frontier.any():
        steps[frontier] = n_steps
        # Cells from which an action leads into the frontier. What is rolled round lands on the closed border.
        reached = np.zeros_like(frontier)
        for down, right in moves.values():
            reached |= np.roll(frontier, (-down, -right), axis=(1, 2))
        frontier = reached & free & (steps < 0)
        n_steps += 1
    return steps
