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
    """What stays the same from reset to reset, worked out once so that a step only looks things up."""

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
    """Where each state's cell is in the text."""

    @classmethod
    def of(cls, origin: Origin, transform: Transform, words: Vocabulary) -> "_Episode":
        grid = transform.apply(origin.grid) if transform.steps else origin.grid
        cells = FreeCells.of(grid.walls)
        start = cells.index(grid.agent)
        goal = cells.index(grid.goal)
        positions = cells.positions.tolist()
        places = offsets(grid.rows, positions)
        return cls(
            origin=origin,
            transform=transform,
            grid=grid,
            positions=positions,
            moves={action: cells.successors[:, a].tolist() for a, action in enumerate(words.actions)},
            start=start,
            goals=[state == goal for state in range(len(positions))],
            distance=int(cells.steps_to(goal)[start]),
            scene=words.redraw(put(empty_text(grid.rows), places[goal], GOAL_SYMBOL)),
            offsets=places,
        )

    @cached_property
    def mdp(self) -> TabularMDP:
        return tabulate(self.grid, tuple(self.moves))

    @cached_property
    def facts(self) -> dict[str, Json]:
        """What stays the same, for the record."""
        origin = self.origin
        base = self.origin.grid.rows
        return {
            "rows": list(self.grid.rows),
            "goal": list(self.grid.goal),
            "agent": list(self.grid.agent),
            "moves": {action: list(move) for action, move in zip(self.moves, MOVES.values(), strict=True)},
            "to_base": [list(row) for row in self.transform.to_base((len(base), len(base[0])))],
            **({"record": origin.record} if origin.record else {}),
            **{name: origin.labels[name] for name in ("size", "density") if name in origin.labels},
        }


class GridEnvironment(Walker[_Episode]):
    """Implements `gde.parts.environment.HasMDP` and `HasWorlds`. States are the free cells in reading order."""

    def __init__(self, config: GridConfig, origins: Sequence[Origin] | None = None) -> None:
        """Prepare to make the grids that the configuration describes, or to take them from its file.

        With `origins`, these are played on instead.

        Raises:
            ConfigError: the file of grids cannot be used.
        """
        super().__init__()
        self._config = config
        self._transform = Transform.named(config.transform)
        self._words = Vocabulary.read(config.actions, config.symbols)
        self._listed = listed_origins(config) if origins is None else origins

    def worlds(self) -> Sequence[str]:
        """The grids of the file in the order of its lines; none where every seed is another grid."""
        return [f"{each.record} {identity(each.grid, each.base, str(each.labels))}" for each in self._listed]

    def reset(self, seed: int) -> Observation:
        """Begin on the random grid of this seed, or on grid number `seed` (modulo their number) of the file.

        Raises:
            GdeError: no grid has agent and goal as far apart as the configuration wants.
        """
        listed = self._listed
        origin = listed[seed % len(listed)] if listed else random_origin(self._config, seed)
        self._played = _Episode.of(origin, self._transform, self._words)
        self._state = self._played.start
        return self._observe()

    def task(self) -> Task:
        horizon = self._config.turns(self._episode.distance)
        words = self._words
        return Task(objective=words.objective, rules=words.rules, horizon=horizon, actions=words.actions)

    def world(self) -> World:
        """The grid that is played on, as it is after its transform.

        Facts are `rows`, `goal`, `agent` (where it starts), `moves` (action to rows and columns moved), `to_base`
        (see `Transform.to_base`), `record` (id in the file) and what is known of the grid (`size`, `density`).
        Labels are those of the file, `transform`, `actions` and `symbols`, "none" where nothing is varied, and
        `distance`, the optimal length.
        """
        episode = self._episode
        config = self._config
        known = episode.origin.labels
        return World(
            id=identity(episode.grid, *self._words.unusual),
            facts=episode.facts,
            labels={
                **known,
                "transform": config.transform if self._transform.steps else known.get("transform", NONE),
                "actions": config.actions,
                "symbols": config.symbols,
                "distance": episode.distance,
            },
            base=episode.origin.base,
        )

    def state(self) -> State:
        """Fact `agent`: [row, column]; the index counts the free cells in reading order."""
        return State(facts={"agent": list(self._episode.positions[self._state])}, index=self._state)

    def _observe(self) -> Observation:
        episode = self._episode
        text = put(episode.scene, episode.offsets[self._state], self._words.agent)
        return Observation(text=text, actions=self._words.actions)
