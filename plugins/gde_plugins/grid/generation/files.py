"""Grids from a file: JSON lines, each `{"id": ..., "rows": [...], "agent": [row,
column], "goal": [row, column]}`, a JSON list of these, plain-text mazes, or lines of the
tokens of `maze-dataset`.

Optional are `base`, the id of the grid that this one is a variation of, and labels of
any other name. Text, numbers and truth values are kept as labels, null reads "none",
anything else is left out.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter

from gde.data.cell_map import Position
from gde.data.json import NONE, Labels
from gde.errors import ConfigError, UnknownName
from gde.foreign import ForeignFile
from gde_plugins.grid.config import GridConfig, read_selection
from gde_plugins.grid.grid import Grid, Origin
from gde_plugins.grid.solver.dynamics import steps_to

DESCRIPTIONS = {"size", "density", "transform"}
"""Settings of the environment that may also be labels of a line: they describe its
grid.
"""


class Line(BaseModel):
    """What is read of a line; everything else is a label."""

    model_config = ConfigDict(extra="allow", strict=True)
    id: str
    rows: list[str]
    agent: Position
    goal: Position
    base: str | None = None


LINE = TypeAdapter(Line)
SETTING = "env.grids"
FREE = str.maketrans("._ SG", "_____")
"""The free cells of a plain-text maze, in our symbol."""
MAZE_DATASET = str.maketrans("EX", "G.")
"""The end and the path of mazes that `maze-dataset` writes."""
TOKENS = "<ADJLIST_START>"
"""How a line of its tokens begins."""
CELL = re.compile(r"\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)")


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
            transform = origin.labels["transform"]
            if transform != NONE:
                raise ConfigError(
                    f"env.transform: wanted grids not yet transformed, got {origin.record!r}, which is {transform} of"
                    f" {origin.base!r}; choose the others with env.where=transform=none"
                )
    return origins


def read_origins(path: Path) -> tuple[Origin, ...]:
    """Return the grids of a file in the order of its lines. A process reads an
    unchanged file once.

    Raises:
        ConfigError: no such file, no grid in it, or a line that is no grid on which the
            goal can be reached.
    """
    file = ForeignFile(SETTING, path)
    try:
        status = path.stat()
    except OSError:
        # The reader says what is wrong.
        file.text()
        raise
    return _read(file, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=8)
def _read(file: ForeignFile, _modified: int, _size: int) -> tuple[Origin, ...]:
    origins: dict[str, Origin] = {}
    for at, record in _records(file, file.text()):
        line = file.valid(LINE, record, at)
        try:
            origin = _origin(line)
            if origin.record in origins:
                raise ValueError(f"wanted a unique id, got {origin.record!r} again")
        except ValueError as error:
            raise file.refused(str(error), at) from error
        origins[origin.record] = origin
    if not origins:
        raise file.refused("wanted a grid, got an empty file")
    return _with_joined_bases([*origins.values()])


def _records(file: ForeignFile, text: str) -> Iterator[tuple[int, object]]:
    """Yield each grid of a file with the number of its line, or of its place in a list.

    They are JSON lines, one value of JSON, lines of tokens, or plain-text mazes divided
    by empty lines.
    """
    lines = text.split("\n")
    first = text.strip().partition("\n")[0].rstrip()
    if first.startswith(TOKENS):
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield number, _lattice(file, line, number)
    elif not first.startswith(("{", "[")):
        yield from _mazes(file, lines)
    elif first.startswith("[") or first == "{":
        whole = file.json(text)
        yield from enumerate(whole if isinstance(whole, list) else [whole], start=1)
    else:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield number, file.json(line, number)


def _mazes(file: ForeignFile, lines: Sequence[str]) -> Iterator[tuple[int, object]]:
    """Yield plain-text mazes of # (wall), . or blank (free), S (start) and G or E
    (goal), named by the lines that they begin in.
    """
    numbered = enumerate(lines, start=1)
    for is_drawn, group in groupby(numbered, lambda line: bool(line[1].strip())):
        (begun, *_), drawn = zip(*group, strict=True)
        if not is_drawn:
            continue
        width = max(map(len, drawn))
        rows = [line.ljust(width).translate(MAZE_DATASET) for line in drawn]
        cells = "".join(rows)
        for symbol in "SG":
            if cells.count(symbol) != 1:
                got = f"got {cells.count(symbol)}"
                raise file.refused(f"wanted one {symbol} in the maze, {got}", begun)
        yield (
            begun,
            {
                "id": f"line {begun}",
                "rows": [row.translate(FREE) for row in rows],
                "agent": divmod(cells.index("S"), width),
                "goal": divmod(cells.index("G"), width),
            },
        )


def _lattice(file: ForeignFile, line: str, number: int) -> Mapping[str, object]:
    """Give a maze in the tokens of `maze-dataset`, drawn as that package draws it: walls
    between cells are cells.
    """
    parts = {}
    for name, end in (("ADJLIST", 2), ("ORIGIN", 1), ("TARGET", 1)):
        found = re.search(f"<{name}_START>(.*?)<{name}_END>", line)
        cells = CELL.findall(found[1]) if found else []
        if not cells or len(cells) % end or (end == 1 and len(cells) > 1):
            raise file.refused(
                f"wanted <{name}_START> ... <{name}_END> of cells (0,0)", number
            )
        parts[name] = [(2 * int(row) + 1, 2 * int(column) + 1) for row, column in cells]

    (agent,), (goal,), joined = parts["ORIGIN"], parts["TARGET"], parts["ADJLIST"]
    free = {agent, goal, *joined}
    for a, b in zip(joined[::2], joined[1::2], strict=True):
        if sorted((abs(a[0] - b[0]), abs(a[1] - b[1]))) != [0, 2]:
            raise file.refused("wanted <--> between neighbouring cells", number)
        free.add(((a[0] + b[0]) // 2, (a[1] + b[1]) // 2))
    size = max(map(max, free)) + 2
    rows = [
        "".join("_" if (row, column) in free else "#" for column in range(size))
        for row in range(size)
    ]
    return {"id": f"line {number}", "rows": rows, "agent": agent, "goal": goal}


def _with_joined_bases(origins: Sequence[Origin]) -> tuple[Origin, ...]:
    """Return the grids, where base grids that are equal are one base.

    A grid that the file holds twice is one world, and so are the transforms of both.
    """
    first_with: dict[Grid, str] = {}
    joined: dict[str, str] = {}
    for origin in origins:
        if origin.base == origin.record:
            joined[origin.base] = first_with.setdefault(origin.grid, origin.base)
    return tuple(
        replace(origin, base=joined.get(origin.base, origin.base)) for origin in origins
    )


def _origin(content: Line) -> Origin:
    """Return the grid of one line.

    Raises:
        ValueError: the expected and the given value.
    """
    if content.agent == content.goal:
        raise ValueError(
            f"wanted agent and goal on different cells, got {list(content.agent)} for both"
        )
    grid = Grid(rows=tuple(content.rows), agent=content.agent, goal=content.goal)
    labels: dict[str, str | int | float | bool] = {
        "size": max(grid.walls.shape),
        "transform": NONE,
    }
    labels.update(_labels(content.model_extra or {}))

    # A stated distance must agree with the grid, since analyses stratify by this label.
    distance = steps_to(grid.walls, [grid.goal])[grid.agent]
    if math.isinf(distance):
        raise ValueError("wanted a path from agent to goal, got none")
    stated = labels.get("distance", distance)
    if stated != distance:
        raise ValueError(
            f"wanted distance {distance:g}, the length of the shortest path, got {stated}"
        )
    return Origin(
        grid=grid, base=content.base or content.id, labels=labels, record=content.id
    )


def _labels(extra: Mapping[str, Any]) -> Labels:
    taken = {field.name for field in fields(GridConfig)} - DESCRIPTIONS
    labels: dict[str, str | int | float | bool] = {}
    for name, value in extra.items():
        if name in taken:
            raise ValueError(
                f"wanted another name for the label {name!r}, which is a setting of the environment"
            )
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{name}: wanted a finite number, got {value}")
        if value is None:
            labels[name] = NONE
        elif isinstance(value, str | int | float | bool):
            labels[name] = value
    return labels


def select(origins: Sequence[Origin], wanted: Labels, path: Path) -> tuple[Origin, ...]:
    """Return the grids that have all these labels; `path` is their file.

    Raises:
        UnknownName: a label that no grid has.
        ConfigError: no grid has all of them.
    """
    known: set[str] = set()
    for origin in origins:
        known.update(origin.labels)
    for name in wanted:
        if name not in known:
            raise UnknownName(f"label of env.where in {path}", name, known)
    chosen = tuple(
        origin for origin in origins if wanted.items() <= origin.labels.items()
    )
    if not chosen:
        text = " ".join(f"{name}={value}" for name, value in wanted.items())
        raise ConfigError(
            f"env.where: no grid of {path} has the labels {text}: choose others"
        )
    return chosen
