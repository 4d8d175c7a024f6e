"""A finished run is computed again only if something about it has changed."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from whole_plan import whole_plan

from gde import How, Result, evaluate, resume
from gde.errors import GdeError
from gde.request.catalogue import Catalogue
from gde.request.provenance import provenance
from gde.runs import evaluating
from gde.store.arrays import read_arrays, write_arrays
from gde.store.folder import RunFolder
from gde.store.journal import Journal

Made = list[Result]


@pytest.fixture
def run(tmp_path: Path, catalogue: Catalogue) -> Path:
    evaluate(whole_plan(6), tmp_path / "run", catalogue)
    return tmp_path / "run"


@pytest.fixture
def computed(run: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    """The results that are computed from here on."""
    found: Made = []
    compute = evaluating._complete

    def noted(*args: object) -> Result:
        found.append(compute(*args))  # type: ignore[arg-type]
        return found[-1]

    monkeypatch.setattr(evaluating, "_complete", noted)
    return found


def test_nothing_changed(run: Path, computed: Made, catalogue: Catalogue) -> None:
    stored = RunFolder.open(run).read_result()
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    assert resume(run, catalogue) == stored
    # The run may be gone on with as often as one likes, and under another name.
    assert resume(run.rename(run.with_name("moved")), catalogue).subject
    run.with_name("moved").rename(run)
    assert computed == []
    assert before == {p: p.read_bytes() for p in run.rglob("*") if p.is_file()}


def write(run: Path, statement: str) -> None:
    """Change rows as gde would, with checksums and a head that fit."""
    with closing(Journal.open(run / "run.sqlite")) as journal:
        journal.write([(statement, ())])


def change_row(run: Path) -> None:
    write(run, "UPDATE turns SET reward = reward + 1 WHERE turn = 0")


def change_row_in_the_log(run: Path) -> None:
    """Leave a log with a change beside the files as they were."""
    old, new = run.with_name("old"), run.with_name("new")
    shutil.copytree(run, old)
    with closing(Journal.open(run / "run.sqlite")) as journal:
        journal.write([("UPDATE turns SET reward = reward + 1 WHERE turn = 0", ())])
        shutil.copytree(run, new)
    for name in ("run.sqlite", "run.head"):
        shutil.copyfile(old / name, run / name)
    shutil.copyfile(new / "run.sqlite-wal", run / "run.sqlite-wal")


def lose_report(run: Path) -> None:
    (run / "report.html").unlink()


def change_report(run: Path) -> None:
    report = run / "report.html"
    report.write_text(report.read_text().replace("corridor", "maze"))


def change_result(run: Path) -> None:
    result = run / "result.json"
    result.write_text(result.read_text().replace('"ok"', '"partial"'))


def forge_the_seal(run: Path) -> None:
    change_row(run)
    (run / ".sealed").write_text("0" * 64)


def link_the_seal(run: Path) -> None:
    seal = run / ".sealed"
    seal.rename(run / "elsewhere")
    seal.symlink_to(run / "elsewhere")


@pytest.mark.parametrize(
    "change",
    [
        change_row,
        change_row_in_the_log,
        lose_report,
        change_report,
        change_result,
        forge_the_seal,
        link_the_seal,
    ],
)
def test_files_changed(
    change: Callable[[Path], None], run: Path, computed: Made, catalogue: Catalogue
) -> None:
    change(run)
    result = resume(run, catalogue)
    assert computed == [result]
    # It has a new seal.
    assert resume(run, catalogue).measurements == result.measurements
    assert len(computed) == 1


def test_a_damaged_row_is_refused(run: Path, catalogue: Catalogue) -> None:
    with closing(sqlite3.connect(run / "run.sqlite")) as connection, connection:
        connection.execute("UPDATE turns SET action = 'LEFT' WHERE turn = 0")
    with pytest.raises(GdeError, match="checksum mismatch in a row of turns"):
        resume(run, catalogue)


def test_another_array_is_refused(run: Path, catalogue: Catalogue) -> None:
    array = next((run / "probes").glob("*.safetensors"))
    arrays = {name: values + 1 for name, values in read_arrays(array).items()}
    write_arrays(array, arrays)
    with pytest.raises(GdeError, match="is not the file that gde wrote"):
        resume(run, catalogue)


def test_a_copy_has_no_seal(run: Path, computed: Made, catalogue: Catalogue) -> None:
    copy = Path(shutil.copytree(run, run.with_name("copy")))
    assert computed == [resume(copy, catalogue)]


@pytest.mark.parametrize(
    "other",
    [
        {"packages": {"numpy": "0"}},
        {"parts": {"gde": "gde-eval:stages v0"}},
        {"commit": "another"},
    ],
)
def test_software_changed(
    other: dict[str, object],
    run: Path,
    computed: Made,
    catalogue: Catalogue,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = "gde.runs.finished.provenance"
    monkeypatch.setattr(told, lambda *args: {**provenance(*args), **other})
    assert computed == [resume(run, catalogue)]


def test_worlds_changed(
    run: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gde.runs.finished.digest", lambda _: "others")
    begun = SimpleNamespace(called=False)

    def begin(*_: object) -> Result:
        begun.called = True
        raise GdeError("other worlds")

    monkeypatch.setattr(evaluating, "_complete", begin)
    with pytest.raises(GdeError, match="other worlds"):
        resume(run, catalogue)
    assert begun.called


def test_a_limit_changed(run: Path, computed: Made, catalogue: Catalogue) -> None:
    resume(run, catalogue, how=How(concurrency=2))
    assert len(computed) == 1


def test_failures_are_tried_again(tmp_path: Path, catalogue: Catalogue) -> None:
    plan = replace(whole_plan(6), metrics=("success", "broken"))
    result = evaluate(plan, tmp_path / "run", catalogue)
    assert result.status == "partial"
    assert not (tmp_path / "run/.sealed").exists()
