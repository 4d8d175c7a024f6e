"""Optimal actions on maps, decoded or true: breadth-first search over many maps at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gde.data.cell_map import PAD
from gde_plugins.probes.maps.estimates import Bools

Moves = Mapping[str, tuple[int, int]]
"""Action to rows and columns moved."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Believed:
    """N maps, each with one agent and one goal."""

    free: Bools
    """(N, size, size) where one can go; agent and goal always."""
    agent: NDArray[np.intp]
    """(N, 2) row and column."""
    goal: NDArray[np.intp]
    """(N, 2)."""

    @classmethod
    def likeliest(cls, decoded: NDArray[np.float32], classes: Sequence[str]) -> "Believed":
        """Each cell's likeliest class, agent and goal in the one cell with the highest probability of each; what else
        is called agent or goal is free, padding is wall (Arghal et al. 2026, section 5.2)."""
        named = decoded.argmax(axis=-1)
        free = (named != classes.index("wall")) & (named != classes.index(PAD))
        agent, goal = (top(decoded[..., classes.index(name)]) for name in ("agent", "goal"))
        return cls(free=_opened(free, agent, goal), agent=agent, goal=goal)

    @classmethod
    def sampled(cls, decoded: NDArray[np.float32], classes: Sequence[str], rng: np.random.Generator) -> "Believed":
        """One map drawn from each decoded distribution (N, size, size, C): the places of agent and goal by their
        probabilities over all cells, and every other cell by its own, wall (or padding) or free, given that it is
        neither."""
        agent, goal = (_drawn(decoded[..., classes.index(name)], rng) for name in ("agent", "goal"))
        closed = decoded[..., classes.index("wall")] + decoded[..., classes.index(PAD)]
        others = decoded.sum(axis=-1) - decoded[..., classes.index("agent")] - decoded[..., classes.index("goal")]
        free = rng.random(closed.shape) * np.maximum(others, 1e-12) >= closed
        return cls(free=_opened(free, agent, goal), agent=agent, goal=goal)

    def optimal(self, moves: Moves) -> Bools:
        """(N, A) actions that begin a shortest way; none where there is no way, or nowhere to go."""
        steps = _steps(np.pad(self.free, ((0, 0), (1, 1), (1, 1))), self.goal + 1, moves)
        rows, here = np.arange(len(steps)), self.agent + 1
        now = steps[rows, here[:, 0], here[:, 1]]
        ahead = [steps[rows, here[:, 0] + down, here[:, 1] + right] for down, right in moves.values()]
        return np.stack([(now > 0) & (after >= 0) & (after == now - 1) for after in ahead], axis=1)


def top(probabilities: NDArray[np.float32]) -> NDArray[np.intp]:
    """(N, 2) row and column of the highest of (N, size, size)."""
    best = probabilities.reshape(len(probabilities), -1).argmax(axis=1)
    return np.stack(np.divmod(best, probabilities.shape[2]), axis=1)


def _drawn(probabilities: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.intp]:
    """(N, 2) cells drawn by their probabilities (N, size, size), which need not sum to one."""
    summed = np.cumsum(probabilities.reshape(len(probabilities), -1).astype(np.float64), axis=1)
    drawn = (summed < rng.random((len(summed), 1)) * summed[:, -1:]).sum(axis=1)
    return np.stack(np.divmod(np.minimum(drawn, summed.shape[1] - 1), probabilities.shape[2]), axis=1)


def _opened(free: Bools, *places: NDArray[np.intp]) -> Bools:
    opened = free.copy()
    for place in places:
        opened[np.arange(len(free)), place[:, 0], place[:, 1]] = True
    return opened


def _steps(free: Bools, goal: NDArray[np.intp], moves: Moves) -> NDArray[np.int64]:
    """(N, H, W) steps to the goal, -1 where there is no way; the border of every map is closed."""
    steps = np.full(free.shape, -1, dtype=np.int64)
    frontier = np.zeros(free.shape, dtype=bool)
    frontier[np.arange(len(free)), goal[:, 0], goal[:, 1]] = True
    n = 0
    while frontier.any():
        steps[frontier] = n
        # The cells from which an action leads into the frontier; the closed border takes what is rolled round.
        sources = [np.roll(frontier, (-down, -right), axis=(1, 2)) for down, right in moves.values()]
        frontier = np.logical_or.reduce(sources) & free & (steps < 0)
        n += 1
    return steps
