"""The walk before a training sample: the earlier turns that its prompt shows.

Something may be moved on the way, so that an earlier turn can show the goal or the
agent where it no longer is.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gde.data.cell_map import CellMap
from gde.parts.environment import Environment, HasState
from gde.seeding import pick
from nano_training.tracing import (
    MOVES,
    distances,
    neighbours,
    optimal_moves,
)

PERTURBATIONS = ("none", "move_goal", "put_back")
"""What happens during a walk, all equally likely."""
LONGEST_LEAD = 3
"""Largest number of actions before the earliest turn that is shown."""
P_OPTIMAL = 0.85
"""Probability that a step of the walk is optimal, if one that does not end it is."""


class GridWorld(Environment, HasState, Protocol):
    """An environment whose record is a map (`gde.data.cell_map`) of walls with an agent
    and a goal.
    """


MakeEnvironment = Callable[..., GridWorld]
"""Makes a grid world of the options `size` and `density`; for walks also of
`perturbation` and `perturbation_turn`, as the environment `grid` has them.
"""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """An earlier turn."""

    text: str
    """The grid that was shown."""
    move: str
    """The action that was taken."""


@dataclass(frozen=True, kw_only=True)
class Scene:
    """The grid of a sample, and what the prompt shows before it."""

    earlier: tuple[Turn, ...]
    text: str
    grid: CellMap


def draw_scene(
    make: MakeEnvironment,
    size: int,
    density: float,
    *,
    seed: int,
    n_earlier: int,
    rng: np.random.Generator,
) -> Scene:
    """Return the grid of this seed, after a walk if earlier turns are wanted."""
    if not n_earlier:
        environment = make(size=size, density=density)
        text = environment.reset(seed).text
        return Scene(earlier=(), text=text, grid=_grid(environment))

    n = n_earlier + int(rng.integers(LONGEST_LEAD + 1))
    environment = make(
        size=size,
        density=density,
        perturbation=pick(PERTURBATIONS, rng),
        perturbation_turn=1 + int(rng.integers(n)),
    )
    text = environment.reset(seed).text
    turns = []
    for _ in range(n):
        move = _step(_grid(environment), rng)
        turns.append(Turn(text=text, move=move))
        text = environment.step(move).observation.text
    return Scene(earlier=tuple(turns[-n_earlier:]), text=text, grid=_grid(environment))


def _grid(environment: GridWorld) -> CellMap:
    return CellMap.from_record(environment.world(), environment.state())


def _step(grid: CellMap, rng: np.random.Generator) -> str:
    """Return a move that does not reach the goal, which would end the episode.

    Beside the goal in a dead end it is a move against a wall.
    """
    walls, agent, goal = (
        grid.where("wall"),
        grid.place_of("agent"),
        grid.place_of("goal"),
    )
    beside = zip(MOVES, neighbours(agent), strict=True)
    free = [move for move, cell in beside if cell != goal and not walls[cell]]
    optimal = set(optimal_moves(walls, distances(walls, goal), agent))
    best = [move for move in free if move in optimal]

    if rng.random() < P_OPTIMAL and best:
        return pick(best, rng)
    against = [move for move in MOVES if move not in optimal]
    choices = free or against
    return pick(choices, rng)
