"""Runs of every earlier schema are read, and continued in a copy."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from gde import GdeError, load_evidence, rescore, resume
from gde.request.catalogue import Catalogue, load_plugins
from gde.store import migration, schema
from gde.store.folder import RunFolder

EARLIER = Path(__file__).with_name("earlier")
"""A run of each schema, as it was made by the gde of its time: plan and SQL."""
VERSIONS = range(migration.OLDEST, schema.VERSION)


@pytest.fixture
def parts() -> Catalogue:
    return Catalogue(load_plugins(modules=("gde.testing.plugin",)))


@pytest.fixture(params=VERSIONS)
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    run = tmp_path / "run"
    run.mkdir()
    shutil.copyfile(EARLIER / f"schema{request.param}.toml", run / "plan.toml")
    with closing(sqlite3.connect(run / "run.sqlite")) as connection:
        connection.executescript((EARLIER / f"schema{request.param}.sql").read_text())
    head = EARLIER / f"schema{request.param}.head"
    if head.exists():
        shutil.copyfile(head, run / "run.head")
    return run


def test_every_earlier_schema_is_read(run: Path) -> None:
    files = sorted(run.iterdir())
    before = (run / "run.sqlite").read_bytes()
    found = load_evidence(run)
    assert [str(one.key) for one in found.trajectories] == ["0/0/0", "0/1/0"]
    assert all(
        turn.decision.completion is not None
        for one in found.trajectories
        for turn in one.turns
    )
    assert len(found.reward_traces) == 2
    assert {report.fit.position for report in found.probe_reports} == {"message"}
    assert (run / "run.sqlite").read_bytes() == before
    assert sorted(run.iterdir()) == files


def test_every_earlier_run_goes_on_in_a_copy(run: Path, parts: Catalogue) -> None:
    before = sorted(path.name for path in run.iterdir())
    again = resume(run, parts)
    assert Path(again.run) == run.with_name("run-copy")
    assert next(one.value for one in again.measurements if one.name == "success") == 1.0
    with closing(RunFolder.open(Path(again.run)).journal(write=False)) as journal:
        assert journal.query("PRAGMA user_version")[0][0] == schema.VERSION
        assert journal.faults() == []
        # Nothing was asked again.
        calls = journal.query("SELECT count(*) AS n FROM calls")[0]["n"]
    with closing(sqlite3.connect(run / "run.sqlite")) as old:
        assert old.execute("SELECT count(*) FROM calls").fetchone()[0] == calls
    assert rescore(again.run, catalogue=parts).status == again.status
    assert sorted(path.name for path in run.iterdir()) == before


def test_a_changed_row_of_an_earlier_run_is_refused(run: Path) -> None:
    with closing(sqlite3.connect(run / "run.sqlite")) as connection, connection:
        connection.execute("UPDATE turns SET reward = reward + 1")
    with pytest.raises(GdeError, match="checksum mismatch in a row of turns"):
        load_evidence(run)


def test_a_row_that_schema_11_lost_is_missed(tmp_path: Path) -> None:
    shutil.copyfile(EARLIER / "schema11.toml", tmp_path / "plan.toml")
    shutil.copyfile(EARLIER / "schema11.head", tmp_path / "run.head")
    with closing(sqlite3.connect(tmp_path / "run.sqlite")) as connection:
        connection.executescript((EARLIER / "schema11.sql").read_text())
        connection.execute("DELETE FROM rewards WHERE turn = 1")
        connection.commit()
    with pytest.raises(GdeError, match="rewards are missing"):
        load_evidence(tmp_path)


@pytest.mark.parametrize("version", [migration.OLDEST - 1, schema.VERSION + 1])
def test_an_unknown_schema_is_refused(version: int, tmp_path: Path) -> None:
    shutil.copyfile(EARLIER / "schema10.toml", tmp_path / "plan.toml")
    with closing(sqlite3.connect(tmp_path / "run.sqlite")) as connection:
        connection.executescript((EARLIER / "schema10.sql").read_text())
        connection.execute(f"PRAGMA user_version={version}")
    with pytest.raises(GdeError, match=rf"wanted schema 6 to 12, got {version}"):
        load_evidence(tmp_path)


def test_a_table_that_no_version_had_is_refused(tmp_path: Path) -> None:
    shutil.copyfile(EARLIER / "schema10.toml", tmp_path / "plan.toml")
    with closing(sqlite3.connect(tmp_path / "run.sqlite")) as connection:
        connection.executescript((EARLIER / "schema10.sql").read_text())
        connection.execute("CREATE VIEW other AS SELECT * FROM turns")
    with pytest.raises(GdeError, match="unknown view 'other'"):
        load_evidence(tmp_path)
