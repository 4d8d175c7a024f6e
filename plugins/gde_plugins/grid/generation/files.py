"""Grids from a file: JSON lines, each `{"id": ..., "rows": [...], "agent": [row,
column], "goal": [row, column]}`.

Optional are `base`, the id of the grid that this one is a variation of, and labels of
any other name. Text, numbers and truth values are kept as labels, null reads "none",
anything else is left out.
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
"""Settings of the environment that may also be labels of a line: they describe its
grid.
"""
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
    """Return the selected grids of the configured file; none without a file.

    Raises:
        GdeError: the file cannot be used, or none of its grids is selected.
        ConfigError: a grid to transform is already a transform of another.
    """
    if config.grids is None:
        return ()
    origins = read_origins(config.grids)
    if config.where is not None:
        selection = read_selection(config.where)
        origins = select(origins, selection, config.grids)
    if config.transform != NONE:
        # A transform of a transform would be paired with the wrong base grid.
        for origin in origins:
            _check_untransformed(origin)
    return origins


def _check_untransformed(origin: Origin) -> None:
    transform = origin.labels["transform"]
    if transform != NONE:
        already = f"{origin.record!r}, which is {transform} of {origin.base!r}"
        todo = "choose the others with env.where=transform=none"
        raise ConfigError(
            f"env.transform: wanted grids not yet transformed, got {already}; {todo}"
        )


def read_origins(path: str) -> tuple[Origin, ...]:
    """Return the grids of a file in the order of its lines. A process reads an
    unchanged file once.

    Raises:
        ConfigError: no such file, no grid in it, or a line that is no grid on which the
        goal can be reached.
    """
    file = Path(path)
    try:
        status = file.stat()
        return _read(path, status.st_mtime_ns, status.st_size)
    except (OSError, UnicodeDecodeError) as error:
        reason = str(error)
        if isinstance(error, OSError):
            reason = str(error.strerror)
        seen_from = ""
        if not file.is_absolute():
            seen_from = f" (seen from {Path.cwd()})"
        raise ConfigError(
            f"env.grids: wanted a file of JSON lines, got {path}{seen_from}: {reason}"
        ) from error


@lru_cache(maxsize=8)
def _read(path: str, _modified: int, _size: int) -> tuple[Origin, ...]:
    origins: dict[str, Origin] = {}
    with Path(path).open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                origin = _origin(line)
                if origin.record in origins:
                    raise ValueError(
                        f"an id of its own, got {origin.record!r} a second time"
                    )
            except ValueError as error:
                raise ConfigError(
                    f"env.grids: {path}:{number}: wanted {_wanted(error)}"
                ) from error
            origins[origin.record] = origin
    if not origins:
        raise ConfigError(
            f"env.grids: wanted a grid on every line of {path}, got no lines"
        )
    return tuple(origins.values())


def _wanted(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    problem = error.errors()[0]
    kind = problem["type"]
    place = problem["loc"]
    got = problem["input"]
    if kind == "json_invalid":
        # Pydantic sees one line at a time, so its line number is always 1.
        reason = problem["ctx"]["error"]
        return f"JSON, got {reason.replace('line 1 column', 'column')}"
    if not place:
        return f"a JSON object, got {got!r}"
    field = str(place[0])
    if kind == "missing":
        return f"{field}, got none"
    return f"{field} {SHAPES[field]}, got {got!r}"


def _origin(line: str) -> Origin:
    """Return the grid of one line. All checks raise ValueError with the expected and
    the given value.
    """
    content = Line.model_validate_json(line)
    _check_rows(content.rows)
    _check_place("agent", content.agent, content.rows)
    _check_place("goal", content.goal, content.rows)
    if content.agent == content.goal:
        raise ValueError(
            f"agent and goal on different cells, got {list(content.agent)} for both"
        )
    grid = Grid(rows=tuple(content.rows), agent=content.agent, goal=content.goal)
    labels: dict[str, str | int | float | bool] = {
        "size": max(grid.walls.shape),
        "transform": NONE,
    }
    labels.update(_labels(content.model_extra or {}))

    # A stated distance must agree with the grid, since analyses stratify by this label.
    distance = _distance(grid)
    stated = labels.get("distance", distance)
    if stated != distance:
        raise ValueError(
            f"distance {distance}, the length of the shortest way, got {stated}"
        )
    return Origin(
        grid=grid, base=content.base or content.id, labels=labels, record=content.id
    )


def _check_rows(rows: Sequence[str]) -> None:
    lengths = [len(row) for row in rows]
    if not any(lengths):
        raise ValueError("rows with cells, got none")
    if len(set(lengths)) != 1:
        listed = ", ".join(str(length) for length in lengths)
        raise ValueError(f"rows of equal length, got lengths {listed}")

    symbols = set("".join(rows))
    unknown = sorted(symbols - {WALL_SYMBOL, FREE_SYMBOL})
    if unknown:
        raise ValueError(
            f"rows of {WALL_SYMBOL} (wall) and {FREE_SYMBOL} (free) only, got {unknown[0]!r}"
        )

    border = {*rows[0], *rows[-1]}
    for row in rows:
        border |= {row[0], row[-1]}
    if border != {WALL_SYMBOL}:
        raise ValueError("walls all around, got a free cell at the edge")


def _check_place(name: str, place: Position, rows: Sequence[str]) -> None:
    row, column = place
    height = len(rows)
    width = len(rows[0])
    if not 0 <= row < height or not 0 <= column < width:
        raise ValueError(
            f"{name} inside a grid of {height} rows and {width} columns, got {list(place)}"
        )
    if rows[row][column] == WALL_SYMBOL:
        raise ValueError(f"{name} on a free cell, got a wall at {list(place)}")


def _distance(grid: Grid) -> int:
    cells = FreeCells.of(grid.walls)
    goal = cells.index(grid.goal)
    agent = cells.index(grid.agent)
    steps = steps_to(cells.graph, np.array([goal]))[agent]
    if math.isinf(steps):
        raise ValueError(
            f"a way from agent to goal, got none from {list(grid.agent)} to {list(grid.goal)}"
        )
    return int(steps)


def _labels(extra: Mapping[str, Any]) -> Labels:
    taken = {field.name for field in fields(GridConfig)} - DESCRIPTIONS
    labels: dict[str, str | int | float | bool] = {}
    for name, value in extra.items():
        if name in taken:
            raise ValueError(
                f"another name for the label {name!r}, which is a setting of the environment"
            )
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{name}: a finite number, got {value}")
        if value is None:
            labels[name] = NONE
        elif isinstance(value, str | int | float | bool):
            labels[name] = value
    return labels
