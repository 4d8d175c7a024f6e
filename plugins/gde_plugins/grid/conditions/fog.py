"""A grid in fog, which hides every cell that the agent has not seen, by Bresenham rays
that walls block (Arghal et al. 2026, appendix A).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Literal, Protocol

import numpy as np

from gde.data.arrays import Bools
from gde.data.cell_map import Position
from gde.data.goals import Goals
from gde.data.json import Json
from gde.data.mdp import TabularMDP
from gde.data.observation import Observation, Outcome, State, Task, World
from gde.parts.environment import Environment, HasGoals, HasMDP, HasSnapshot
from gde_plugins.grid.grid import Grid
from gde_plugins.grid.rendering.layout import offsets, put
from gde_plugins.grid.solver.belief import (
    UNKNOWN_SYMBOL,
    Belief,
    Mask,
    believe,
    known_rows,
)
from gde_plugins.grid.solver.dynamics import MOVES


def visible(walls: Bools, agent: Position, radius: int) -> Bools:
    """Return (height, width) True for the cells that are seen from `agent`.

    Rays go from the agent to every cell on the edge of the square of this radius, cut
    to the grid as in the authors' released code. A ray shows the wall that it hits, and
    nothing behind it. A reflected, rotated or transposed grid shows the reflected,
    rotated or transposed cells.

    Args:
        walls: (height, width) True in walls.
        agent: a cell of the grid.
        radius: rows and columns that the agent sees, at least 1.
    """
    seen = np.zeros_like(walls)
    seen[agent] = True
    height, width = walls.shape
    for end in _edge(height, width, agent, radius):
        for cell in ray(agent, end):
            seen[cell] = True
            if walls[cell]:
                break
    return seen


def ray(start: Position, end: Position) -> Iterator[Position]:
    """Yield the cells of the line between two cells without `start`, by the algorithm
    of Bresenham (1965).

    If a line passes exactly between two cells, it takes the one farther from the start.
    In the other direction it may pass through other cells.
    """
    row, column = start
    end_row, end_column = end
    down = end_row - row
    right = end_column - column
    length = max(abs(down), abs(right))
    for step in range(1, length + 1):
        yield row + _share(down, step, length), column + _share(right, step, length)


def _share(whole: int, step: int, length: int) -> int:
    """Return whole * step / length, rounded; halves away from zero."""
    # Whole numbers, since floats would round mirror images differently.
    size = (2 * abs(whole) * step + length) // (2 * length)
    return size if whole >= 0 else -size


def _edge(height: int, width: int, centre: Position, radius: int) -> Iterator[Position]:
    """Yield the outermost cells of the square around `centre`, as far as it lies in the
    grid.
    """
    row, column = centre
    top = max(row - radius, 0)
    bottom = min(row + radius, height - 1)
    left = max(column - radius, 0)
    right = min(column + radius, width - 1)
    for edge_column in range(left, right + 1):
        yield top, edge_column
        yield bottom, edge_column
    for edge_row in range(top + 1, bottom):
        yield edge_row, left
        yield edge_row, right


Reveal = Literal["cumulative", "current"]


class GridWorld(HasSnapshot, Environment, HasMDP, HasGoals, Protocol):
    """A world with facts `rows`, `agent` and `goal`, a text as `layout` writes it, and
    the actions MOVES.
    """

    def worlds(self) -> Sequence[str]:
        """See `gde.parts.environment.HasWorlds`."""


class FoggyGrid:
    """Implements `gde.parts.environment.HasMDP` around a grid world without fog.

    The model, and with it each turn's certified optimum, is that of the grid without
    fog. The facts of each state hold the agent's knowledge. `known` holds the rows with
    `*` for every cell not seen so far. `belief_optimal` are the actions of the belief
    oracle (`grid.solver.belief`), `belief_aim` is their aim (the goal or an unknown
    cell), and `belief_steps` the length of its plan. `known_walls` and
    `known_dead_ends` are the moves that the known cells rule out. The oracle never
    forgets, even if seen cells are hidden again.
    """

    def __init__(
        self,
        grid: GridWorld,
        *,
        radius: int,
        reveal: Reveal,
        turns: Callable[[float], int],
    ) -> None:
        """Put a grid world in fog.

        Args:
            grid: the world to be hidden.
            radius: rows and columns that the agent sees around itself.
            reveal: whether cells that were seen stay shown, or only those in sight are.
            turns: maps the needed steps to the allowed turns.
        """
        self._inner = grid
        self._radius = radius
        self._reveal = reveal
        self._turns = turns

    def worlds(self) -> Sequence[str]:
        """Return the worlds of the grid without fog."""
        return self._inner.worlds()

    def reset(self, seed: int) -> Observation:
        """Begin in the world that the grid has for this seed."""
        return self._enter(self._inner.reset(seed))

    def goals(self) -> Goals:
        """Return the goals of the grid without fog."""
        return self._inner.goals()

    def set_goal(self, goal: str) -> Observation:
        """Begin again with another of these goals."""
        return self._enter(self._inner.set_goal(goal))

    def task(self) -> Task:
        """Return the grid's task with enough turns for the slowest way of the belief
        oracle.
        """
        inner = self._inner.task()
        most_steps = max(self._explorer_steps)
        horizon = max(inner.horizon, self._turns(most_steps))
        return replace(inner, rules=f"{inner.rules} {self._rules}", horizon=horizon)

    def world(self) -> World:
        """Return the grid's world with the facts `view_radius`, `reveal` and
        `explorer_steps`.

        The last are the belief oracle's steps to the goal if, of equally good moves, it
        prefers the first move, the second and so on.
        """
        inner = self._inner.world()
        fog: dict[str, Json] = {
            "view_radius": self._radius,
            "reveal": self._reveal,
            "explorer_steps": [*self._explorer_steps],
        }
        name = f"{inner.id}-fog{self._radius}-{self._reveal}"
        return replace(inner, id=name, base=inner.cluster, facts={**inner.facts, **fog})

    def step(self, action: str) -> Outcome:
        """Act in the grid; cells that come in sight are known from now on."""
        outcome = self._inner.step(action)
        return replace(
            outcome, observation=self._arrive(outcome.observation, self._seen)
        )

    def state(self) -> State:
        """Return the grid's state with the agent's knowledge of it."""
        inner = self._inner.state()
        belief = self._belief
        names = self._inner.mdp().actions

        def named(indices: tuple[int, ...]) -> list[Json]:
            return [names[index] for index in indices]

        facts: dict[str, Json] = {
            "known": [*known_rows(self._grid(), self._seen)],
            "belief_optimal": named(belief.optimal),
            "belief_aim": belief.aim,
            "belief_steps": belief.steps,
            "known_walls": named(belief.walls),
            "known_dead_ends": named(belief.dead_ends),
        }
        return replace(inner, facts={**inner.facts, **facts})

    def mdp(self) -> TabularMDP:
        """Return the grid's own model, without fog."""
        return self._inner.mdp()

    def snapshot(self) -> tuple[object, Mask]:
        """Return the grid's snapshot and the mask of seen cells."""
        return self._inner.snapshot(), self._seen

    def restore(self, snapshot: object) -> Observation:
        match snapshot:
            case (inner, np.ndarray() as seen):
                return self._arrive(self._inner.restore(inner), seen)
        raise ValueError(f"wanted a snapshot of this episode, got {snapshot!r}")

    def reseed(self, seed: int) -> None:
        """Nothing is random."""

    def close(self) -> None:
        self._inner.close()

    @property
    def _rules(self) -> str:
        lasting = (
            "stays shown"
            if self._reveal == "cumulative"
            else "is hidden again when it is out of sight"
        )
        return (
            f"There is fog: {UNKNOWN_SYMBOL} is a hidden cell, which may hold anything, the goal included. Cells up to"
            f" {self._radius} rows and columns away are seen unless a wall stands between; what was seen {lasting}. The"
            " outermost cells are all walls."
        )

    def _enter(self, shown: Observation) -> Observation:
        self._explorer_steps = [
            self._explore(shown, favourite) for favourite in range(len(MOVES))
        ]
        return self._begin(shown)

    def _begin(self, shown: Observation) -> Observation:
        return self._arrive(shown, np.zeros(self._grid().walls.shape, dtype=bool))

    def _arrive(self, shown: Observation, seen_before: Mask) -> Observation:
        """Look around, update the belief, and hide the rest."""
        grid = self._grid()
        in_sight = visible(grid.walls, grid.agent, self._radius)
        # A new mask, because snapshots hold the old one.
        self._seen = seen_before | in_sight
        self._belief: Belief = believe(grid, self._seen)

        shown_cells = self._seen if self._reveal == "cumulative" else in_sight
        hidden = [(row, column) for row, column in np.argwhere(~shown_cells).tolist()]
        text = shown.text
        for place in offsets(grid.rows, hidden):
            text = put(text, place, UNKNOWN_SYMBOL)
        return replace(shown, text=text)

    def _grid(self) -> Grid:
        return Grid.from_record(self._inner.world(), self._inner.state())

    def _explore(self, shown: Observation, favourite: int) -> int:
        """Return the steps of the belief oracle from here to the goal; the world is as
        before afterwards.

        Luck in breaking ties makes its way shorter or longer, so one way of breaking
        them is no measure.
        """
        # The oracle walks in the world itself, in which the agent has not begun.
        start = self._inner.snapshot()
        steps = 0
        self._begin(shown)
        while self._belief.steps:
            move = min(
                self._belief.optimal, key=lambda move: (move - favourite) % len(MOVES)
            )
            self.step(self._inner.mdp().actions[move])
            steps += 1
        self._inner.restore(start)
        return steps
