"""Grids in which an agent is put into every cell, with the goal where it was and with the goal somewhere else."""

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
from gde.parts.environment import Environment, HasMDP
from gde.request.catalogue import Catalogue
from gde.request.settings import build
from gde_plugins.meg.trajectories.placebo import Place, goal_of, placebo

GRID = "grid"


@dataclass(frozen=True, kw_only=True, eq=False)
class View:
    """What is seen in one state."""

    state: int
    observation: Observation


@dataclass(frozen=True, kw_only=True, eq=False)
class Scene:
    """One grid with one goal."""

    mdp: TabularMDP
    """Beginning where the grid's agent does, whatever the goal."""
    goal: Place
    """(S,)."""
    task: Task
    views: Sequence[View]
    """Of every state that is not the goal."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Swap:
    """A grid with its goal, and the same grid with another, as far from the start."""

    before: Scene
    after: Scene


def swaps(count: int, settings: Mapping[str, Json], folder: Path) -> list[Swap]:
    """The first grids that have a place for another goal.

    Args:
        count: how many.
        settings: of the grids.
        folder: where the file of their variants goes.

    Raises:
        GdeError: no plugin offers grids that can be tabulated, or there are too few.
    """
    made = _made(settings)
    found = list[tuple[list[dict[str, Json]], list[dict[str, Json]]]]()
    for seed in range(20 * count):
        if len(found) == count:
            break
        made.reset(seed)
        world = made.mdp()
        other = placebo(world, np.random.default_rng(seed))
        if other is not None:
            facts = made.world().facts
            found.append((_variants(facts, world, goal_of(world)), _variants(facts, world, other)))
    if len(found) < count:
        raise GdeError(f"wanted {count} grids with a place for another goal, got {len(found)}")
    return _read(found, folder)


def _variants(facts: Mapping[str, Json], world: TabularMDP, goal: Place) -> list[dict[str, Json]]:
    """A line of a file of grids for each cell of the agent, that where it starts first."""
    rows, columns = (world.labels[name].astype(int).tolist() for name in ("row", "column"))
    cells = [*zip(rows, columns, strict=True)]
    start = int(world.start.argmax())
    order = [start, *(state for state in range(len(cells)) if state != start and not goal[state])]
    there = list(cells[int(goal.argmax())])
    return [{"rows": facts["rows"], "agent": list(cells[state]), "goal": there} for state in order]


def _read(pairs: Sequence[tuple[list[dict[str, Json]], list[dict[str, Json]]]], folder: Path) -> list[Swap]:
    lines = [line for pair in pairs for variants in pair for line in variants]
    path = folder / "grids.jsonl"
    path.write_text("".join(json.dumps({"id": str(i), **line}) + "\n" for i, line in enumerate(lines)))
    environment = _made({"grids": str(path)})
    first = 0
    scenes = list[Scene]()
    for variants in (variants for pair in pairs for variants in pair):
        scenes.append(_scene(environment, range(first, first + len(variants))))
        first += len(variants)
    return [Swap(before=before, after=after) for before, after in zip(scenes[::2], scenes[1::2], strict=True)]


def _scene(environment: "TabulatedGrid", seeds: range) -> Scene:
    views = list[View]()
    for seed in reversed(seeds):  # the one that begins where the grid does comes last
        observation = environment.reset(seed)
        index = environment.state().index
        assert index is not None
        views.append(View(state=index, observation=observation))
    mdp = environment.mdp()
    return Scene(mdp=mdp, goal=goal_of(mdp), task=environment.task(), views=views)


class TabulatedGrid(HasMDP, Environment, Protocol):
    """What is wanted of an environment here."""


def _made(settings: Mapping[str, Json]) -> TabulatedGrid:
    offer = Catalogue.default().find("environment", GRID).offer
    environment: TabulatedGrid = offer.make(build(offer.config, settings, GRID), OutsideRun())
    if not isinstance(environment, HasMDP):
        raise GdeError(f"the environment {GRID!r} gives no model of its worlds")
    return environment
