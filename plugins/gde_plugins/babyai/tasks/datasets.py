"""New datasets with the columns of LLM-BabyBench.

If a question has no solution in a world, its row holds the reason in `error`.
"""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

from gde.errors import ConfigError
from gde.files import replacing
from gde_plugins.babyai.config import Format, WorldConfig
from gde_plugins.babyai.tasks.asked import KINDS, description
from gde_plugins.babyai.tasks.question import Unanswerable, state_text
from gde_plugins.babyai.worlds.generation import make_scene
from gde_plugins.babyai.worlds.levels import (
    PLAN_WORLDS,
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
    return row


def write_dataset(wanted: Wanted, path: Path) -> int:
    """Write the rows, level by level and seed by seed, and return their number.

    Args:
        wanted: the rows of the dataset.
        path: a new file, .csv or .jsonl.

    Raises:
        ConfigError: the file has another ending, or exists.
        RunFailed: it cannot be written.
    """
    if path.suffix not in {".csv", ".jsonl"}:
        raise ConfigError(f"--out {path}: wanted a name that ends in .csv or .jsonl")
    if path.exists():
        raise ConfigError(f"--out {path} exists: name another file")
    worlds = product(wanted.levels, wanted.seeds)
    make = partial(make_row, wanted.task, wanted.release, wanted.format)
    rows = [make(world) for world in worlds]
    with (
        replacing(path) as whole,
        whole.open("w", encoding="utf-8", newline="") as file,
    ):
        if path.suffix == ".csv":
            writer = csv.DictWriter(file, columns(wanted.task))
            writer.writeheader()
            writer.writerows(rows)
        else:
            file.writelines(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    return len(rows)


def _environment(level: str) -> str:
    return f"{level}-v0" if level in PLAN_WORLDS else environment_id(level)
