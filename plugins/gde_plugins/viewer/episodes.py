"""The episodes of all runs in a folder as one table: filtered, sorted, by pages."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

from gde.errors import GdeError
from gde.stages.model_use import used_by_episode
from gde.store.damage import decoding
from gde.store.folder import RunFolder
from gde.store.journal import Journal

ROWS = 100
"""On a page."""
REACHED, MISSED, FAILED, NO_GOAL = "reached", "not reached", "failed", "no goal"
LAST_SUCCESS = """SELECT episode, success FROM turns JOIN episodes USING (episode)
    WHERE turn = episodes.turns - 1"""


@dataclass(frozen=True, kw_only=True)
class Row:
    """An episode in the table."""

    run: str
    """Its path beneath the folder shown."""
    agent: str
    environment: str
    condition: str
    """The swept values, e.g. "size=7"; empty where nothing is swept."""
    world: str
    episode: str
    """Its key."""
    outcome: str
    """Whether it reached its goal; `FAILED` and `NO_GOAL` are others."""
    ending: str
    turns: int
    tokens: int
    """Known ones, of prompts and answers."""


COLUMNS: tuple[str, ...] = tuple(Row.__annotations__)
CHOSEN = ("run", "agent", "environment", "condition", "outcome", "ending")
"""Columns whose values are chosen from a list; a world is typed."""


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A page of the table."""

    rows: Sequence[Row]
    total: int
    """Rows that were chosen."""
    page: int
    """From 1."""
    pages: int
    sort: str
    """A column; with "-" before it, the largest comes first."""
    choices: Mapping[str, Sequence[str]]
    """The values that a column has, by name."""
    chosen: Mapping[str, str]
    """The wanted value by column; the others are not chosen by."""

    def address(self, **changed: str | int) -> Mapping[str, str]:
        """The parameters of another view of the same episodes."""
        wanted = {**self.chosen, "sort": self.sort, "page": "1"}
        return {**wanted, **{name: str(value) for name, value in changed.items()}}

    def sorted_by(self, column: str) -> str:
        """The other order of a column."""
        return f"-{column}" if self.sort == column else column


def episodes_of(name: str, path: Path) -> tuple[Row, ...]:
    """The finished episodes of a run; none of one that cannot be read."""
    try:
        folder = RunFolder.open(path)
        plan = folder.plan()
        with closing(folder.journal()) as journal:
            return tuple(_rows(name, plan.agent.label, plan.environment.label, journal))
    except GdeError:
        return ()


@decoding("facts or turns")
def _rows(name: str, agent: str, environment: str, journal: Journal) -> list[Row]:
    conditions = journal.noted("conditions", list) or [{}]
    swept = [
        ", ".join(f"{label}={value}" for label, value in each.items())
        for each in conditions
    ]
    success = {row["episode"]: row["success"] for row in journal.query(LAST_SUCCESS)}
    used = used_by_episode(journal, {})
    found = []
    for one in journal.summaries():
        usage = used.get(one.episode)
        row = Row(
            run=name,
            agent=agent,
            environment=environment,
            condition=swept[one.condition],
            world=one.world,
            episode=one.episode,
            outcome=_outcome(one.ending, success.get(one.episode, 0.0)),
            ending=one.ending,
            turns=one.turns,
            tokens=usage.tokens if usage else 0,
        )
        found.append(row)
    return found


def _outcome(ending: str, success: float | None) -> str:
    if ending == FAILED:
        return FAILED
    if success is None:
        return NO_GOAL
    return REACHED if success == 1 else MISSED


def shown(rows: Iterable[Row], asked: Mapping[str, str]) -> Shown:
    """The wanted page of the wanted rows.

    Args:
        rows: of all runs.
        asked: parameters of a request: `CHOSEN` and "world" by value, "sort" and "page";
            unknown ones count as not given.
    """
    every = list(rows)
    chosen = {name: asked[name] for name in (*CHOSEN, "world") if asked.get(name)}
    wanted = [
        row
        for row in every
        if all(
            getattr(row, name).startswith(value)
            if name == "world"
            else getattr(row, name) == value
            for name, value in chosen.items()
        )
    ]
    sort = asked.get("sort", "")
    column = sort.removeprefix("-")
    if column in COLUMNS:
        wanted.sort(key=attrgetter(column), reverse=sort.startswith("-"))
    else:
        sort = ""
    pages = max(1, -(-len(wanted) // ROWS))
    number = asked.get("page", "1")
    page = min(
        pages, max(1, int(number) if number.isdecimal() and len(number) < 9 else 1)
    )
    return Shown(
        rows=wanted[ROWS * (page - 1) : ROWS * page],
        total=len(wanted),
        page=page,
        pages=pages,
        sort=sort,
        choices={
            name: sorted({str(getattr(row, name)) for row in every}) for name in CHOSEN
        },
        chosen=chosen,
    )
