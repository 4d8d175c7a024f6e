"""The grid world as an environment."""

from collections.abc import Sequence
from dataclasses import replace

from gde.data.goals import Goals
from gde.data.json import NONE, Json
from gde.data.observation import Observation, State, Task, World
from gde.errors import GdeError
from gde_plugins.grid.config import GridConfig
from gde_plugins.grid.generation.files import listed_origins
from gde_plugins.grid.generation.mazes import random_origin
from gde_plugins.grid.generation.redrawn import alike_goals, cell_name, named_cell
from gde_plugins.grid.generation.transforms import Transform
from gde_plugins.grid.grid import Grid, Origin, identity
from gde_plugins.grid.rendering.layout import GOAL_SYMBOL, empty_text, offsets, put
from gde_plugins.grid.rendering.vocabulary import Vocabulary
from gde_plugins.grid.solver.dynamics import MOVES, tabulate
from gde_plugins.grid.walking import Walk, Walker


class GridEnvironment(Walker):
    """Implements `HasMDP`, `HasGoals` and `HasWorlds` of `gde.parts.environment`. States are the free
    cells in reading order.
    """

    def __init__(
        self, config: GridConfig, origins: Sequence[Origin] | None = None
    ) -> None:
        """Prepare to make the configured grids, or to take them from the configured
        file, or from `origins`.

        Raises:
            ConfigError: the file of grids cannot be used.
        """
        super().__init__()
        self._config = config
        self._transform = Transform.named(config.transform)
        self._words = Vocabulary.read(config.actions, config.symbols)
        self._symbol = self._words.agent
        self._listed = listed_origins(config) if origins is None else origins

    def worlds(self) -> Sequence[str]:
        """Return the grids of the file in the order of its lines; none if every seed is
        another grid.
        """
        worlds = []
        for each in self._listed:
            # The digest tells a file from its earlier version, with which a resumed run
            # would not agree.
            digest = identity(each.grid, each.base, str(each.labels))
            worlds.append(f"{each.record} {digest}")
        return worlds

    def reset(self, seed: int) -> Observation:
        """Begin on the random grid of this seed, or on grid number `seed` (modulo their
        number) of the file.

        Raises:
            GdeError: no grid has agent and goal as far apart as the configuration
                wants.
        """
        if self._listed:
            origin = self._listed[seed % len(self._listed)]
        else:
            origin = random_origin(self._config, seed)
        self._origin = origin
        return self._begin_on(self._transform.apply(origin.grid))

    def goals(self) -> Goals:
        """Return the cells that are as far from the start as the goal, as "ROW,COLUMN".

        Raises:
            GdeError: the grid comes from a file.
        """
        if self._listed:
            raise GdeError(
                "grids of a file have no generator to draw another goal: use random grids"
            )
        wanted = self._config.distances
        weights = alike_goals(self._grid, wanted, self._transform.swaps)
        return Goals.weighted(weights, cell_name(self._grid.goal))

    def set_goal(self, goal: str) -> Observation:
        """Begin the same grid again with the goal in another of these cells."""
        wanted = self.goals().probabilities
        if goal not in wanted:
            raise ValueError(
                f"wanted one of the goals {', '.join(wanted)}, got {goal!r}"
            )
        return self._begin_on(replace(self._grid, goal=named_cell(goal)))

    def _begin_on(self, grid: Grid) -> Observation:
        self._grid = grid
        (at_goal,) = offsets(grid.rows, [grid.goal])
        scene = self._words.redraw(put(empty_text(grid.rows), at_goal, GOAL_SYMBOL))
        mdp = tabulate(grid, self._words.actions)
        return self._begin(Walk.of(mdp, grid.rows, [scene] * len(mdp.start)))

    def task(self) -> Task:
        horizon = self._config.turns(self._walk.distance)
        words = self._words
        return Task(
            objective=words.objective,
            rules=words.rules,
            horizon=horizon,
            actions=words.actions,
        )

    def world(self) -> World:
        """Return the grid after its transform.

        Facts are `rows`, `goal`, `agent` (its start), `moves` (action to rows and
        columns moved), `to_base` (see `Transform.to_base`), `record` (id in the file),
        and `size` and `density` if they are known. Labels are those of the file,
        `transform`, `actions` and `symbols`, "none" if nothing is varied, and
        `distance`, the optimal length.
        """
        distance = self._walk.distance
        origin = self._origin
        grid = self._grid
        config = self._config

        # A file may hold grids that are already transformed.
        transform = origin.labels.get("transform", NONE)
        if self._transform.steps:
            transform = config.transform
        labels = {
            **origin.labels,
            "transform": transform,
            "actions": config.actions,
            "symbols": config.symbols,
            "distance": distance,
        }

        moves = zip(self._words.actions, MOVES.values(), strict=True)
        facts: dict[str, Json] = {
            "rows": list(grid.rows),
            "goal": list(grid.goal),
            "agent": list(grid.agent),
            "moves": {action: list(move) for action, move in moves},
            "to_base": self._transform.to_base(origin.grid),
        }
        # A generated grid has no record, and a grid of a file perhaps no density.
        if origin.record:
            facts["record"] = origin.record
        for name in ("size", "density"):
            if name in origin.labels:
                facts[name] = origin.labels[name]
        name = identity(grid, *self._words.unusual)
        return World(id=name, facts=facts, labels=labels, base=origin.base)

    def state(self) -> State:
        """Return the fact `agent`: [row, column]; the index counts the free cells in
        reading order.
        """
        here = self._walk.positions[self._state]
        return State(facts={"agent": list(here)}, index=self._state)
