"""All numbers of a run, folded by the question that they help to answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gde.data.measure import Question
from gde.data.result import Result
from gde.reporting.findings import probed
from gde.reporting.forest import Group
from gde.reporting.sentences import sentences
from gde_plugins.pages.tables import Table, group_tables, tests_tables

TITLES: Mapping[Question, str] = {
    "did": "What did it do?",
    "believes": "What does it believe?",
    "wants": "Is it after the goal?",
    "judges": "What do rewards say?",
}
ROWS = 2
"""Rows of the figure that answer a question in one line."""


@dataclass(frozen=True, kw_only=True)
class Section:
    """A question, its answer in one line, and the tables behind it."""

    question: Question
    title: str
    answer: str
    """Empty where no headline answers it."""
    tables: Sequence[tuple[str, Table]]
    """Headings and contents."""


def sections(result: Result, forest: Sequence[Group]) -> list[Section]:
    """The questions of a run in their order; one without numbers is left out.

    Args:
        result: the result.
        forest: the rows of its figure.
    """
    tables = group_tables(result) + tests_tables(result)
    # The page has a table of each probe, whatever the numbers of metrics say.
    has_probes = bool(probed(result))
    found = []
    for question, title in TITLES.items():
        own = [(each.title, each.table) for each in tables if each.question == question]
        if own or (has_probes and question == "believes"):
            answer = _answer(question, result, forest)
            found.append(
                Section(question=question, title=title, answer=answer, tables=own)
            )
    return found


def _answer(question: Question, result: Result, forest: Sequence[Group]) -> str:
    """The verdict of the question, else the first rows of the figure."""
    meanings = result.meanings
    asked = [
        one for one in result.measurements if meanings[one.name].question == question
    ]
    verdicts = sentences(asked, meanings, brief=True)
    if verdicts:
        return " ".join(verdicts)
    rows = [row for group in forest if group.question == question for row in group.rows]
    texts = (
        f"{row.title} {row.value} {row.mark} {row.word}".strip() for row in rows[:ROWS]
    )
    return " \u00b7 ".join(texts)
