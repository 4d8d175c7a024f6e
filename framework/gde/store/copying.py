"""A part of a journal for a worker that does not see the run folder, which writes to the journal from afar."""

import json
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from gde.store.database import Statement
from gde.store.journal import Journal

Write = Callable[[Sequence[Statement]], object]
"""Commits statements to the journal of the run, or raises what that raises."""


def copied(journal: Journal, episodes: Collection[str]) -> list[Statement]:
    """What makes an empty journal know what is needed to go on with these episodes: facts, which of them have ended,
    and the turns and calls of those that have not."""
    heads = [row for row in journal.query("SELECT * FROM episodes") if row["episode"] in episodes]
    begun = [row["episode"] for row in heads if row["ending"] is None]
    turns, calls = [], []
    for episode in begun:
        turns += journal.query("SELECT * FROM turns WHERE episode = ?", (episode,))
        calls += journal.query("SELECT * FROM calls WHERE scope = ?", (episode,))
    used = {identity for call in calls for identity in json.loads(call["interventions"])}
    changes = [
        row
        for each in sorted(used)
        for row in journal.query("SELECT * FROM interventions WHERE intervention = ?", (each,))
    ]
    facts = journal.query("SELECT * FROM facts")
    tables = {"facts": facts, "episodes": heads, "turns": turns, "calls": calls, "interventions": changes}
    return [
        (f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", tuple(row))
        for table, rows in tables.items()
        for row in rows
    ]


class DistantJournal(Journal):
    """A copy of its own, in which nothing is written that has not been written to the journal of the run before."""

    def __init__(self, path: Path, *, write: bool = True) -> None:
        super().__init__(path, write=write)
        self.send: Write | None = None
        """None until the copy is complete."""

    def write(self, statements: Sequence[Statement]) -> None:
        """Commit some statements as one transaction, there and here."""
        clean: list[Statement] = [(query, self.kept(values)) for query, values in statements]
        if self.send is not None:
            self.send(clean)
        super().write(clean)
