"""A grid world with one perturbation in each episode: setbacks, moved goals and
distractors (Arghal et al. 2026, appendices A.2 and A.3).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gde.data.cell_map import THINGS, Position
from gde.data.goals import Goals
from gde.data.json import Json
from gde.data.mdp import TabularMDP
from gde.data.observation import Observation, Outcome, State, Task, World
from gde.errors import GdeError
from gde.seeding import generator
from gde_plugins.grid.config import GridConfig
from gde_plugins.grid.environment import GridEnvironment
from gde_plugins.grid.grid import Grid, Origin, identity, with_wall
from gde_plugins.grid.rendering.layout import offsets, put
from gde_plugins.grid.solver.dynamics import around, as_position, steps_to

Kind = Literal["put_back", "close_path", "move_goal", "distractor"]


class NotPossible(Exception):
    """The perturbation cannot happen to this grid; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Perturbed:
    """A grid after its perturbation."""

    grid: Grid
    distractor: Position | None = None
    """Cell of an irrelevant object."""


def perturb(
    kind: Kind, grid: Grid, start: Position, rng: np.random.Generator
) -> Perturbed:
    """Perturb a grid; the goal can be reached afterwards, in one step or more.

    `put_back` sets the agent back to `start`. `close_path` makes a wall of a cell on
    one of the agent's shortest ways to the goal: one that makes the way longer, where
    there is such a cell. `move_goal` moves the goal to another reachable cell,
    `distractor` puts an irrelevant object on one. Of several cells all are equally
    likely.

    Args:
        kind: the perturbation.
        grid: the present grid; the goal can be reached.
        start: first cell of the agent.
        rng: the only source of chance.

    Raises:
        NotPossible: there is no such cell, or the agent is still at `start`.
    """
    if kind == "put_back":
        if grid.agent == start:
            raise NotPossible("the agent is at its start")
        return Perturbed(grid=replace(grid, agent=start))
    if kind == "close_path":
        return Perturbed(grid=_with_closed_path(grid, rng))

    # A random reachable cell other than those of agent and goal.
    is_option = np.isfinite(steps_to(grid.walls, [grid.agent]))
    is_option[grid.agent] = False
    is_option[grid.goal] = False
    options = np.argwhere(is_option)
    if not len(options):
        raise NotPossible("no other cell can be reached")
    elsewhere = as_position(rng.choice(options))
    if kind == "move_goal":
        return Perturbed(grid=replace(grid, goal=elsewhere))
    return Perturbed(grid=grid, distractor=elsewhere)


def distance(grid: Grid) -> float:
    """Return the length of the shortest way from agent to goal; inf if there is
    none.
    """
    steps = steps_to(grid.walls, [grid.goal])
    return float(steps[grid.agent])


def on_shortest_ways(grid: Grid) -> list[tuple[Position, int]]:
    """Return the cells on all shortest ways from agent to goal, both ends included,
    with their steps from the agent.
    """
    from_agent = steps_to(grid.walls, [grid.agent])
    to_goal = steps_to(grid.walls, [grid.goal])
    # A cell lies on a shortest way if the detour over it costs nothing.
    is_between = from_agent + to_goal == from_agent[grid.goal]
    cells = [as_position(cell) for cell in np.argwhere(is_between)]
    return [(cell, int(from_agent[cell])) for cell in cells]


def moves_towards(grid: Grid, cell: Position) -> tuple[int, ...]:
    """Return the moves, as indices into `dynamics.MOVES`, that bring the agent nearer
    to a reachable cell.
    """
    steps = steps_to(grid.walls, [cell])
    is_nearer = steps[around(grid.agent)] < steps[grid.agent]
    return tuple(np.flatnonzero(is_nearer).tolist())


