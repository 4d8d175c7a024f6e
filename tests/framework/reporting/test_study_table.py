"""A study's tables as they are printed, with what is not compared in footnotes."""

import csv

from gde import Measurement
from gde.parts.reproduction import Comparison
from gde.reporting.study_table import matrices, study_table


def row(
    name: str, column: str, value: float | None, paper: float | None, differs: str = ""
) -> Comparison:
    interval = None if value is None else (value - 0.1, value + 0.1)
    ours = Measurement(
        name="epic",
        value=value,
        unit="distance",
        n=80,
        interval=interval,
        reason="" if interval else "not in the run",
    )
    return Comparison(
        quantity=f"{name}, {column}",
        paper=paper,
        ours=ours,
        source="S",
        table="T 1",
        column=column,
        differs=differs,
    )


ROWS = [
    row("a_b", "Shop", 0.5, 0.4),
    row("a_b", "Blocks", None, 0.6),
    row("mine", "Shop", 0.3, None, "by rules"),
]


def test_rows_and_columns_are_those_of_the_publication() -> None:
    (table,) = matrices(ROWS)
    assert table.columns == ("Shop", "Blocks")
    assert table.lines == (
        ("a_b", "0.500 [0.400, 0.600] (0.400)", "(0.600)"),
        ("mine", "0.300 [0.200, 0.400] ^1", ""),
    )
    assert table.notes == ("1: by rules",)


def test_markdown_and_latex_have_a_line_a_row_and_the_notes() -> None:
    markdown = study_table(ROWS, "markdown").splitlines()
    assert markdown[0] == "**T 1**"
    assert markdown[2] == "|  | Shop | Blocks |"
    assert markdown[-1] == "1: by rules"
    latex = study_table(ROWS, "latex")
    assert r"a\_b & 0.500 [0.400, 0.600] (0.400) & (0.600) \\" in latex
    assert r"mine & 0.300 [0.200, 0.400] $^{1}$ &  \\" in latex


def test_csv_has_a_number_a_row() -> None:
    lines = list(csv.DictReader(study_table(ROWS, "csv").splitlines()))
    assert [each["quantity"] for each in lines] == [each.quantity for each in ROWS]
    assert (lines[0]["ours"], lines[0]["paper"], lines[2]["differs"]) == (
        "0.5",
        "0.4",
        "by rules",
    )


def test_another_method_has_no_difference_from_the_printed_number() -> None:
    assert row("a", "x", 0.5, 0.4).difference is not None
    assert row("a", "x", 0.5, 0.4, "by rules").difference is None
