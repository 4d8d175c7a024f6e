"""Reward traces in run.sqlite: one row a turn, or one row with the reason."""

import json
from itertools import groupby
from operator import itemgetter

import numpy as np

from gde.data.reward import RewardTrace
from gde.store.damage import decoding
from gde.store.database import Statement
from gde.store.journal import Journal


def judged(journal: Journal, model: str) -> set[str]:
    """The episodes whose trace by the model is stored."""
    query = "SELECT DISTINCT episode FROM rewards WHERE model = ?"
    return {*journal.column(query, (model,))}


def write_trace(trace: RewardTrace, journal: Journal) -> None:
    """Store one trace.

    The trace of an episode without turns is kept as a failure, since it has no rows of
    its own.
    """
    query = "INSERT OR REPLACE INTO rewards VALUES (?, ?, ?, ?, ?)"
    place = (trace.model, trace.episode)
    statements: list[Statement] = []
    if not trace.failure:
        for turn, value in enumerate(trace.values):
            statements.append((query, (*place, turn, float(value), "")))
    if not statements:
        failure = trace.failure or "the episode has no turns"
        statements.append((query, (*place, -1, None, failure)))
    if trace.made_by or trace.counts:
        counts = json.dumps(dict(trace.counts), sort_keys=True)
        query = "INSERT OR REPLACE INTO judgements VALUES (?, ?, ?, ?)"
        statements.append((query, (*place, trace.made_by, counts)))
    journal.write(statements)


@decoding("rewards or judgements")
def read_traces(journal: Journal) -> tuple[RewardTrace, ...]:
    """The stored traces."""
    judgements = {}
    for row in journal.query("SELECT * FROM judgements"):
        judgements[row["model"], row["episode"]] = row

    rows = journal.query("SELECT * FROM rewards ORDER BY model, episode, turn")
    traces = []
    for place, part in groupby(rows, itemgetter("model", "episode")):
        # A failure has no turn, and so comes first.
        turns = list(part)
        values = [row["value"] for row in turns if not row["failure"]]
        model, episode = place
        judgement = judgements.get(place)
        trace = RewardTrace(
            model=model,
            episode=episode,
            values=np.array(values),
            failure=turns[0]["failure"],
            made_by=judgement["made_by"] if judgement else "",
            counts=json.loads(judgement["counts"]) if judgement else {},
        )
        traces.append(trace)
    return tuple(traces)
