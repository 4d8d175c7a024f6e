"""New datasets with the columns of LLM-BabyBench; the rows and their order depend on
nothing else than the request.

A file grows row by row, and an interrupted one is completed. If a question has no
solution in a world, its row holds the reason in `error`.
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
from gde_plugins.babyai.tasks.environment import KINDS, description
from gde_plugins.babyai.tasks.question import Unanswerable, state_text
from gde_plugins.babyai.worlds.generation import make_scene
from gde_plugins.babyai.worlds.levels import PREFIX, Release, environment_id

Row = Mapping[str, str | int]
COMMON = ("env_name", "seed", "env_description", "initial_state")
OWN: Mapping[str, tuple[str, ...]] = {
    "predict": ("action_sequence", "target_state"),
    "plan": ("target_subgoal", "expert_action_sequence"),
    "decompose": ("mission", "help_count"),
}
"""The columns of one task alone."""
ERROR = "error"
BATCH = 25
"""Rows that a process makes at a time."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The rows of a dataset: every level with every seed."""

    task: str
    levels: Sequence[str]
    seeds: Sequence[int]
    release: Release = "3.0"


def columns(task: str) -> tuple[str, ...]:
    """Return the columns of a task."""
    return (*COMMON, *OWN[task], ERROR)


def make_row(task: str, release: Release, world: tuple[str, int]) -> Row:
    """Make the row of a level and a seed."""
    level, seed = world
    name = f"{level}-v0" if level.startswith("Custom") else environment_id(level)
    row: dict[str, str | int] = {
        **dict.fromkeys(columns(task), ""),
        "env_name": name,
        "seed": seed,
    }
    try:
        scene = make_scene(level, seed, release)
        row["env_description"] = description(scene, WorldConfig(level=level))
        row["initial_state"] = state_text(scene, scene.agent, scene.direction)
        return {**row, **KINDS[task](scene).row}
    except Unanswerable as error:
        row[ERROR] = str(error)
    # A bug that one world brings out must not cost the other rows.
    except Exception as error:
        row[ERROR] = f"{PREFIX}{level}, seed {seed}: {type(error).__name__}: {error}"
    return row


def rows(wanted: Wanted, workers: int = 1, skip: int = 0) -> Iterator[Row]:
    """Yield the rows, level by level and seed by seed.

    Args:
        wanted: the rows of the dataset.
        workers: number of processes; the rows do not depend on it.
        skip: number of rows to leave out at the beginning.
    """
    worlds = [*product(wanted.levels, wanted.seeds)][skip:]
    make = partial(make_row, wanted.task, wanted.release)
    if workers == 1:
        yield from map(make, worlds)
    else:
        with ProcessPoolExecutor(workers) as pool:
            yield from pool.map(make, worlds, chunksize=BATCH)


def write_dataset(wanted: Wanted, path: Path, workers: int = 1) -> int:
    """Write the rows that a .csv or .jsonl file does not hold yet, and return their
    number.

    Raises:
        ConfigError: the file has another ending, cannot be written, or holds other
        rows.
    """
    if path.suffix not in (".csv", ".jsonl"):
        raise ConfigError(f"--out {path}: wanted a name that ends in .csv or .jsonl")
    try:
        n_kept = _keep(wanted, path)
        with path.open("a", encoding="utf-8", newline="") as file:
            return _append(
                file,
                rows(wanted, workers, skip=n_kept),
                wanted.task,
                path.suffix,
                header=n_kept == 0,
            )
    except OSError as error:
        raise ConfigError(f"--out {path}: {error.strerror}") from error


def read_dataset(path: Path) -> list[dict[str, str]]:
    """Read the rows of a file, every value as text."""
    with path.open(encoding="utf-8", newline="") as file:
        if path.suffix == ".csv":
            return [*csv.DictReader(file)]
        found = []
        for line in file:
            if line.endswith("\n"):
                row = json.loads(line)
                found.append({name: str(value) for name, value in row.items()})
        return found


def _keep(wanted: Wanted, path: Path) -> int:
    """Check the rows that a file holds, remove a last one that was cut off, and return
    their number.
    """
    if not path.exists() or not path.stat().st_size:
        return 0
    if path.suffix == ".jsonl":
        whole = path.read_bytes()
        path.write_bytes(whole[: whole.rfind(b"\n") + 1])

    held = read_dataset(path)
    was_cut_off = path.suffix == ".csv" and held and None in held[-1].values()
    if was_cut_off:
        held.pop()
        path.unlink()
        with path.open("w", encoding="utf-8", newline="") as file:
            _append(file, iter(held), wanted.task, path.suffix, header=True)

    expected = [
        (level, str(seed)) for level, seed in product(wanted.levels, wanted.seeds)
    ]
    found = [(_level(row["env_name"]), row["seed"]) for row in held]
    other_rows = found != expected[: len(found)]
    other_columns = bool(held) and tuple(held[0]) != columns(wanted.task)
    if other_rows or other_columns:
        raise ConfigError(
            f"--out {path}: it holds rows of other levels, seeds or another task; name another file"
        )
    return len(held)


def _level(environment_name: str) -> str:
    return environment_name.rpartition("-v")[0].removeprefix(PREFIX)


def _append(
    file: TextIO,
    found: Iterator[Row] | Iterator[dict[str, str]],
    task: str,
    suffix: str,
    header: bool,
) -> int:
    writer = csv.DictWriter(file, columns(task))
    if suffix == ".csv" and header:
        writer.writeheader()
    n_rows = 0
    for row in found:
        if suffix == ".csv":
            writer.writerow(row)
        else:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
        # Whoever interrupts the work finds every finished row.
        file.flush()
        n_rows += 1
    return n_rows
