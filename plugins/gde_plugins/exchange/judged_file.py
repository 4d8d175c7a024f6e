"""Trajectories of a file that gde did not make, judged by a reward model."""

import asyncio
import json
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from gde.data.reward import Rewards
from gde.data.transcript import Step, Transcript
from gde.errors import GdeError
from gde.files import replacing
from gde.foreign import ForeignFile
from gde.runs.judging import AskedReward


class _Named(TypedDict, total=False):
    id: str | int
    start: str
    domain: str


class _StepRow(_Named):
    goal: str
    action: str
    observation: str


class _Shown(TypedDict):
    action: str
    observation: str


class _TrajectoryRow(_Named):
    goal: str
    steps: list[_Shown]


Judged = list[dict[str, Any]]
"""A line for each trajectory."""
STEP = TypeAdapter(_StepRow)
TRAJECTORY = TypeAdapter(_TrajectoryRow)


@dataclass(frozen=True)
class Row:
    """A trajectory of a file."""

    id: str
    line: int
    """The first one, from 1."""
    transcript: Transcript


def read_rows(path: Path) -> list[Row]:
    """The trajectories of a JSONL file.

    A line is a trajectory, with `goal` and `steps`, each an `action` and the
    `observation` after it; or one step, with `goal`, `action`, `observation` and the
    `id` of its trajectory, whose lines follow each other. Both may have `start`, the
    observation before the first action, and `domain`.

    Raises:
        ConfigError: it cannot be read, or a line is of another form; the line is named.
    """
    file = ForeignFile("FILE", path)
    rows: list[Row] = []
    for n, value in file.lines():
        row = _row(file, value, n)
        if rows and rows[-1].id == row.id:
            rows[-1] = _joined(rows[-1], row)
        else:
            rows.append(row)
    if not rows:
        raise file.refused("wanted a trajectory or a step a line, got none")
    times = Counter(row.id for row in rows)
    for row in rows:
        if times[row.id] > 1:
            raise file.refused(
                f"id {row.id!r} stands for two trajectories; give each its own",
                row.line,
            )
    return rows


def _row(file: ForeignFile, found: Any, n: int) -> Row:
    whole = isinstance(found, dict) and "steps" in found
    form: TypeAdapter[Any] = TRAJECTORY if whole else STEP
    row = file.valid(form, found, n)
    steps = row["steps"] if whole else [row]
    if not steps:
        raise file.refused("wanted one step or more, got none", n)
    shown = Transcript(
        objective=row["goal"],
        steps=tuple(Step(each["action"], each["observation"]) for each in steps),
        start=row.get("start", ""),
        domain=row.get("domain", ""),
    )
    return Row(str(row.get("id", n)), n, shown)


def _joined(row: Row, next_one: Row) -> Row:
    """Two rows of one trajectory."""
    steps = row.transcript.steps + next_one.transcript.steps
    return replace(row, transcript=replace(row.transcript, steps=steps))


def judge_file(path: Path, model: AskedReward, out: Path, concurrency: int) -> Judged:
    """Judge every trajectory of a file, and write one line of JSON for each.

    A line has `id`, `line`, `reward`, `values`, `failure` and `made_by`. If the work is
    stopped, what was judged by then is written.

    Raises:
        GdeError: the file cannot be read; nothing is asked or written.
        RunFailed: a language model cannot be asked any more.
    """
    rows = read_rows(path)
    found: dict[int, Rewards] = {}
    try:
        asyncio.run(_judge(rows, model, found, concurrency))
    finally:
        judged = [_line(rows[n], model.name, found[n]) for n in sorted(found)]
        with replacing(out) as file:
            lines = [json.dumps(each, ensure_ascii=False) + "\n" for each in judged]
            file.write_text("".join(lines), encoding="utf-8")
    return judged


async def _judge(
    rows: list[Row], model: AskedReward, found: dict[int, Rewards], concurrency: int
) -> None:
    free = asyncio.Semaphore(concurrency)

    async def one(n: int, row: Row) -> None:
        async with free:
            found[n] = await model.rewards(row.transcript)

    try:
        async with asyncio.TaskGroup() as group:
            for n, row in enumerate(rows):
                group.create_task(one(n, row))
    except* GdeError as errors:
        raise errors.exceptions[0] from None


def _line(row: Row, name: str, found: Rewards) -> dict[str, Any]:
    return {
        "id": row.id,
        "line": row.line,
        "reward": name,
        "values": None if found.failure else found.values.tolist(),
        "failure": found.failure,
        "made_by": found.made_by,
    }
