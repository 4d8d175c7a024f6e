"""Grids from a file: JSON lines, each `{"id": ..., "rows": [...], "agent": [row, column], "goal": [row, column]}`.

Optional are `base`, the id of the grid that this one is a variation of, and labels of any other name. Text, numbers
and truth values are kept as labels, null reads "none", anything else is left out.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from gde.data.cell_map import Position
from gde.data.json import NONE, Labels
from gde.errors import ConfigError
from gde.numerics.tabular import steps_to
from gde_plugins.grid.config import GridConfig
from gde_plugins.grid.generation.selection import read_selection, select
from gde_plugins.grid.grid import FREE_SYMBOL, WALL_SYMBOL, Grid, Origin
from gde_plugins.grid.solver.dynamics import FreeCells

DESCRIPTIONS = {"size", "density", "transform"}
"""Settings of the environment that may also be labels of a line: they describe its grid."""
SHAPES = {
    "id": "as text",
    "rows": "as a list of texts",
    "agent": "as [row, column]",
    "goal": "as [row, column]",
    "base": "as text",
}
"""How the fields of a line are written."""


class Line(BaseModel):
    """What is read of a line; everything else is a label."""

    model_config = ConfigDict(extra="allow", strict=True)
    id: str
    rows: list[str]
    agent: Position
    goal: Position
    base: str | None = None


def listed_origins(config: GridConfig) -> tuple[Origin, ...]:
    """The grids of the configuration's file that are wanted; none without a file.

    Raises:
        GdeError: the file cannot be used, or none of its grids is wanted.
        ConfigError: a grid that is to be transformed is itself a transform of another.
    """
    if config.grids is None:
        return ()
    origins = read_origins(config.grids)
    if config.where is not None:
        origins = select(origins, read_selection(config.where), config.grids)
    transformed = next((origin for origin in origins if origin.labels["transform"] != NONE), None)
    if config.transform != NONE and transformed is not None:
        already = f"{transformed.record!r}, which is {transformed.labels['transform']} of {transformed.base!r}"
        todo = "choose the others with env.where=transform=none"
        raise ConfigError(f"env.transform: wanted grids not yet transformed, got {already}; {todo}")
    return origins


def read_origins(path: str) -> tuple[Origin, ...]:
    """The grids of a file in the order of its lines. A file that has not changed is read once in a process.

    Raises:
        ConfigError: no such file, no grid in it, or a line that is no grid on which the goal can be reached.
    """
    try:
        status = Path(path).stat()
        return _read(path, status.st_mtime_ns, status.st_size)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        seen_from = "" if Path(path).is_absolute() else f" (seen from {Path.cwd()})"
        raise ConfigError(f"env.grids: wanted a file of JSON lines, got {path}{seen_from}: {reason}") from error


@lru_cache(maxsize=8)
def _read(path: str, _modified: int, _size: int) -> tuple[Origin, ...]:
    origins: dict[str, Origin] = {}
    with Path(path).open(encoding="utf-8-sig") as lines:
        for number, line in ((number, line) for number, line in enumerate(lines, start=1) if line.strip()):
            try:
                origin = _origin(line)
                if origin.record in origins:
                    raise ValueError(f"an id of its own, got {origin.record!r} a second time")
            except ValueError as error:
                raise ConfigError(f"env.grids: {path}:{number}: wanted {_wanted(error)}") from error
            origins[origin.record] = origin
    if not origins:
        raise ConfigError(f"env.grids: wanted a grid on every line of {path}, got no lines")
    return tuple(origins.values())


def _wanted(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    problem = error.errors()[0]
    field = "".join(map(str, problem["loc"][:1]))
    got = repr(problem["input"])
    if problem["type"] == "json_invalid":
        return f"JSON, got {problem['ctx']['error'].replace('line 1 column', 'column')}"
    if problem["type"] == "missing":
        return f"{field}, got none"
    return f"{field} {SHAPES[field]}, got {got}" if field else f"a JSON object, got {got}"


def _origin(line: str) -> Origin:
    """The grid of one line. All checks raise ValueError with what was wanted and what came."""
    content = Line.model_validate_json(line)
    _check_rows(content.rows)
    _check_place("agent", content.agent, content.rows)
    _check_place("goal", content.goal, content.rows)
    if content.agent == content.goal:
        raise ValueError(f"agent and goal on different cells, got {list(content.agent)} for both")
    grid = Grid(rows=tuple(content.rows), agent=content.agent, goal=content.goal)
    labels = {"size": max(grid.walls.shape), "transform": NONE, **_labels(content.model_extra or {})}
    if labels.get("distance", distance := _distance(grid)) != distance:
        raise ValueError(f"distance {distance}, the length of the shortest way, got {labels['distance']}")
    return Origin(grid=grid, base=content.base or content.id, labels=labels, record=content.id)


def _check_rows(rows: Sequence[str]) -> None:
    lengths = [len(row) for row in rows]
    if not any(lengths):
        raise ValueError("rows with cells, got none")
    if len(set(lengths)) != 1:
        raise ValueError(f"rows of equal length, got lengths {', '.join(map(str, lengths))}")
    if unknown := sorted(set("".join(rows)) - {WALL_SYMBOL, FREE_SYMBOL}):
        raise ValueError(f"rows of {WALL_SYMBOL} (wall) and {FREE_SYMBOL} (free) only, got {unknown[0]!r}")
    if set("".join([rows[0], rows[-1], *(row[0] + row[-1] for row in rows)])) != {WALL_SYMBOL}:
        raise ValueError("walls all around, got a free cell at the edge")


def _check_place(name: str, place: Position, rows: Sequence[str]) -> None:
    if not (0 <= place[0] < len(rows) and 0 <= place[1] < len(rows[0])):
        raise ValueError(f"{name} inside a grid of {len(rows)} rows and {len(rows[0])} columns, got {list(place)}")
    if rows[place[0]][place[1]] == WALL_SYMBOL:
        raise ValueError(f"{name} on a free cell, got a wall at {list(place)}")


def _distance(grid: Grid) -> int:
    cells = FreeCells.of(grid.walls)
    steps = steps_to(cells.graph, np.array([cells.index(grid.goal)]))[cells.index(grid.agent)]
    if math.isinf(steps):
        raise ValueError(f"a way from agent to goal, got none from {list(grid.agent)} to {list(grid.goal)}")
    return int(steps)


def _labels(extra: Mapping[str, Any]) -> Labels:
    taken = {field.name for field in fields(GridConfig)} - DESCRIPTIONS
    labels: dict[str, str | int | float | bool] = {}
    for name, value in extra.items():
        if name in taken:
            raise ValueError(f"another name for the label {name!r}, which is a setting of the environment")
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{name}: a finite number, got {value}")
        if value is None or isinstance(value, str | int | float | bool):
            labels[name] = NONE if value is None else value
    return labels
