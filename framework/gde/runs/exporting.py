"""A run in forms that other tools read."""

import csv
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from sqlite3 import Row
from typing import Any, Literal, TextIO, get_args

from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.runs.conversations import conversations, plain, plain_answer, sent
from gde.runs.plain import trajectory_json as trajectory_json
from gde.stages.evidence import load_evidence
from gde.store.folder import RunFolder
from gde.store.rows import read_completion

Format = Literal["jsonl", "csv", "messages", "chat", "calls"]
FORMULA = ("=", "+", "-", "@")
"""How formulas of spreadsheets begin."""
FORMATS: tuple[Format, ...] = get_args(Format)


def summaries(run: Path | str) -> list[dict[str, Any]]:
    """List every finished episode: key, world, number of turns, ending and labels."""
    with closing(RunFolder.open(Path(run)).journal()) as journal:
        return [
            {
                "episode": one.episode,
                "world": one.world,
                "turns": one.turns,
                "ending": one.ending,
                **one.labels,
            }
            for one in journal.summaries()
        ]


def one_episode(run: Path | str, key: str) -> Trajectory:
    """Return the finished episode with the key "condition/world/repeat".

    Raises:
        GdeError: there is none.
    """
    with closing(RunFolder.open(Path(run)).journal()) as journal:
        if key not in journal.finished():
            raise GdeError(
                f"unknown episode {key!r}: wanted CONDITION/WORLD/REPEAT, as `gde view {run}` lists them"
            )
        return journal.trajectory(key)


def export(run: Path | str, form: Format, file: TextIO) -> int:
    """Write a run to an open text file, and return the number of lines or rows written.

    "jsonl": one trajectory a line, everything included. "csv": one measurement a row.
    "messages": one turn a line as {"episode", "turn", "observation", "prompt",
    "reasoning", "answer", "status", "action"}; the prompt is the list of messages that
    were sent, empty without a language model. "chat": one conversation a line as
    {"episode", "turn", "success", "messages": [{"role", "content"}, ...]}, as it was
    sent and received; the answer has its "reasoning". An agent without memory has a
    conversation each turn, named by `turn`; one that is sent its earlier turns has one
    that contains them. Without a language model, observation and action stand for
    prompt and answer. Failed episodes are left out. "calls": one answer of a language
    model a line as {"asked_by", "model", "prompt", "reasoning", "answer", "finish",
    "prompt_tokens", "answer_tokens"}, also those that decide no turn, such as a
    planner's or a judge's. An episode or a part asks.
    """
    path = Path(run)
    if form == "csv":
        return _csv(path, file)
    n = 0
    for each in _asked(path) if form == "calls" else _played(path, form):
        line = json.dumps(each, sort_keys=True, ensure_ascii=False)
        file.write(line + "\n")
        n += 1
    return n


def _played(run: Path, form: Format) -> Iterator[dict[str, Any]]:
    """The lines of the forms that tell of episodes."""
    for trajectory in load_evidence(run).trajectories:
        if form == "jsonl":
            yield trajectory_json(trajectory)
        elif form == "messages":
            yield from messages(trajectory)
        elif trajectory.ending != "failed":
            yield from _conversations(trajectory)


def messages(trajectory: Trajectory) -> Iterator[dict[str, Any]]:
    """Each turn as `export` writes it in the form "messages"."""
    for turn in trajectory.turns:
        decision = turn.decision
        completion = decision.completion
        yield {
            "episode": str(trajectory.key),
            "turn": turn.index,
            "observation": turn.observation.text,
            "prompt": plain(sent(turn)) if completion else [],
            "reasoning": completion.reasoning if completion else None,
            "answer": completion.text if completion else None,
            "status": decision.status,
            "action": decision.action,
        }


def _conversations(trajectory: Trajectory) -> Iterator[dict[str, Any]]:
    for turn in conversations(trajectory):
        yield {
            "episode": str(trajectory.key),
            "turn": turn.index,
            "success": trajectory.success,
            "messages": [*plain(sent(turn)), plain_answer(turn)],
        }


def _asked(run: Path) -> Iterator[dict[str, Any]]:
    with closing(RunFolder.open(run).journal()) as journal:
        scopes = journal.query("SELECT DISTINCT scope FROM calls ORDER BY scope")
        for (scope,) in map(tuple, scopes):
            for row in sorted(journal.call_rows(scope), key=_turn_and_request):
                completion = read_completion(row, ())
                yield {
                    "asked_by": scope,
                    "turn": row["turn"],
                    "model": completion.model,
                    "prompt": plain(completion.prompt),
                    "reasoning": completion.reasoning,
                    "answer": completion.text,
                    "finish": completion.finish,
                    "prompt_tokens": completion.n_prompt,
                    "answer_tokens": completion.n_completion,
                }


def _turn_and_request(row: Row) -> tuple[int, str]:
    return -1 if row["turn"] is None else row["turn"], row["request"]


def _csv(run: Path, file: TextIO) -> int:
    table = RunFolder.open(run).read_result().table
    writer = csv.writer(file)
    writer.writerow(map(_cell, table))
    for row in zip(*table.values(), strict=True):
        writer.writerow(map(_cell, row))
    return table.n_rows


def _cell(value: Any) -> Any:
    """A value; a text neither steers a terminal nor is a formula of a spreadsheet."""
    if not isinstance(value, str):
        return value
    visible = "".join(each if each.isprintable() else "\ufffd" for each in value)
    return f"'{visible}" if visible.startswith(FORMULA) else visible
