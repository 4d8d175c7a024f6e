"""The cliff world as an environment that agents can be run in."""

from dataclasses import asdict
from functools import cached_property

import numpy as np

from gde.data.json import Json
from gde.data.mdp import TabularMDP
from gde.data.observation import Observation, Outcome, State, Task, World
from gde.errors import GdeError
from gde.seeding import generator
from gde_plugins.meg.config import CliffWorldConfig
from gde_plugins.meg.worlds import CLIFF_MOVES, cliff_world, unrolled

ACTIONS = tuple(CLIFF_MOVES)
AGENT_SYMBOL = "A"
GOAL_SYMBOL = "G"
CLIFF_SYMBOL = "C"
FREE_SYMBOL = "_"
OBJECTIVE = "Earn as much as possible in {horizon} steps."
RULES = (
    "The world is a map: A is the agent, G a goal, C the cliff, _ a free cell. Every step begins by paying for the"
    " cell that the agent stands on: 10 on a goal, -10 on the cliff, -1 on a free cell. Then the agent moves by one"
    " row and one column at once, as the action says; at a border it keeps the row or the column that it cannot leave."
    " With probability {wind} the wind takes it one row further up. Nothing ends the episode but its last step."
)


class CliffWorldEnvironment:
    """The cliff world. Implements `gde.parts.environment.HasMDP`.

    A step earns the reward of the cell that it is taken in. Every seed has the same
    map; the seed is that of the wind.
    """

    def __init__(self, config: CliffWorldConfig) -> None:
        self._config = config
        self._map = cliff_world(
            config.width, config.height, config.goal_length, config.wind
        )
        self._model = unrolled(self._map, config.horizon)
        self._seed: int | None = None
        self._cell = 0
        self._time = 0

    def reset(self, seed: int) -> Observation:
        """Begin in the top left corner, with the wind of this seed."""
        self._seed = seed
        self._cell = int(self._map.start.argmax())
        self._time = 0
        return self._observe()

    def task(self) -> Task:
        horizon = self._config.horizon
        return Task(
            objective=OBJECTIVE.format(horizon=horizon),
            rules=RULES.format(wind=self._config.wind),
            horizon=horizon,
            actions=ACTIONS,
        )

    def world(self) -> World:
        """Describe the world by facts: the configuration and `map`, the rows of the map
        without the agent.
        """
        config = asdict(self._config)
        # The seed is not part of the world: it decides only the wind of an episode.
        identity = "-".join(f"{name}={value}" for name, value in config.items())
        return World(
            id=f"cliff-{identity}",
            facts={**config, "map": [*self._rows]},
            labels={"goal_length": self._config.goal_length},
        )

    def step(self, action: str) -> Outcome:
        """Collect the reward of the current cell, then move."""
        if action not in CLIFF_MOVES:
            raise ValueError(
                f"the cliff world takes the actions {', '.join(ACTIONS)}, got {action!r}"
            )
        if self._time == self._config.horizon:
            raise ValueError(
                f"the episode is over after {self._time} steps: call reset(seed)"
            )
        reward = float(self._map.reward[self._cell])
        if self._seed is None:
            raise GdeError("the cliff world has no episode yet: call reset(seed) first")
        matrix = self._map.transition[ACTIONS.index(action)]
        following = matrix[[self._cell]]
        # A generator for each time, so that a restored snapshot meets the same wind
        # again.
        rng = generator(self._seed, "wind", self._time)
        self._cell = int(rng.choice(following.indices, p=following.data))
        self._time += 1
        observation = self._observe()

        # The goal pays for every step in it and is never reached for good, so there is
        # no success.
        if self._time == self._config.horizon:
            return Outcome.terminal(observation, reward, success=None)
        return Outcome.running(observation, reward, success=None)

    def state(self) -> State:
        """Describe the state by the facts `agent`: [row, column], and `time`: steps
        taken.
        """
        row, column = divmod(self._cell, self._config.width)
        facts: dict[str, Json] = {"agent": [row, column], "time": self._time}
        index = self._time * self._map.n_states + self._cell
        return State(facts=facts, index=index)

    def mdp(self) -> TabularMDP:
        """Return the map with the time in its state, as the best action depends on the
        steps that are left.
        """
        return self._model

    def snapshot(self) -> tuple[int, int]:
        """Return cell and time, which are all: the wind is a function of the seed and
        the time.
        """
        return self._cell, self._time

    def restore(self, snapshot: object) -> Observation:
        match snapshot:
            case (int(cell), int(time)):
                in_map = 0 <= cell < self._map.n_states
                in_time = 0 <= time <= self._config.horizon
                if in_map and in_time:
                    self._cell = cell
                    self._time = time
                    return self._observe()
        raise ValueError(f"wanted a snapshot of this episode, got {snapshot!r}")

    def reseed(self, seed: int) -> None:
        """Continue with the wind of another seed."""
        self._seed = seed

    def close(self) -> None:
        """Do nothing: the environment holds no resources."""

    @cached_property
    def _rows(self) -> tuple[str, ...]:
        """The rows of the map without the agent."""
        labels = self._map.labels
        symbols = np.full(self._map.n_states, FREE_SYMBOL)
        symbols[labels["cliff"] > 0] = CLIFF_SYMBOL
        symbols[labels["goal"] > 0] = GOAL_SYMBOL
        rows = symbols.reshape(self._config.height, self._config.width)
        return tuple("".join(row) for row in rows)

    def _observe(self) -> Observation:
        """Show the map with the agent in it, which hides the symbol of its cell."""
        row, column = divmod(self._cell, self._config.width)
        lines = [*self._rows]
        cells = [*lines[row]]
        cells[column] = AGENT_SYMBOL
        lines[row] = "".join(cells)

        left = self._config.horizon - self._time
        lines.append(
            f"The agent stands in row {row}, column {column}; {left} steps are left."
        )
        return Observation(text="\n".join(lines), actions=ACTIONS)
