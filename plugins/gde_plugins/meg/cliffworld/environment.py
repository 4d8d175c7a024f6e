"""The cliff world as an environment that agents can be run in."""

from dataclasses import asdict
from functools import cached_property
from itertools import pairwise

import numpy as np

from gde.data.mdp import Floats, TabularMDP
from gde.data.observation import Observation, Outcome, State, Task, World
from gde.errors import GdeError
from gde.seeding import generator
from gde_plugins.meg.config import CliffWorldConfig
from gde_plugins.meg.solvers.dynamics import Indices
from gde_plugins.meg.worlds import CLIFF_MOVES, cliff_world, unrolled

ACTIONS = tuple(CLIFF_MOVES)
AGENT_SYMBOL, GOAL_SYMBOL, CLIFF_SYMBOL, FREE_SYMBOL = "A", "G", "C", "_"
OBJECTIVE = "Earn as much as possible in {horizon} steps."
RULES = (
    "The world is a map: A is the agent, G a goal, C the cliff, _ a free cell. Every step begins by paying for the"
    " cell that the agent stands on: 10 on a goal, -10 on the cliff, -1 on a free cell. Then the agent moves by one"
    " row and one column at once, as the action says; at a border it keeps the row or the column that it cannot leave."
    " With probability {wind} the wind takes it one row further up. Nothing ends the episode but its last step."
)


class CliffWorldEnvironment:
    """Implements `gde.parts.environment.HasMDP`. A step earns the reward of the cell that it is taken in.

    Every seed has the same map; the seed is that of the wind.
    """

    def __init__(self, config: CliffWorldConfig) -> None:
        self._config = config
        self._map = cliff_world(config.width, config.height, config.goal_length, config.wind)
        self._model = unrolled(self._map, config.horizon)
        self._seed: int | None = None
        self._cell = self._time = 0

    def reset(self, seed: int) -> Observation:
        """Begin in the top left corner, with the wind of this seed."""
        self._seed, self._cell, self._time = seed, int(self._map.start.argmax()), 0
        return self._observe()

    def task(self) -> Task:
        horizon = self._config.horizon
        rules = RULES.format(wind=self._config.wind)
        return Task(objective=OBJECTIVE.format(horizon=horizon), rules=rules, horizon=horizon, actions=ACTIONS)

    def world(self) -> World:
        """Facts: the configuration and `map`, the rows of the map without the agent."""
        config = asdict(self._config)
        identity = "-".join(f"{name}={value}" for name, value in config.items())
        facts = {**config, "map": [*self._rows]}
        return World(id=f"cliff-{identity}", facts=facts, labels={"goal_length": self._config.goal_length})

    def step(self, action: str) -> Outcome:
        """Collect the reward of the current cell, then move."""
        if action not in CLIFF_MOVES:
            raise ValueError(f"the cliff world takes the actions {', '.join(ACTIONS)}, got {action!r}")
        if self._time == self._config.horizon:
            raise ValueError(f"the episode is over after {self._time} steps: call reset(seed)")
        reward = float(self._map.reward[self._cell])
        self._cell = self._successor(action)
        self._time += 1
        observation = self._observe()
        over = self._time == self._config.horizon
        make = Outcome.terminal if over else Outcome.running
        return make(observation, reward, success=None)  # reward is collected, no goal is ever reached

    def state(self) -> State:
        """Facts `agent`: [row, column], and `time`: steps taken."""
        row, column = divmod(self._cell, self._config.width)
        index = self._time * self._map.n_states + self._cell
        return State(facts={"agent": [row, column], "time": self._time}, index=index)

    def mdp(self) -> TabularMDP:
        """The map with the time in its state: which action is best depends on the steps that are left."""
        return self._model

    def snapshot(self) -> tuple[int, int]:
        """Cell and time: the wind is a function of the seed and the time."""
        return self._cell, self._time

    def restore(self, snapshot: object) -> Observation:
        match snapshot:
            case (int(cell), int(time)) if 0 <= cell < self._map.n_states and 0 <= time <= self._config.horizon:
                self._cell = cell
                self._time = time
            case _:
                raise ValueError(f"wanted a snapshot of this episode, got {snapshot!r}")
        return self._observe()

    def reseed(self, seed: int) -> None:
        """Another wind from here on."""
        self._seed = seed

    def close(self) -> None:
        """Nothing is held."""

    def _successor(self, action: str) -> int:
        if self._seed is None:
            raise GdeError("the cliff world has no episode yet: call reset(seed) first")
        cells, chances = self._following[action][self._cell]
        return int(generator(self._seed, "wind", self._time).choice(cells, p=chances))

    @cached_property
    def _following(self) -> dict[str, list[tuple[Indices, Floats]]]:
        """By action and cell, where it leads and how likely. To look a row of a matrix up takes longer than a step."""
        return {
            action: [(matrix.indices[a:b], matrix.data[a:b]) for a, b in pairwise(matrix.indptr)]
            for action, matrix in zip(ACTIONS, self._map.transition, strict=True)
        }

    @cached_property
    def _rows(self) -> tuple[str, ...]:
        labels = self._map.labels
        symbols = np.where(labels["goal"] > 0, GOAL_SYMBOL, np.where(labels["cliff"] > 0, CLIFF_SYMBOL, FREE_SYMBOL))
        return tuple("".join(row) for row in symbols.reshape(self._config.height, self._config.width))

    def _observe(self) -> Observation:
        row, column = divmod(self._cell, self._config.width)
        rows = [*self._rows]
        rows[row] = rows[row][:column] + AGENT_SYMBOL + rows[row][column + 1 :]
        standing = (
            f"The agent stands in row {row}, column {column}; {self._config.horizon - self._time} steps are left."
        )
        return Observation(text="\n".join([*rows, standing]), actions=ACTIONS)
