"""A run in forms that other tools read."""

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Literal, TextIO, get_args

from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.runs.plain import trajectory_json as trajectory_json
from gde.stages.evidence import load_evidence
from gde.store.folder import RunFolder

Format = Literal["jsonl", "csv", "messages", "chat"]
FORMATS: tuple[Format, ...] = get_args(Format)


def summaries(run: Path | str) -> list[dict[str, Any]]:
    """Every finished episode in a few words: its key, world, number of turns and ending, and its labels."""
    with closing(RunFolder.open(Path(run)).journal(write=False)) as journal:
        return list(journal.summaries())


def one_episode(run: Path | str, key: str) -> Trajectory:
    """The finished episode with the key "condition/world/repeat".

    Raises:
        GdeError: there is none.
    """
    with closing(RunFolder.open(Path(run)).journal(write=False)) as journal:
        if key not in journal.finished():
            raise GdeError(f"unknown episode {key!r}: wanted CONDITION/WORLD/REPEAT, as `gde view {run}` lists them")
        return journal.trajectory(key)


def export(run: Path | str, form: Format, file: TextIO) -> int:
    """Write a run to an open text file. Gives the number of lines or rows written.

    "jsonl": one trajectory a line, everything included. "csv": one measurement a row.
    "messages": one turn a line as {"episode", "turn", "prompt", "reasoning", "answer", "status", "action"}.
    "chat": one episode a line as {"episode", "success", "messages": [{"role", "content"}, ...]}, what was shown as the
    user's and what was said, or done, as the assistant's; failed episodes are left out.
    """
    writers: Mapping[Format, Callable[[Path, TextIO], int]] = {
        "jsonl": _jsonl,
        "csv": _csv,
        "messages": _messages,
        "chat": _chat,
    }
    return writers[form](Path(run), file)


def _jsonl(run: Path, file: TextIO) -> int:
    return _lines((trajectory_json(trajectory) for trajectory in load_evidence(run).trajectories), file)


def _messages(run: Path, file: TextIO) -> int:
    return _lines((line for trajectory in load_evidence(run).trajectories for line in _turns(trajectory)), file)


def _turns(trajectory: Trajectory) -> Iterator[dict[str, Any]]:
    for turn in trajectory.turns:
        decision = turn.decision
        completion = turn.decision.completion
        yield {
            "episode": str(trajectory.key),
            "turn": turn.index,
            "prompt": turn.observation.text,
            "reasoning": completion.reasoning if completion else None,
            "answer": completion.text if completion else None,
            "status": decision.status,
            "action": decision.action,
        }


def _chat(run: Path, file: TextIO) -> int:
    played = (trajectory for trajectory in load_evidence(run).trajectories if trajectory.ending != "failed")
    return _lines((_conversation(trajectory) for trajectory in played), file)


def _conversation(trajectory: Trajectory) -> dict[str, Any]:
    messages: list[dict[str, str]] = []
    for turn in trajectory.turns:
        said = turn.decision.completion
        answer = said.text if said else turn.decision.action or ""
        messages += [{"role": "user", "content": turn.observation.text}, {"role": "assistant", "content": answer}]
    return {"episode": str(trajectory.key), "success": trajectory.success, "messages": messages}


def _lines(objects: Iterator[dict[str, Any]], file: TextIO) -> int:
    n = 0
    for each in objects:
        file.write(json.dumps(each, sort_keys=True, ensure_ascii=False) + "\n")
        n += 1
    return n


def _csv(run: Path, file: TextIO) -> int:
    measurements = RunFolder.open(run).read_result().measurements
    writer = csv.writer(file)
    writer.writerow(["name", "where", "value", "low", "high", "unit", "n", "reason"])
    for each in measurements:
        low, high = each.interval or (None, None)
        place = json.dumps(dict(each.where), sort_keys=True)
        writer.writerow([each.name, place, each.value, low, high, each.unit, each.n, each.reason])
    return len(measurements)
