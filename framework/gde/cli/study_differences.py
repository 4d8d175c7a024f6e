"""Two studies compared, in the terminal and as JSON."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from gde.cli.compared_rows import COLUMNS, cells
from gde.cli.output import say, show_json, show_table, tell

if TYPE_CHECKING:
    from gde.comparisons.studies import ComparedStudies, Pair


def compare_and_show(folder_a: Path, folder_b: Path, as_json: bool) -> None:
    """Compare two studies and print a table for each heading of their pages."""
    from gde.comparisons.studies import compare_studies

    compared = compare_studies(folder_a, folder_b)
    if as_json:
        show_json(
            {
                "schema": 1,
                "studies": [str(study.folder) for study in compared.studies],
                "rows": [asdict(pair) for pair in compared.pairs],
                "notes": compared.notes,
            }
        )
        return
    _show(compared)


def _show(compared: "ComparedStudies") -> None:
    for name, study in zip("AB", compared.studies, strict=True):
        tell(f"{name}: {study.folder}. {study.extent}")
    measured = [pair for pair in compared.pairs if _is_measured(pair)]
    for table in dict.fromkeys(pair.table for pair in measured):
        of_table = [pair for pair in measured if pair.table == table]
        show_table(table, COLUMNS, [_cells(pair) for pair in of_table])
    for note in compared.notes:
        say(note)
    absent = len(compared.pairs) - len(measured)
    if absent:
        say(f"{absent} more rows without a number in either, with reasons: --json")


def _is_measured(pair: "Pair") -> bool:
    return pair.a.value is not None or pair.b.value is not None


def _cells(pair: "Pair") -> tuple[str, ...]:
    from gde.reporting.ranking import ABSENT
    from gde.reporting.wording import heading, number

    if pair.row is not None:
        _, *numbers = cells(pair.row)
        return (heading(pair.quantity, pair.row.unit), *numbers)
    values = []
    for one in (pair.a, pair.b):
        text = ABSENT if one.value is None else number(one.value, one.unit)
        values.append(text)
    return (heading(pair.quantity, pair.a.unit), *values, "", "", "")
