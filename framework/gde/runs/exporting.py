"""A run in forms that other tools read."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from itertools import chain
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
    """List every finished episode: key, world, number of turns, ending and labels."""
    with closing(RunFolder.open(Path(run)).journal(write=False)) as journal:
        return list(journal.summaries())


def one_episode(run: Path | str, key: str) -> Trajectory:
    """Return the finished episode with the key "condition/world/repeat".

    Raises:
        GdeError: there is none.
    """
    with closing(RunFolder.open(Path(run)).journal(write=False)) as journal:
        if key not in journal.finished():
            raise GdeError(
                f"unknown episode {key!r}: wanted CONDITION/WORLD/REPEAT, as `gde view {run}` lists them"
            )
        return journal.trajectory(key)


def export(run: Path | str, form: Format, file: TextIO) -> int:
    """Write a run to an open text file, and return the number of lines or rows written.

    "jsonl": one trajectory a line, everything included. "csv": one measurement a row.
    "messages": one turn a line as {"episode", "turn", "prompt", "reasoning", "answer",
    "status", "action"}. "chat": one episode a line as {"episode", "success",
    "messages": [{"role", "content"}, ...]}. Observations are the
        user's messages, answers or else actions the assistant's; failed episodes are
        left out.
    """
    writers: Mapping[Format, Callable[[Path, TextIO], int]] = {
        "jsonl": _jsonl,
        "csv": _csv,
        "messages": _messages,
        "chat": _chat,
    }
    return writers[form](Path(run), file)


def _jsonl(run: Path, file: TextIO) -> int:
    trajectories = load_evidence(run).trajectories
    return _lines(map(trajectory_json, trajectories), file)


def _messages(run: Path, file: TextIO) -> int:
    trajectories = load_evidence(run).trajectories
    return _lines(chain.from_iterable(map(_turns, trajectories)), file)


def _turns(trajectory: Trajectory) -> Iterator[dict[str, Any]]:
    for turn in trajectory.turns:
        decision = turn.decision
        completion = decision.completion
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
    trajectories = load_evidence(run).trajectories
    played = [
        trajectory for trajectory in trajectories if trajectory.ending != "failed"
    ]
    return _lines(map(_conversation, played), file)


def _conversation(trajectory: Trajectory) -> dict[str, Any]:
    messages: list[dict[str, str]] = []
    for turn in trajectory.turns:
        decision = turn.decision
        # An agent without a language model says nothing, so its action stands for its
        # answer.
        if decision.completion:
            answer = decision.completion.text
        else:
            answer = decision.action or ""
        messages.append({"role": "user", "content": turn.observation.text})
        messages.append({"role": "assistant", "content": answer})
    return {
        "episode": str(trajectory.key),
        "success": trajectory.success,
        "messages": messages,
    }


def _lines(objects: Iterable[dict[str, Any]], file: TextIO) -> int:
    n = 0
    for each in objects:
        line = json.dumps(each, sort_keys=True, ensure_ascii=False)
        file.write(line + "\n")
        n += 1
    return n


def _csv(run: Path, file: TextIO) -> int:
    measurements = RunFolder.open(run).read_result().measurements
    writer = csv.writer(file)
    columns = (
        "name",
        "where",
        "value",
        "low",
        "high",
        "unit",
        "n",
        "clusters",
        "reason",
    )
    writer.writerow(columns)
    for each in measurements:
        low, high = each.interval or (None, None)
        place = json.dumps(dict(each.where), sort_keys=True)
        number = (each.value, low, high, each.unit, each.n, each.clusters)
        writer.writerow((each.name, place, *number, each.reason))
    return len(measurements)
