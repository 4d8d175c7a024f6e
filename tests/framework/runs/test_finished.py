"""A finished run is computed again only if something in its folder has changed."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from whole_plan import whole_plan

from gde import How, Result, evaluate, resume
from gde.errors import GdeError
from gde.request.catalogue import Catalogue
from gde.runs import evaluating
from gde.store import manifest
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


def lose_report(run: Path) -> None:
    (run / "report.html").unlink()


def change_report(run: Path) -> None:
    report = run / "report.html"
    report.write_text(report.read_text().replace("corridor", "maze"))


def change_result(run: Path) -> None:
    result = run / "result.json"
    result.write_text(result.read_text().replace('"ok"', '"partial"'))


def note(run: Path) -> None:
    """Write as gde does, and end before the command does."""
    manifest.begin(run, "notes")
    with closing(Journal.open(run / "run.sqlite")) as journal:
        journal.note("anything", 1)


def play_less(run: Path) -> None:
    with closing(Journal.open(run / "run.sqlite")) as journal:
        journal.forget(["0/1/0"])


def lose_the_manifest(run: Path) -> None:
    (run / "manifest.json").unlink()


@pytest.mark.parametrize(
    "change",
    [lose_report, change_report, change_result, note, play_less, lose_the_manifest],
)
def test_files_changed(
    change: Callable[[Path], None], run: Path, computed: Made, catalogue: Catalogue
) -> None:
    stored = RunFolder.open(run).read_result()
    change(run)
    result = resume(run, catalogue)
    assert computed == [result]
    assert result.measurements == stored.measurements
    # It is complete again.
    assert resume(run, catalogue).measurements == result.measurements
    assert len(computed) == 1


def test_a_damaged_episode_is_refused_where_anything_is_computed(
    run: Path, catalogue: Catalogue
) -> None:
    with closing(sqlite3.connect(run / "run.sqlite")) as connection, connection:
        connection.execute("UPDATE turns SET action = 'LEFT' WHERE turn = 0")
    lose_report(run)
    with pytest.raises(GdeError, match=r"episode 0/0/0 is not as it was written"):
        resume(run, catalogue)


def test_a_copy_is_finished_too(
    run: Path, computed: Made, catalogue: Catalogue
) -> None:
    copy = Path(shutil.copytree(run, run.with_name("copy")))
    assert resume(copy, catalogue).measurements
    assert computed == []


def test_failures_are_tried_again(
    tmp_path: Path, computed: Made, catalogue: Catalogue
) -> None:
    plan = replace(whole_plan(6), metrics=("success", "broken"))
    result = evaluate(plan, tmp_path / "partial", catalogue)
    assert result.status == "partial"
    resume(tmp_path / "partial", catalogue)
    assert len(computed) == 2


def test_a_run_may_stop_after_its_episodes_and_be_gone_on_with_later(
    run: Path, catalogue: Catalogue
) -> None:
    whole = RunFolder.open(run).read_result()
    path = run.with_name("halves")
    first = evaluate(whole_plan(6), path, catalogue, how=How(stop_after="rollout"))
    assert first.status == "partial"
    assert first.subject == whole.subject
    assert {(one.stage, one.subject) for one in first.failures if one.stage == "probe"}
    assert not RunFolder.open(path).probes.is_dir()
    # Whoever goes on goes on to the end, though the run was last stopped here.
    second = resume(path, catalogue)
    assert second.status == whole.status
    assert second.measurements == whole.measurements
