"""Facts of episodes in run.sqlite, so that no metric is asked for them twice."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from math import isnan

from pydantic import ConfigDict, FiniteFloat, TypeAdapter

from gde.store import manifest, rows
from gde.store.database import Statement
from gde.store.journal import Journal

Row = Sequence[float | None]
"""The facts of an episode that one metric gives, in the order of its columns."""
_KEPT = TypeAdapter(dict[str, list[FiniteFloat | None]], config=ConfigDict(strict=True))
"""The facts of an episode by the numbers of their sets. A file from elsewhere may say
anything.
"""
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
    names = {str(number): made_by for made_by, number in known_sets(journal).items()}
    for row in journal.each("SELECT * FROM episode_facts"):
        found: dict[str, Row] = {}
        with suppress(ValueError):
            kept = _KEPT.validate_json(row["facts"])
            found = {
                names[number]: kept[number] for number in names.keys() & kept.keys()
            }
        yield row["episode"], found


def to_row(values: Sequence[float]) -> Row:
    """Facts as they are kept: None for nan."""
    return [None if isnan(each) else each for each in values]


def begin_sets(journal: Journal, made_by: Collection[str]) -> None:
    """Let facts be kept that are made by these."""
    manifest.begin(journal.folder, "facts")
    new = "INSERT OR IGNORE INTO fact_sets (made_by) VALUES (?)"
    journal.write([(new, (name,)) for name in sorted(made_by)])


def known_sets(journal: Journal) -> Mapping[str, int]:
    """The numbers of the sets of facts, by what they are made by."""
    known = journal.query("SELECT number, made_by FROM fact_sets")
    return {made_by: number for number, made_by in known}


def keeping(episode: str, facts: Mapping[int, Row]) -> Statement:
    """The statement that keeps facts of an episode, beside those that are kept already.

    Args:
        episode: its key.
        facts: by number of their set.
    """
    return _KEEP, (episode, rows.to_json(facts))


def keep_facts(journal: Journal, facts: Mapping[str, Mapping[str, Row]]) -> None:
    """Keep facts of episodes.

    Args:
        journal: of the run.
        facts: by episode, and by what they were made by.
    """
    begin_sets(journal, {name for told in facts.values() for name in told})
    sets = known_sets(journal)
    statements = []
    for episode, told in facts.items():
        numbered = {sets[name]: row for name, row in told.items()}
        statements.append(keeping(episode, numbered))
    journal.write(statements)