def _with_closed_path(grid: Grid, rng: np.random.Generator) -> Grid:
    before = distance(grid)
    longer: list[Grid] = []
    still_open: list[Grid] = []
    for cell, _ in on_shortest_ways(grid):
        if cell in {grid.agent, grid.goal}:
            continue
        closed = replace(grid, rows=with_wall(grid.rows, cell))
        length = distance(closed)
        if np.isfinite(length):
            still_open.append(closed)
            if length > before:
                longer.append(closed)

    # If no cell makes the way longer, close one of several equally short ways.
    options = longer or still_open
    if not options:
        raise NotPossible("every cell between agent and goal is needed to reach it")
    return options[int(rng.choice(len(options)))]


DISTRACTOR_SYMBOL = "C"


@dataclass(frozen=True, kw_only=True, eq=False)
class _Phase:
    """One part of the episode: before the perturbation, or after it."""

    grid: GridEnvironment
    """The present grid."""
    change: Perturbed | None = None
    """The perturbation; None before it."""
    obstacle: str = ""
    """Reason why the perturbation could not happen."""


class PerturbedGrid:
    """Implements `gde.parts.environment.HasMDP`: a grid world with one perturbation
    after so many actions.

    An unusable answer is no action and does not count. The perturbation is a function
    of the grid and of the agent's place in it, so equal grids are perturbed alike, and
    a resumed run sees the same. From then on `mdp()` is the model of the changed grid,
    and the state's facts `rows` and `goal` override those of the world. The fact
    `perturbed` says whether it has happened. If it was not possible, `not_perturbed`
    says why, and the episode goes on unchanged. A distractor adds the facts
    `distractor`, its cell, and `toward_distractor`, the moves that lead there.
    """

    def __init__(self, config: GridConfig, kind: Kind, turn: int) -> None:
        """Perturb the grids of `config`.

        Args:
            config: of the grids.
            kind: see `perturb`.
            turn: number of actions before it happens; at 0 it happens before the first
                observation.
        """
        self._config = config
        self._kind: Kind = kind
        self._turn = turn
        self._unperturbed = GridEnvironment(config)
        self._phase = _Phase(grid=self._unperturbed)
        self._taken = 0

    def worlds(self) -> Sequence[str]:
        """Return the worlds of the grid without perturbation."""
        return self._unperturbed.worlds()

    def reset(self, seed: int) -> Observation:
        """Begin in the world that the grid world has for this seed."""
        shown = self._unperturbed.reset(seed)
        self._begun = Grid.from_record(
            self._unperturbed.world(), self._unperturbed.state()
        )
        self._phase = _Phase(grid=self._unperturbed)
        self._taken = 0
        return self._go_on(shown)

    def task(self) -> Task:
        """Return the grid's task with enough turns for an agent that moves optimally
        until the perturbation.

        These are the turns until then and the usual multiple of the remaining steps.
        There are never fewer turns than without the perturbation.
        """
        inner = self._unperturbed.task()
        granted = [inner.horizon]
        for steps in self._remaining():
            granted.append(self._turn + self._config.turns(steps))
        rules = inner.rules
        if self._kind == "distractor":
            rules += f" {DISTRACTOR_SYMBOL} is a coin."
        return replace(inner, rules=rules, horizon=max(granted))

    def world(self) -> World:
        """Return the world at its beginning.

        Facts are also `perturbation`, which is a label as well, and
        `perturbation_turn`. A distractor is one of the `things` of the map.
        """
        inner = self._unperturbed.world()
        facts: dict[str, Json] = {
            "perturbation": self._kind,
            "perturbation_turn": self._turn,
        }
        if self._kind == "distractor":
            facts["things"] = {**THINGS, "distractor": {"letter": DISTRACTOR_SYMBOL}}
        return replace(
            inner,
            id=f"{inner.id}-{self._kind}{self._turn}",
            base=inner.cluster,
            facts={**inner.facts, **facts},
            labels={**inner.labels, "perturbation": self._kind},
        )

    def step(self, action: str) -> Outcome:
        """Act in the grid, and let the perturbation happen when it is due."""
        outcome = self._phase.grid.step(action)
        self._taken += 1
        if outcome.terminated:
            return outcome
        return replace(outcome, observation=self._go_on(outcome.observation))

    def state(self) -> State:
        """Return the state of the present grid."""
        inner = self._phase.grid.state()
        change = self._phase.change
        facts: dict[str, Json] = {**inner.facts, "perturbed": change is not None}
        if self._phase.obstacle:
            facts["not_perturbed"] = self._phase.obstacle
        if change is not None:
            facts |= {"rows": [*change.grid.rows], "goal": [*change.grid.goal]}
        if change is not None and change.distractor is not None:
            names = self.mdp().actions
            toward = [
                names[move] for move in moves_towards(self._now(), change.distractor)
            ]
            facts |= {
                "distractor": [*change.distractor],
                "toward_distractor": [*toward],
            }
        return replace(inner, facts=facts)

    def mdp(self) -> TabularMDP:
        """Return the model of the present grid; it is another object after the
        perturbation.
        """
        return self._phase.grid.mdp()

    def goals(self) -> Goals:
        """Raise the reason why the goal cannot be drawn alone.

        Raises:
            GdeError: always.
        """
        raise GdeError(
            "the perturbation depends on the goal, so the goal cannot be drawn again alone: use perturbation=none"
        )

    def set_goal(self, goal: str) -> Observation:
        raise ValueError(f"wanted one of no goals, see goals(), got {goal!r}")

    def snapshot(self) -> tuple[int, _Phase, object]:
        """Return the number of actions, the phase, and the grid's own snapshot."""
        return self._taken, self._phase, self._phase.grid.snapshot()

    def restore(self, snapshot: object) -> Observation:
        match snapshot:
            case (int(taken), _Phase() as phase, inner):
                self._taken = taken
                self._phase = phase
                return self._show(phase.grid.restore(inner))
        raise ValueError(f"wanted a snapshot of this episode, got {snapshot!r}")

    def reseed(self, seed: int) -> None:
        """Nothing is random."""

    def close(self) -> None:
        self._unperturbed.close()

    def _go_on(self, shown: Observation) -> Observation:
        if self._taken == self._turn:
            try:
                change = self._perturb(self._now())
            except NotPossible as reason:
                self._phase = replace(self._phase, obstacle=str(reason))
            else:
                self._phase = _Phase(grid=self._playing_on(change.grid), change=change)
                shown = self._phase.grid.reset(0)
        return self._show(shown)

    def _perturb(self, grid: Grid) -> Perturbed:
        # By the grid rather than the seed, so equal grids are perturbed alike.
        rng = generator(0, "perturbation", self._kind, identity(grid))
        return perturb(self._kind, grid, self._begun.agent, rng)

    def _playing_on(self, grid: Grid) -> GridEnvironment:
        # The grid has been transformed already.
        plain = replace(self._config, grids=None, where=None, transform="none")
        return GridEnvironment(plain, [Origin(grid=grid, base="", labels={})])

    def _remaining(self) -> Iterator[float]:
        """Yield the remaining steps after the perturbation, for every cell in which
        optimal moves may meet it.
        """
        for cell, steps in on_shortest_ways(self._begun):
            if steps != self._turn or cell == self._begun.goal:
                continue
            try:
                change = self._perturb(replace(self._begun, agent=cell))
            except NotPossible:
                continue
            yield distance(change.grid)

    def _now(self) -> Grid:
        return Grid.from_record(self._phase.grid.world(), self._phase.grid.state())

    def _show(self, shown: Observation) -> Observation:
        change = self._phase.change
        if (
            change is None
            or change.distractor is None
            or self._now().agent == change.distractor
        ):
            return shown
        (place,) = offsets(change.grid.rows, [change.distractor])
        return replace(shown, text=put(shown.text, place, DISTRACTOR_SYMBOL))
