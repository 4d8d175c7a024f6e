"""Answers of a server in the tokens of local weights: one row of run.sqlite a turn."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from gde.data.activations import TokenSequence
from gde.store import manifest
from gde.store.activations import Row
from gde.store.database import Statement
from gde.store.journal import Journal
from gde.store.rows import pack, to_json, unpack

Status = Literal["replayed", "not reconstructed", "other weights"]
PROBLEMS: Mapping[Status, str] = {
    "not reconstructed": "tokens of the server could not be reconstructed",
    "other weights": "weights are not those that were served",
}
"""Status of a turn that cannot be replayed, in words."""
REMEDIES: Mapping[Status, str] = {
    "not reconstructed": "",
    "other weights": "; set the probe's weights to those that are served",
}


@dataclass(frozen=True, kw_only=True)
class Replay:
    """The answer of one turn in the tokens of local weights, or why it has none."""

    row: Row
    tokens: tuple[int, ...] = ()
    """Of prompt and completion."""
    positions: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    status: Status = "replayed"
    reason: str = ""
    """Empty for a turn that can be replayed."""


def known(journal: Journal, weights: str) -> set[Row]:
    """The turns that were tried with these weights."""
    query = "SELECT episode, turn FROM replays WHERE weights = ?"
    return {(episode, turn) for episode, turn in journal.query(query, (weights,))}


def write_replays(journal: Journal, weights: str, replays: Iterable[Replay]) -> None:
    """Add turns that were tried with these weights."""
    query = "INSERT OR REPLACE INTO replays VALUES (?, ?, ?, ?, ?, ?, ?)"
    statements: list[Statement] = []
    for each in replays:
        tokens = pack(each.tokens)
        positions = to_json(each.positions)
        row = (weights, *each.row, tokens, positions, each.status, each.reason)
        statements.append((query, row))
    manifest.begin(journal.folder, "activations")
    journal.write(statements)


def read_replays(
    journal: Journal, weights: str, episode: str
) -> dict[int, TokenSequence]:
    """The tokens of an episode's turns that can be replayed, by turn."""
    query = "SELECT * FROM replays WHERE weights = ? AND episode = ?"
    found = {}
    for row in journal.query(query, (weights, episode)):
        if row["status"] in PROBLEMS:
            continue
        positions = json.loads(row["positions"])
        found[row["turn"]] = TokenSequence(
            tokens=unpack(row["tokens"]),
            positions={name: tuple(places) for name, places in positions.items()},
        )
    return found


def unread(journal: Journal, weights: str) -> str:
    """How many turns cannot be replayed, and why; empty where all can."""
    query = "SELECT status, reason FROM replays WHERE weights = ?"
    rows = [tuple(row) for row in journal.query(query, (weights,))]
    said = []
    for status, problem in PROBLEMS.items():
        reasons = Counter(reason for found, reason in rows if found == status)
        if not reasons:
            continue
        (most_frequent, _), *others = reasons.most_common()
        more = f" (and {len(others)} more)" if others else ""
        counts = f"{reasons.total()} of {len(rows)} turns"
        told = f"{counts}: {problem}: {most_frequent}{more}"
        said.append(f"{told}{REMEDIES[status]}")
    return "; ".join(said)
