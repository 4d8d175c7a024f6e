"""The tables of a reproduced study as a publication prints them."""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Literal

from gde.parts.reproduction import Comparison

Form = Literal["markdown", "latex", "csv"]
SPECIAL = re.compile(r"([&%$#_{}])")
FIELDS = ("table", "quantity", "ours", "low", "high", "n", "paper", "differs", "reason")


@dataclass(frozen=True)
class Matrix:
    """One table, its numbers with intervals, the printed ones in brackets behind them."""

    heading: str
    columns: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    """What the marks in the cells mean."""


def matrices(rows: Sequence[Comparison]) -> list[Matrix]:
    """The tables of a study; one whose rows name columns is turned into a matrix."""
    return [
        _matrix(heading, [row for row in rows if row.table == heading])
        for heading in dict.fromkeys(row.table for row in rows)
    ]


def _matrix(heading: str, rows: Sequence[Comparison]) -> Matrix:
    found = (row.differs for row in rows if row.ours.value is not None)
    notes = list(dict.fromkeys(filter(None, found)))
    cells: dict[str, dict[str, str]] = {}
    for row in rows:
        name = row.quantity.removesuffix(f", {row.column}")
        line = cells.setdefault(name, {})
        line[row.column or "ours (published)"] = _cell(row, notes)
        if not row.column:
            others = {name: _value(one.value) for name, one in row.others.items()}
            line.update(others)
    columns = tuple(dict.fromkeys(name for line in cells.values() for name in line))
    lines = [
        (name, *(line.get(column, "") for column in columns))
        for name, line in cells.items()
        if any(line.values())
    ]
    marked = [f"{n}: {note}" for n, note in enumerate(notes, 1)]
    return Matrix(heading, columns, tuple(lines), tuple(marked))


def _cell(row: Comparison, notes: list[str]) -> str:
    """Ours with its interval and its mark, then the printed number."""
    found = _value(row.ours.value)
    if found and row.ours.interval:
        low, high = row.ours.interval
        found += f" [{low:.3f}, {high:.3f}]"
    if found and row.differs:
        found += f" ^{notes.index(row.differs) + 1}"
    printed = "" if row.paper is None else f"({row.paper:.3f})"
    return " ".join(filter(None, (found, printed)))


def _value(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def study_table(rows: Sequence[Comparison], form: Form) -> str:
    """All tables of a study as Markdown, LaTeX or CSV, which has one number a row."""
    if form == "csv":
        return _as_csv(rows)
    written = _as_latex if form == "latex" else _as_markdown
    return "\n\n".join(written(each) for each in matrices(rows) if each.lines)


def _as_markdown(table: Matrix) -> str:
    lines = [("", *table.columns), ("---",) * (1 + len(table.columns)), *table.lines]
    shown = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([f"**{table.heading}**", "", *shown, "", *table.notes]).rstrip()


def _as_latex(table: Matrix) -> str:
    body = [" & ".join(map(_escaped, line)) + r" \\" for line in table.lines]
    return "\n".join(
        [
            rf"\begin{{tabular}}{{l{'r' * len(table.columns)}}} % {table.heading}",
            r"\toprule",
            " & ".join(["", *map(_escaped, table.columns)]) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            *(rf"\\ {_escaped(note)}" for note in table.notes),
        ]
    )


def _escaped(text: str) -> str:
    return re.sub(r"\^(\d+)", r"$^{\1}$", SPECIAL.sub(r"\\\1", text))


def _as_csv(rows: Sequence[Comparison]) -> str:
    text = StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(FIELDS)
    for row in rows:
        ours = row.ours
        interval = ours.interval or (None, None)
        number = (ours.value, *interval, ours.n, row.paper)
        lines.writerow((row.table, row.quantity, *number, row.differs, ours.reason))
    return text.getvalue().rstrip()
