"""A grid in fog: the agent is shown its size, and no cell that it has not seen (Arghal et al. 2026, appendix A)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, Protocol

import numpy as np

from gde.data.json import Json
from gde.data.mdp import TabularMDP
from gde.data.observation import Observation, Outcome, State, Task, World
from gde.parts.environment import Environment, HasMDP, HasSnapshot
from gde_plugins.grid.conditions.visibility import visible
from gde_plugins.grid.grid import Grid
from gde_plugins.grid.rendering.layout import offsets, put
from gde_plugins.grid.solver.belief import UNKNOWN_SYMBOL, Belief, Mask, believe, known_rows
from gde_plugins.grid.solver.dynamics import MOVES

Reveal = Literal["cumulative", "current"]


class GridWorld(HasSnapshot, Environment, HasMDP, Protocol):
    """A world whose record tells `rows`, `agent` and `goal`, whose text `layout` writes and whose actions are MOVES."""

    def worlds(self) -> Sequence[str]:
        """See `gde.parts.environment.HasWorlds`."""


class FoggyGrid:
    """Implements `gde.parts.environment.HasMDP` around a grid world that is shown in full.

    Model, and with it each turn's certified optimum, are those of the grid without fog. What can be known is in the
    facts of each state: `known`, the rows with `*` for every cell not seen so far, and of the belief oracle
    (`grid.solver.belief`) the actions `belief_optimal`, where they lead (`belief_aim`, the goal or an unknown cell)
    and the length of its plan `belief_steps`; `known_walls` and `known_dead_ends` are the moves that the known cells
    already speak against. The oracle never forgets, whatever is shown.
    """

    def __init__(self, grid: GridWorld, *, radius: int, reveal: Reveal, turns: Callable[[float], int]) -> None:
        """Put a grid world in fog.

        Args:
            grid: what is hidden.
            radius: rows and columns that the agent sees around itself.
            reveal: whether what was seen stays shown, or only what is in sight.
            turns: turns allowed where so many steps are needed.
        """
        self._inner = grid
        self._radius = radius
        self._reveal = reveal
        self._turns = turns

    def worlds(self) -> Sequence[str]:
        """As of the grid without fog."""
        return self._inner.worlds()

    def reset(self, seed: int) -> Observation:
        """Begin in the world that the grid has for this seed."""
        observation = self._inner.reset(seed)
        self._explorer_steps = [self._explore(observation, favourite) for favourite in range(len(MOVES))]
        return self._begin(observation)

    def task(self) -> Task:
        """The grid's task, with the usual multiple of the most steps that the belief oracle may take as its turns."""
        inner = self._inner.task()
        horizon = max(inner.horizon, self._turns(max(self._explorer_steps)))
        return replace(inner, rules=f"{inner.rules} {self._rules}", horizon=horizon)

    def world(self) -> World:
        """The grid's world with the facts `view_radius`, `reveal` and `explorer_steps`: how many the belief oracle
        takes to the goal where, of equally good moves, it likes best the first move, the second and so on."""
        inner = self._inner.world()
        fog: dict[str, Json] = {
            "view_radius": self._radius,
            "reveal": self._reveal,
            "explorer_steps": [*self._explorer_steps],
        }
        name = f"{inner.id}-fog{self._radius}-{self._reveal}"
        return replace(inner, id=name, base=inner.cluster, facts={**inner.facts, **fog})

    def step(self, action: str) -> Outcome:
        """Act in the grid; what comes in sight is seen from now on."""
        outcome = self._inner.step(action)
        return replace(outcome, observation=self._arrive(outcome.observation, self._seen))

    def state(self) -> State:
        """The grid's state with what is known of it."""
        inner, belief, names = self._inner.state(), self._belief, self._inner.mdp().actions

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
        """The grid's own model, without fog."""
        return self._inner.mdp()

    def snapshot(self) -> tuple[object, Mask]:
        """The grid's snapshot and what has been seen."""
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
        lasting = "stays shown" if self._reveal == "cumulative" else "is hidden again when it is out of sight"
        return (
            f"There is fog: {UNKNOWN_SYMBOL} is a hidden cell, which may hold anything, the goal included. Cells up to"
            f" {self._radius} rows and columns away are seen unless a wall stands between; what was seen {lasting}. The"
            " outermost cells are all walls."
        )

    def _begin(self, shown: Observation) -> Observation:
        return self._arrive(shown, np.zeros(self._grid().walls.shape, dtype=bool))

    def _arrive(self, shown: Observation, seen_before: Mask) -> Observation:
        """Look around, believe what is seen, and show it."""
        grid = self._grid()
        in_sight = visible(grid.walls, grid.agent, self._radius)
        self._seen = seen_before | in_sight
        self._belief: Belief = believe(grid, self._seen)
        hidden = np.argwhere(~(self._seen if self._reveal == "cumulative" else in_sight))
        text = shown.text
        for place in offsets(grid.rows, [(row, column) for row, column in hidden.tolist()]):
            text = put(text, place, UNKNOWN_SYMBOL)
        return replace(shown, text=text)

    def _grid(self) -> Grid:
        return Grid.from_record(self._inner.world(), self._inner.state())

    def _explore(self, shown: Observation, favourite: int) -> int:
        """Steps of the belief oracle from here to the goal. Leaves the world where it was.

        Ties make its way shorter or longer by luck, so that no one way of breaking them will do as a measure.
        """
        start, steps = self._inner.snapshot(), 0
        self._begin(shown)
        while self._belief.steps:
            move = min(self._belief.optimal, key=lambda move: (move - favourite) % len(MOVES))
            self.step(self._inner.mdp().actions[move])
            steps += 1
        self._inner.restore(start)
        return steps
