"""Facts of episodes in run.sqlite, so that no metric is asked for them twice."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from gde.store import manifest, rows
from gde.store.database import Statement
from gde.store.journal import Journal

Row = Sequence[float | None]
"""The facts of an episode that one metric gives, in the order of its columns."""
_KEEP = """
    INSERT INTO episode_facts VALUES (?, ?) ON CONFLICT DO UPDATE SET
    facts = iif(json_valid(facts), json_patch(facts, excluded.facts), excluded.facts)
"""


def read_facts(journal: Journal) -> Iterator[tuple[str, Mapping[str, Row]]]:
    """The kept facts of each episode, by what they were made by.

    What cannot be read, or is not as gde wrote it, is left out, and so made anew.
    """
    if any(manifest.faults(journal, "facts")):
        return
    names = {str(number): made_by for made_by, number in _numbers(journal).items()}
    for row in journal.each("SELECT * FROM episode_facts"):
        found: dict[str, Row] = {}
        with suppress(ValueError, AttributeError):
            kept = json.loads(row["facts"])
            found = {
                names[number]: kept[number] for number in names.keys() & kept.keys()
            }
        yield row["episode"], found


def keep_facts(journal: Journal, facts: Mapping[str, Mapping[str, Row]]) -> None:
    """Keep facts of episodes, beside those that are kept already.

    Args:
        journal: of the run.
        facts: by episode, and by what they were made by.
    """
    manifest.begin(journal.folder, "facts")
    made_by = sorted({name for of_episode in facts.values() for name in of_episode})
    new = "INSERT OR IGNORE INTO fact_sets (made_by) VALUES (?)"
    journal.write([(new, (name,)) for name in made_by])
    numbers = _numbers(journal)
    statements: list[Statement] = []
    for episode, of_episode in facts.items():
        numbered = {str(numbers[name]): [*row] for name, row in of_episode.items()}
        statements.append((_KEEP, (episode, rows.to_json(numbered))))
    journal.write(statements)


def _numbers(journal: Journal) -> dict[str, int]:
    known = journal.query("SELECT * FROM fact_sets")
    return {row["made_by"]: row["number"] for row in known}
