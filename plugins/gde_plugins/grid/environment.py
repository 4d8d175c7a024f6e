"""The grid world as an environment."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from gde.data.json import NONE, Json
from gde.data.mdp import TabularMDP
from gde.data.observation import Observation, State, Task, World
from gde_plugins.grid.config import GridConfig
from gde_plugins.grid.generation.files import listed_origins
from gde_plugins.grid.generation.mazes import random_origin
from gde_plugins.grid.generation.transforms import Transform
from gde_plugins.grid.grid import Grid, Origin, identity
from gde_plugins.grid.rendering.layout import GOAL_SYMBOL, empty_text, offsets, put
from gde_plugins.grid.rendering.vocabulary import Vocabulary
from gde_plugins.grid.solver.dynamics import MOVES, FreeCells, tabulate
from gde_plugins.grid.walking import Walker


@dataclass(frozen=True, kw_only=True)
class _Episode:
    """Everything that is equal in all steps of an episode, computed once so that a step
    is quick.
    """

    origin: Origin
    """The grid before it was transformed."""
    transform: Transform
    grid: Grid
    positions: list[list[int]]
    """[row, column] of every state."""
    moves: dict[str, list[int]]
    """Action to the successor of every state."""
    start: int
    goals: list[bool]
    distance: int
    """Length of the shortest way, in steps."""
    scene: str
    """The text without the agent."""
    offsets: list[int]
    """Index in the text of each state's cell."""

    @classmethod
    def of(cls, origin: Origin, transform: Transform, words: Vocabulary) -> "_Episode":
        grid = transform.apply(origin.grid) if transform.steps else origin.grid
        cells = FreeCells.of(grid.walls)
        start = cells.index(grid.agent)
        goal = cells.index(grid.goal)
        positions = cells.positions.tolist()
        steps = cells.steps_to(goal)

        places = offsets(grid.rows, positions)
        scene = put(empty_text(grid.rows), places[goal], GOAL_SYMBOL)
        moves: dict[str, list[int]] = {}
        for action, successors in zip(words.actions, cells.successors.T, strict=True):
            moves[action] = successors.tolist()
        return cls(
            origin=origin,
            transform=transform,
            grid=grid,
            positions=positions,
            moves=moves,
            start=start,
            goals=[state == goal for state in range(len(positions))],
            distance=int(steps[start]),
            scene=words.redraw(scene),
            offsets=places,
        )

    @cached_property
    def mdp(self) -> TabularMDP:
        return tabulate(self.grid, tuple(self.moves))

    @cached_property
    def facts(self) -> dict[str, Json]:
        """Facts of the world, for the record."""
        origin = self.origin
        base_rows = origin.grid.rows
        to_base = self.transform.to_base((len(base_rows), len(base_rows[0])))
        moves = zip(self.moves, MOVES.values(), strict=True)
        facts: dict[str, Json] = {
            "rows": list(self.grid.rows),
            "goal": list(self.grid.goal),
            "agent": list(self.grid.agent),
            "moves": {action: list(move) for action, move in moves},
            "to_base": [list(row) for row in to_base],
        }

        # A generated grid has no record, and a grid of a file perhaps no density.
        if origin.record:
            facts["record"] = origin.record
        for name in ("size", "density"):
            if name in origin.labels:
                facts[name] = origin.labels[name]
        return facts


class GridEnvironment(Walker[_Episode]):
    """Implements `gde.parts.environment.HasMDP` and `HasWorlds`. States are the free
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
        self._played = _Episode.of(origin, self._transform, self._words)
        self._state = self._played.start
        return self._observe()

    def task(self) -> Task:
        horizon = self._config.turns(self._episode.distance)
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
        episode = self._episode
        config = self._config
        known = episode.origin.labels

        # A file may hold grids that are already transformed.
        transform = known.get("transform", NONE)
        if self._transform.steps:
            transform = config.transform
        labels = {
            **known,
            "transform": transform,
            "actions": config.actions,
            "symbols": config.symbols,
            "distance": episode.distance,
        }
        name = identity(episode.grid, *self._words.unusual)
        return World(
            id=name, facts=episode.facts, labels=labels, base=episode.origin.base
        )

    def state(self) -> State:
        """Return the fact `agent`: [row, column]; the index counts the free cells in
        reading order.
        """
        here = self._episode.positions[self._state]
        return State(facts={"agent": list(here)}, index=self._state)

    def _observe(self) -> Observation:
        episode = self._episode
        text = put(episode.scene, episode.offsets[self._state], self._words.agent)
        return Observation(text=text, actions=self._words.actions)
