"""Two studies beside one another: numbers paired over worlds, corrected together."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gde import Choice, GdeError, Plan, evaluate
from gde.cli.main import build_app
from gde.comparisons.comparing import compare
from gde.comparisons.studies import compare_studies
from gde.errors import RunFolderError
from gde.numerics.stats import adjusted, holm
from gde.parts.reproduction import Comparison
from gde.studies.study import Study, write_study

PLAN = Plan(
    environment="grid",
    agent="optimal",
    metrics=("success", "accuracy", "efficiency"),
    episodes=8,
)
SHOWN = (("success", {}), ("accuracy", {}), ("efficiency.spl", {"size": 5}))
"""Names and labels of the numbers that have a row."""


def study(
    folder: Path, agent: str, name: str = "profile", sizes: Sequence[int] = (5, 7)
) -> None:
    """A study of one run, with a row for each metric and one that has no number."""
    world = Choice(name="grid", config={"size": [*sizes], "density": 0.3})
    result = evaluate(replace(PLAN, environment=world, agent=agent), folder / "walks")
    rows = [
        Comparison(quantity=one.name, paper=None, ours=one, source="walks", table="T")
        for one in result.measurements
        if (one.name, dict(one.where)) in SHOWN
    ]
    printed = replace(rows[0].ours, name="printed", value=0.5)
    rows.append(replace(rows[0], quantity="printed", ours=printed, source="fig. 6"))
    made = Study(
        name=name,
        scale=1.0,
        folder=folder,
        rows=tuple(rows),
        figures=(),
        figures_missing="none here",
        results={"walks": result},
    )
    write_study(made)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("studies")
    study(folder / "a", "optimal")
    study(folder / "b", "random")
    return folder / "a", folder / "b"


def test_numbers_of_runs_that_share_worlds_are_paired(
    folders: tuple[Path, Path],
) -> None:
    a, b = folders
    found = compare_studies(a, b)
    pairs = {pair.quantity: pair for pair in found.pairs}
    assert [*pairs] == ["success", "accuracy", "efficiency.spl", "printed"]
    rows = {}
    for row in compare(a / "walks", b / "walks").rows:
        rows[row.name, tuple(row.where.items())] = row
    for name, where in SHOWN:
        found_row, expected = pairs[name].row, rows[name, tuple(where.items())]
        assert found_row is not None
        assert replace(found_row, p=None, q=None) == replace(expected, p=None, q=None)
        assert found_row.n == (8 if where else 16)
    assert pairs["printed"].row is None


def test_p_values_are_corrected_over_the_rows_that_are_shown(
    folders: tuple[Path, Path],
) -> None:
    tested = [pair.row for pair in compare_studies(*folders).pairs if pair.row]
    raw = [row.p_wilcoxon for row in tested]
    assert len(raw) == 3 and None not in raw
    assert [row.p for row in tested] == list(adjusted(raw, holm))


def test_the_command_shows_both_and_their_difference(
    folders: tuple[Path, Path],
) -> None:
    a, b = map(str, folders)
    shown = CliRunner().invoke(build_app(), ["compare", a, b])
    assert shown.exit_code == 0, shown.output
    assert "accuracy, %" in shown.output and "printed, %" in shown.output

    asked = ["compare", a, b, "--json"]
    rows = json.loads(CliRunner().invoke(build_app(), asked).output)["rows"]
    (accuracy,) = (row for row in rows if row["quantity"] == "accuracy")
    assert accuracy["a"]["value"] == 1.0 > accuracy["b"]["value"]
    assert accuracy["row"]["difference"] < 0


def test_runs_without_shared_worlds_are_told(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    study(tmp_path / "c", "random", sizes=(9,))
    found = compare_studies(folders[0], tmp_path / "c")
    assert [pair.row for pair in found.pairs] == [None] * 3
    (note,) = found.notes
    assert note.startswith("walks: ") and "share no world" in note


def test_two_kinds_of_study_and_one_study_twice_are_refused(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    study(tmp_path / "other", "optimal", name="babybench")
    with pytest.raises(GdeError, match="name two studies of one kind"):
        compare_studies(folders[0], tmp_path / "other")
    with pytest.raises(GdeError, match="are the same study"):
        compare_studies(folders[0], folders[0])
    with pytest.raises(RunFolderError, match="wanted a study's tables"):
        compare_studies(folders[0], folders[0] / "walks")
    for flag in ("--unpaired", "--fail-if-worse=accuracy"):
        asked = ["compare", *map(str, folders), flag]
        done = CliRunner().invoke(build_app(), asked)
        assert isinstance(done.exception, GdeError)
        assert "take two runs" in str(done.exception)
