"""The grid world as an environment."""

import math
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

import numpy as np

from gde.data.grid import Grid
from gde.data.mdp import TabularMDP
from gde.data.observation import Observation, Outcome, State, Task, World
from gde.errors import GdeError
from gde.seeding import generator
from gde.tabular import steps_to
from gde_plugins.grid.config import GridConfig
from gde_plugins.grid.dynamics import ACTIONS, FreeCells, tabulate
from gde_plugins.grid.generation import generate
from gde_plugins.grid.layout import AGENT_SYMBOL, GOAL_SYMBOL, empty_text, offsets, put

OBJECTIVE = "Move the agent A to the goal G in the least number of steps."
RULES = (
    "The world is a grid: A is the agent, G the goal, # a wall, _ a free cell. The first line holds the column"
    " indices, and every other line begins with its row index. UP, DOWN, LEFT and RIGHT move the agent by one cell;"
    " a move into a wall leaves it where it is and still counts as a step."
)


@dataclass(frozen=True, kw_only=True)
class _Episode:
    """What stays the same from reset to reset, worked out once so that a step only looks things up."""

    grid: Grid
    positions: list[list[int]]
    """[row, column] of every state."""
    moves: dict[str, list[int]]
    """Action to the successor of every state."""
    start: int
    goal: int
    distance: int
    """Length of the shortest way, in steps."""
    scene: str
    """The text without the agent."""
    offsets: list[int]
    """Where each state's cell is in the text."""

    @classmethod
    def of(cls, grid: Grid) -> "_Episode":
        cells = FreeCells.of(grid.walls)
        start, goal = cells.index(grid.agent), cells.index(grid.goal)
        positions = cells.positions.tolist()
        places = offsets(grid.rows, positions)
        return cls(
            grid=grid,
            positions=positions,
            moves={action: cells.successors[:, a].tolist() for a, action in enumerate(ACTIONS)},
            start=start,
            goal=goal,
            distance=int(steps_to(cells.graph, np.array([goal]))[start]),
            scene=put(empty_text(grid.rows), places[goal], GOAL_SYMBOL),
            offsets=places,
        )

    @cached_property
    def model(self) -> TabularMDP:
        return tabulate(self.grid)


class GridEnvironment:
    """Implements `gde.parts.environment.HasModel`. A step earns 1 on reaching the goal and 0 elsewhere."""

    def __init__(self, config: GridConfig) -> None:
        self._config = config
        self._played: _Episode | None = None
        self._state = 0

    def reset(self, seed: int) -> Observation:
        """Begin on the grid of this seed.

        Raises:
            GdeError: no grid has agent and goal as far apart as the configuration wants.
        """
        config = self._config
        # A stream for each setting: otherwise grids of two densities would be one maze with more or fewer walls, and
        # no longer independent worlds.
        settings = (config.size, repr(config.density), str(config.min_distance), str(config.max_distance))
        grid = generate(config.size, config.density, generator(seed, "grid", *settings), distances=config.distances)
        self._played = _Episode.of(grid)
        self._state = self._played.start
        return self._observe()

    def task(self) -> Task:
        # Rounded first: 1.1 x 10 is a little more than 11 in floating point and must not become 12.
        horizon = math.ceil(round(self._config.horizon_factor * self._episode.distance, 9))
        return Task(objective=OBJECTIVE, rules=RULES, horizon=horizon, actions=ACTIONS)

    def world(self) -> World:
        """Facts `rows`, `goal`, `agent` (where it starts), `size`, `density`; `distance` is the optimal length."""
        grid, config = self._episode.grid, self._config
        identity = "\n".join([*grid.rows, str(grid.agent), str(grid.goal)])
        kind = {"size": config.size, "density": config.density}
        return World(
            id=sha256(identity.encode()).hexdigest()[:16],
            facts={"rows": list(grid.rows), "goal": list(grid.goal), "agent": list(grid.agent), **kind},
            labels={**kind, "distance": self._episode.distance},
        )

    def step(self, action: str) -> Outcome:
        """Move the agent by one cell, or leave it where it is at a wall."""
        episode = self._episode
        successors = episode.moves.get(action)
        if successors is None:
            raise ValueError(f"the grid takes the actions {', '.join(ACTIONS)}, got {action!r}")
        if self._state == episode.goal:
            raise ValueError("the episode is over, the agent is at the goal: call reset(seed)")
        self._state = successors[self._state]
        observation = self._observe()
        return Outcome.terminal(observation, 1.0) if self._state == episode.goal else Outcome.running(observation)

    def state(self) -> State:
        """Fact `agent`: [row, column]; the index counts the free cells in reading order."""
        return State(facts={"agent": list(self._episode.positions[self._state])}, index=self._state)

    def model(self) -> TabularMDP:
        """States are the free cells; every step costs 1, see `gde_plugins.grid.dynamics.tabulate`."""
        return self._episode.model

    def snapshot(self) -> int:
        """The agent's state index: all that moves."""
        return self._state

    def restore(self, snapshot: object) -> Observation:
        if not isinstance(snapshot, int) or not 0 <= snapshot < len(self._episode.positions):
            raise ValueError(f"wanted a snapshot of this episode, got {snapshot!r}")
        self._state = snapshot
        return self._observe()

    def close(self) -> None:
        """Nothing is held."""

    @property
    def _episode(self) -> _Episode:
        if self._played is None:
            raise GdeError("the grid environment has no episode yet: call reset(seed) first")
        return self._played

    def _observe(self) -> Observation:
        episode = self._episode
        text = put(episode.scene, episode.offsets[self._state], AGENT_SYMBOL)
        return Observation(text=text, actions=ACTIONS)
