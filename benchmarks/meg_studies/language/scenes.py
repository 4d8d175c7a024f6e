"""Grids in which an agent is put into every cell, with the goal in its place and in
another.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from gde.data.json import Json
from gde.data.mdp import TabularMDP
from gde.data.observation import Observation, Task
from gde.errors import GdeError
from gde.parts.context import OutsideRun
from gde.parts.environment import Environment, HasGoals, HasMDP
from gde.request.catalogue import Catalogue
from gde.request.settings import build
from meg_studies.placebo import Place, goal_of

GRID = "grid"

Line = dict[str, Json]
"""One grid of a file of grids, see the plugin of grids."""


@dataclass(frozen=True, kw_only=True, eq=False)
class View:
    """The observation in one state."""

    state: int
    observation: Observation


@dataclass(frozen=True, kw_only=True, eq=False)
class Scene:
    """One grid with one goal."""

    mdp: TabularMDP
    """The grid as a model; its start does not depend on the goal."""
    goal: Place
    """(S,) where the goal is."""
    task: Task
    views: Sequence[View]
    """One of every state that is not the goal."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Swap:
    """A grid with its goal, and the same grid with another, as far from the start."""

    before: Scene
    after: Scene


def swaps(count: int, settings: Mapping[str, Json], folder: Path) -> list[Swap]:
    """Return the first grids that have a place for another goal.

    Args:
        count: number of grids.
        settings: of the grids.
        folder: where the file of their variants goes.

    Raises:
        GdeError: no plugin offers grids that can be tabulated, or there are too few.
    """
    drawn = _made(settings)
    scenes: list[list[Line]] = []
    for seed in range(20 * count):
        if len(scenes) == 2 * count:
            break
        drawn.reset(seed)
        world = drawn.mdp()
        facts = drawn.world().facts
        goals = drawn.goals()
        others = [name for name in goals.probabilities if name != goals.present]
        if others:
            chosen = int(np.random.default_rng(seed).integers(len(others)))
            drawn.set_goal(others[chosen])
            scenes.append(_variants(facts, world, goal_of(world)))
            scenes.append(_variants(facts, world, goal_of(drawn.mdp())))
    found = len(scenes) // 2
    if found < count:
        raise GdeError(
            f"wanted {count} grids with a place for another goal, got {found}"
        )

    # One file holds the variants of all scenes, since an environment reads only one.
    path = folder / "grids.jsonl"
    with path.open("w") as file:
        number = 0
        for lines in scenes:
            for line in lines:
                named = {"id": str(number), **line}
                file.write(json.dumps(named) + "\n")
                number += 1

    environment = _made({"grids": str(path)})
    read: list[Scene] = []
    first = 0
    for lines in scenes:
        seeds = range(first, first + len(lines))
        read.append(_scene(environment, seeds))
        first = seeds.stop

    # Scenes before and after a swap alternate.
    found_swaps = []
    for before, after in zip(read[::2], read[1::2], strict=True):
        found_swaps.append(Swap(before=before, after=after))
    return found_swaps


def _variants(facts: Mapping[str, Json], world: TabularMDP, goal: Place) -> list[Line]:
    """Return a grid for each cell of the agent but the goal, that where it starts
    first.
    """
    rows = world.labels["row"].astype(int).tolist()
    columns = world.labels["column"].astype(int).tolist()
    start = int(world.start.argmax())
    at_goal = int(goal.argmax())
    states = [start]
    for state in range(world.n_states):
        if state != start and not goal[state]:
            states.append(state)

    lines: list[Line] = []
    for state in states:
        line: Line = {
            "rows": facts["rows"],
            "agent": [rows[state], columns[state]],
            "goal": [rows[at_goal], columns[at_goal]],
        }
        lines.append(line)
    return lines


def _scene(environment: "TabulatedGrid", seeds: range) -> Scene:
    """Look at each variant of a scene; the seed is the number of its line in the
    file.
    """
    views: list[View] = []
    # The variant that begins where the grid does comes last, so that model and task are
    # those of this start.
    for seed in reversed(seeds):
        observation = environment.reset(seed)
        index = environment.state().index
        assert index is not None
        views.append(View(state=index, observation=observation))
    mdp = environment.mdp()
    return Scene(
        mdp=mdp,
        goal=goal_of(mdp),
        task=environment.task(),
        views=views,
    )


class TabulatedGrid(HasMDP, HasGoals, Environment, Protocol):
    """The environment that the scenes need."""


def _made(settings: Mapping[str, Json]) -> TabulatedGrid:
    offer = Catalogue.default().find("environment", GRID).offer
    config = build(offer.config, settings, GRID)
    environment: TabulatedGrid = offer.made(config, OutsideRun())
    if not isinstance(environment, HasMDP) or not isinstance(environment, HasGoals):
        raise GdeError(
            f"the environment {GRID!r} gives no model of its worlds, or no other goals"
        )
    return environment
