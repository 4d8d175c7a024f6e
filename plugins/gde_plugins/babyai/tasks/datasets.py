"""The datasets of LLM-BabyBench, made anew: rows with the published columns, in the same order whoever makes them.

A file grows row by row and can be gone on with; a world that cannot be asked about is a row with its reason in `error`.
"""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import TextIO

from gde.errors import ConfigError
from gde_plugins.babyai.config import WorldConfig
from gde_plugins.babyai.tasks.environment import description
from gde_plugins.babyai.tasks.kinds import KINDS
from gde_plugins.babyai.tasks.question import Unanswerable, state_text
from gde_plugins.babyai.worlds.levels import PREFIX, Release, environment_id
from gde_plugins.babyai.worlds.making import make_scene

Row = Mapping[str, str | int]
COMMON = ("env_name", "seed", "env_description", "initial_state")
OWN: Mapping[str, tuple[str, ...]] = {
    "predict": ("action_sequence", "target_state"),
    "plan": ("target_subgoal", "expert_action_sequence"),
    "decompose": ("mission", "help_count"),
}
ERROR = "error"
BATCH = 25
"""Rows that a process makes at a time."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Which rows."""

    task: str
    levels: Sequence[str]
    seeds: Sequence[int]
    release: Release = "3.0"


def columns(task: str) -> tuple[str, ...]:
    """Of a task's rows."""
    return (*COMMON, *OWN[task], ERROR)


def make_row(task: str, release: Release, world: tuple[str, int]) -> Row:
    """The row of a level and a seed."""
    level, seed = world
    name = environment_id(level) if not level.startswith("Custom") else f"{level}-v0"
    row: dict[str, str | int] = {**dict.fromkeys(columns(task), ""), "env_name": name, "seed": seed}
    try:
        scene = make_scene(level, seed, release)
        row["env_description"] = description(scene, WorldConfig(level=level))
        row["initial_state"] = state_text(scene, scene.agent, scene.direction)
        return {**row, **KINDS[task](scene).row}
    except Unanswerable as error:
        return row | {ERROR: str(error)}
    except Exception as error:  # whatever goes wrong in one world, the others are made
        return row | {ERROR: f"{PREFIX}{level}, seed {seed}: {type(error).__name__}: {error}"}


def rows(wanted: Wanted, workers: int = 1, skip: int = 0) -> Iterator[Row]:
    """The rows, level by level and seed by seed.

    Args:
        wanted: which.
        workers: processes that make them; the rows are the same.
        skip: how many are left out at the beginning.
    """
    worlds = [*product(wanted.levels, wanted.seeds)][skip:]
    make = partial(make_row, wanted.task, wanted.release)
    if workers == 1:
        yield from map(make, worlds)
        return
    with ProcessPoolExecutor(workers) as pool:
        yield from pool.map(make, worlds, chunksize=BATCH)


def write_dataset(wanted: Wanted, path: Path, workers: int = 1) -> int:
    """Write the rows that a file does not have yet; its name ends in .csv or .jsonl. Gives the number of new rows.

    Raises:
        ConfigError: the file is none of these, cannot be written, or holds rows of something else.
    """
    if path.suffix not in (".csv", ".jsonl"):
        raise ConfigError(f"--out {path}: wanted a name that ends in .csv or .jsonl")
    try:
        there = _kept(wanted, path)
        with path.open("a", encoding="utf-8", newline="") as file:
            return _append(file, rows(wanted, workers, skip=there), wanted.task, path.suffix, begun=there > 0)
    except OSError as error:
        raise ConfigError(f"--out {path}: {error.strerror}") from error


def read_dataset(path: Path) -> list[dict[str, str]]:
    """The rows of a file, every value as text."""
    with path.open(encoding="utf-8", newline="") as file:
        if path.suffix == ".csv":
            return [*csv.DictReader(file)]
        return [{name: str(value) for name, value in json.loads(line).items()} for line in file if line.endswith("\n")]


def _kept(wanted: Wanted, path: Path) -> int:
    """How many rows the file has; a last one that was cut off is taken away."""
    if not path.exists() or not path.stat().st_size:
        return 0
    if path.suffix == ".jsonl":
        whole = path.read_bytes()
        path.write_bytes(whole[: whole.rfind(b"\n") + 1])
    there = read_dataset(path)
    if path.suffix == ".csv" and there and None in there[-1].values():
        there.pop()
        path.unlink()
        with path.open("w", encoding="utf-8", newline="") as file:
            _append(file, iter(there), wanted.task, path.suffix, begun=False)
    expected = [(level, str(seed)) for level, seed in product(wanted.levels, wanted.seeds)]
    found = [(_level(row["env_name"]), row["seed"]) for row in there]
    if found != expected[: len(found)] or (there and [*there[0]] != [*columns(wanted.task)]):
        raise ConfigError(f"--out {path}: it holds rows of other levels, seeds or another task; name another file")
    return len(there)


def _level(name: str) -> str:
    return name.rpartition("-v")[0].removeprefix(PREFIX)


def _append(file: TextIO, found: Iterator[Row] | Iterator[dict[str, str]], task: str, suffix: str, begun: bool) -> int:
    writer = csv.DictWriter(file, columns(task))
    if suffix == ".csv" and not begun:
        writer.writeheader()
    n = 0
    for row in found:
        n += 1
        if suffix == ".csv":
            writer.writerow(row)
        else:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
        file.flush()
    return n
