"""A part of a journal, copied for a worker that does not see the run folder."""

from collections.abc import Callable, Collection, Sequence

from gde.store.database import Statement
from gde.store.journal import Journal

Write = Callable[[Sequence[Statement]], object]
"""Commits statements to the journal of the run, or raises what that raises."""


def copied(journal: Journal, episodes: Collection[str]) -> list[Statement]:
    """The statements that let an empty journal continue some episodes.

    It gets the facts of the run, the heads of the episodes, and the turns and calls of
    those that have not ended.
    """
    heads = [
        row
        for row in journal.query("SELECT * FROM episodes")
        if row["episode"] in episodes
    ]
    turns = []
    calls = []
    for row in heads:
        if row["ending"] is None:
            episode = (row["episode"],)
            turns += journal.query("SELECT * FROM turns WHERE episode = ?", episode)
            calls += journal.query("SELECT * FROM calls WHERE scope = ?", episode)

    tables = {
        "facts": journal.query("SELECT * FROM facts"),
        "fact_sets": journal.query("SELECT * FROM fact_sets"),
        "episodes": heads,
        "turns": turns,
        "calls": calls,
        "interventions": journal.query("SELECT * FROM interventions"),
    }
    statements: list[Statement] = []
    for table, rows in tables.items():
        for row in rows:
            query = f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})"
            statements.append((query, tuple(row)))
    return statements


class DistantJournal(Journal):
    """A partial copy of a journal; writes go to the journal of the run first."""

    send: Write | None = None
    """None until the copy is complete."""

    def write(self, statements: Sequence[Statement]) -> None:
        """Commit some statements as one transaction, there and here."""
        clean: list[Statement] = []
        for query, values in statements:
            clean.append((query, tuple(self.secrets.scrubbed_row(values))))
        if self.send is not None:
            self.send(clean)
        super().write(clean)
