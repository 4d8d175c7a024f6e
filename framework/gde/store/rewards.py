"""Reward traces in run.sqlite: one row a turn, or one with the reason why there are none, and how they came about."""

import json

import numpy as np

from gde.data.reward import RewardTrace
from gde.errors import RunFolderError
from gde.store.checksums import ADVICE
from gde.store.database import Statement
from gde.store.journal import Journal


def judged(journal: Journal, model: str) -> set[str]:
    """The episodes of which the model's trace is stored."""
    found = journal.query("SELECT DISTINCT episode FROM rewards WHERE model = ?", (model,))
    return {row["episode"] for row in found}


def write_trace(trace: RewardTrace, journal: Journal) -> None:
    """Store one trace. That of an episode without turns is kept as one that failed: it has no rows of its own."""
    query = "INSERT OR REPLACE INTO rewards VALUES (?, ?, ?, ?, ?, 0)"
    place = trace.model, trace.episode
    statements: list[Statement] = [
        (query, (*place, turn, float(value), "")) for turn, value in enumerate(trace.values) if not trace.failure
    ]
    if not statements:
        statements = [(query, (*place, -1, None, trace.failure or "the episode has no turns"))]
    if trace.made_by or trace.counts:
        told = trace.made_by, json.dumps(dict(trace.counts), sort_keys=True)
        statements.append(("INSERT OR REPLACE INTO judgements VALUES (?, ?, ?, ?, 0)", (*place, *told)))
    journal.write(statements)


def read_traces(journal: Journal) -> tuple[RewardTrace, ...]:
    """The stored traces.

    Raises:
        RunFolderError: a row is not as it was written, or missing.
    """
    values: dict[tuple[str, str], list[float]] = {}
    failures: dict[tuple[str, str], str] = {}
    for row in journal.signed("rewards", "SELECT * FROM rewards ORDER BY model, episode, turn"):
        place = (row["model"], row["episode"])
        kept = values.setdefault(place, [])
        if row["failure"]:
            failures[place] = row["failure"]
        else:
            kept.append(row["value"])
    told = {(row["model"], row["episode"]): row for row in journal.signed("judgements", "SELECT * FROM judgements")}
    # Whole episodes are checked where they are read: their worlds can be long, and most runs have no rewards.
    turns = dict(map(tuple, journal.query("SELECT episode, turns FROM episodes"))) if values else {}
    for (model, episode), kept in values.items():
        if (model, episode) not in failures and len(kept) != turns.get(episode, len(kept)):
            raise RunFolderError(f"run.sqlite: rewards of episode {episode} by {model} are missing; {ADVICE}")
    return tuple(
        RewardTrace(
            model=place[0],
            episode=place[1],
            values=np.array(kept),
            failure=failures.get(place, ""),
            made_by=told[place]["made_by"] if place in told else "",
            counts=json.loads(told[place]["counts"]) if place in told else {},
        )
        for place, kept in values.items()
    )
