"""New datasets with the columns of LLM-BabyBench.

A file grows row by row, and an interrupted one is completed. If a question has no
solution in a world, its row holds the reason in `error`.
"""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain, product
from pathlib import Path

from gde.errors import ConfigError, MissingExtra
from gde.files import new_folder
from gde_plugins.babyai.config import Format, WorldConfig
from gde_plugins.babyai.tasks.asked import KINDS, description
from gde_plugins.babyai.tasks.question import Unanswerable, state_text
from gde_plugins.babyai.worlds.generation import make_scene
from gde_plugins.babyai.worlds.levels import (
    PLAN_WORLDS,
    PREFIX,
    Release,
    environment_id,
)

Row = Mapping[str, str | int]
COMMON = ("env_name", "seed", "env_description", "initial_state")
OWN: Mapping[str, tuple[str, ...]] = {
    "predict": ("action_sequence", "target_state"),
    "plan": ("target_subgoal", "expert_action_sequence"),
    "decompose": ("mission", "help_count"),
}
"""The columns of one task only."""
ERROR = "error"
BATCH = 25
"""Number of rows that a process makes at a time."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The rows of a dataset: every level with every seed."""

    task: str
    levels: Sequence[str]
    seeds: Sequence[int]
    release: Release = "3.0"
    format: Format = "structured"


def columns(task: str) -> tuple[str, ...]:
    """Return the columns of a task."""
    return (*COMMON, *OWN[task], ERROR)


def make_row(task: str, release: Release, form: Format, world: tuple[str, int]) -> Row:
    """Make the row of a level and a seed."""
    level, seed = world
    row: dict[str, str | int] = dict.fromkeys(columns(task), "")
    row.update(env_name=_environment(level), seed=seed)
    try:
        scene = make_scene(level, seed, release)
        row["env_description"] = description(
            scene, WorldConfig(level=level, format=form)
        )
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
    make = partial(make_row, wanted.task, wanted.release, wanted.format)
    if workers == 1:
        yield from map(make, worlds)
    else:
        with ProcessPoolExecutor(workers) as pool:
            yield from pool.map(make, worlds, chunksize=BATCH)


def write_dataset(wanted: Wanted, path: Path, workers: int = 1) -> int:
    """Write the rows that a .csv or .jsonl file lacks, and return their number.

    A .parquet file is written as a whole, and so is a folder, a name without an ending,
    which `datasets.load_from_disk` reads.

    Raises:
        ConfigError: the file has another ending, cannot be written, or holds other
            rows.
        MissingExtra: the package that writes it, pyarrow or datasets, is not installed.
    """
    whole = {".parquet": _write_parquet, "": _write_folder}
    if path.suffix not in {".csv", ".jsonl", *whole}:
        raise ConfigError(
            f"--out {path}: wanted a name that ends in .csv, .jsonl or .parquet, or in nothing for a folder"
        )
    try:
        if path.suffix in whole:
            return whole[path.suffix](wanted, path, workers)
        held = read_dataset(path) if path.exists() else []
        _check(wanted, held, path)
        n_rows = 0
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, columns(wanted.task))
            if path.suffix == ".csv":
                writer.writeheader()
            for row in chain(held, rows(wanted, workers, skip=len(held))):
                if path.suffix == ".csv":
                    writer.writerow(row)
                else:
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")
                n_rows += 1
                # Whoever interrupts the work finds every finished row.
                if n_rows >= len(held):
                    file.flush()
    except OSError as error:
        raise ConfigError(f"--out {path}: {error.strerror}") from error
    return n_rows - len(held)


def _write_parquet(wanted: Wanted, path: Path, workers: int) -> int:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("--out *.parquet", ["pyarrow"], "parquet") from None
    made = _typed(wanted, workers)
    parquet.write_table(pyarrow.Table.from_pylist(made), path)
    return len(made)


def _write_folder(wanted: Wanted, path: Path, workers: int) -> int:
    try:
        import datasets
    except ImportError:
        raise MissingExtra("--out FOLDER", ["datasets"], "datasets") from None
    datasets.disable_progress_bars()
    with new_folder(path) as folder:
        made = _typed(wanted, workers)
        datasets.Dataset.from_list(made).save_to_disk(str(folder))
    return len(made)


def _typed(wanted: Wanted, workers: int) -> list[dict[str, str | int | None]]:
    """The rows, in which the number of an unanswerable question is missing."""
    made: list[dict[str, str | int | None]] = []
    for row in rows(wanted, workers):
        typed: dict[str, str | int | None] = dict(row)
        if "help_count" in typed:
            typed["help_count"] = typed["help_count"] or None
        made.append(typed)
    return made


def read_dataset(path: Path) -> list[Row]:
    """Read the rows of a file, without an incomplete last one."""
    with path.open(encoding="utf-8", newline="") as file:
        if path.suffix == ".csv":
            return [row for row in csv.DictReader(file) if None not in row.values()]
        return [json.loads(line) for line in file if line.endswith("\n")]


def _check(wanted: Wanted, held: Sequence[Row], path: Path) -> None:
    """Raise an error unless a file holds the first rows of a dataset."""
    expected = []
    for level, seed in product(wanted.levels, wanted.seeds):
        expected.append((_environment(level), str(seed)))
    found = [(row.get("env_name"), str(row.get("seed"))) for row in held]
    other_columns = bool(held) and tuple(held[0]) != columns(wanted.task)
    if found != expected[: len(found)] or other_columns:
        raise ConfigError(
            f"--out {path}: it holds rows of other levels, seeds or another task; name another file"
        )


def _environment(level: str) -> str:
    return f"{level}-v0" if level in PLAN_WORLDS else environment_id(level)
