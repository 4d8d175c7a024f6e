"""A run folder: made at once, read without being changed, and refused when it is not
what it says.
"""

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from gde import GdeError, How, Measurement, Plan, evaluate, load_evidence
from gde.request.catalogue import Catalogue
from gde.request.planfile import RecordedPlan
from gde.runs.trusting import trust_run
from gde.store import manifest, schema
from gde.store.folder import RunFolder

PLAN = Plan(environment="corridor", agent="scripted", metrics=["success"], episodes=3)


@pytest.fixture
def run(tmp_path: Path, catalogue: Catalogue) -> Path:
    evaluate(PLAN, tmp_path / "run", catalogue)
    return tmp_path / "run"


def test_a_folder_is_there_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gde.store.folder.write_recorded", full)
    with pytest.raises(GdeError, match=r"cannot make the folder .*: No space left"):
        RunFolder.create(PLAN, tmp_path / "run", How())
    assert [*tmp_path.iterdir()] == []


def test_the_folder_of_several_runs_names_one_of_them(tmp_path: Path) -> None:
    for name in ("keys", "grids"):
        RunFolder.create(PLAN, tmp_path / "study" / name, How())
    with pytest.raises(GdeError, match=r"holds several runs: name one, e\.g\. .*grids"):
        RunFolder.open(tmp_path / "study")


def test_a_folder_that_another_process_made_meanwhile_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gde.store import folder

    def late(plan: RecordedPlan) -> str:
        (tmp_path / "run").mkdir()
        (tmp_path / "run" / "theirs").write_text("data")
        return written(plan)

    written = folder.write_recorded
    monkeypatch.setattr(folder, "write_recorded", late)
    with pytest.raises(GdeError, match="exists: choose another folder"):
        RunFolder.create(PLAN, tmp_path / "run", How())
    assert [each.name for each in tmp_path.iterdir()] == ["run"]
    assert (tmp_path / "run" / "theirs").read_text() == "data"


def trigger(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TRIGGER t AFTER INSERT ON facts BEGIN UPDATE turns SET action = 'LEFT'; END"
    )


def view(connection: sqlite3.Connection) -> None:
    connection.execute("DROP TABLE turns")
    connection.execute("CREATE VIEW turns AS SELECT * FROM episodes")


def lost(connection: sqlite3.Connection) -> None:
    connection.execute("DROP TABLE rewards")


def other(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE facts ADD COLUMN more TEXT")


@pytest.mark.parametrize("damage", [trigger, view, lost, other])
def test_a_journal_with_another_schema_is_refused(
    run: Path, damage: Callable[[sqlite3.Connection], None]
) -> None:
    with closing(sqlite3.connect(run / "run.sqlite")) as connection:
        damage(connection)
        connection.commit()
    with pytest.raises(GdeError, match="its tables are not those that gde makes"):
        load_evidence(run)


def test_the_expected_schema_is_that_of_a_new_journal() -> None:
    assert schema.mismatch(schema.VERSION, schema.expected()) == ""
    earlier = schema.mismatch(schema.VERSION - 1, schema.expected())
    assert earlier.startswith("written by an earlier gde (schema 16, here 17): use")


def test_reading_changes_nothing_in_the_folder(run: Path) -> None:
    def seen() -> dict[str, tuple[int, bytes]]:
        files = [
            each
            for each in run.iterdir()
            if each.is_file() and not each.name.endswith(("-shm", "-wal"))
        ]
        return {
            each.name: (each.stat().st_mtime_ns, each.read_bytes()) for each in files
        }

    before = seen()
    assert len(load_evidence(run).trajectories) == 3
    assert RunFolder.open(run).read_result().status == "ok"
    assert seen() == before


@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0,
    reason="an administrator may write anywhere",
)
def test_an_archived_run_is_readable(run: Path) -> None:
    run.chmod(0o555)
    try:
        assert len(load_evidence(run).trajectories) == 3
    finally:
        run.chmod(0o755)


def test_a_read_only_connection_cannot_write(run: Path) -> None:
    with (
        closing(RunFolder.open(run).journal()) as journal,
        pytest.raises(GdeError, match="readonly"),
    ):
        journal.note("plan", {})


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        '{"schema": 2}',
        '{"schema": 2, "status": 3, "measurements": 7}',
        "\x00",
    ],
)
def test_a_damaged_result_is_one_line_that_says_what_to_do(
    run: Path, content: str
) -> None:
    # As in a run that was killed before it had noted its result.
    manifest.begin(run, "result")
    (run / "result.json").write_text(content)
    with pytest.raises(
        GdeError,
        match=r"result\.json( is damaged .*`gde rescore|: wanted schema 2, got no table)",
    ):
        RunFolder.open(run).read_result()


def test_a_result_survives_its_file(run: Path) -> None:
    stored = json.loads((run / "result.json").read_text())
    result = RunFolder.open(run).read_result()
    assert [each.name for each in result.measurements] == [
        each["name"] for each in stored["measurements"]
    ]
    assert all(
        each.interval is None or isinstance(each.interval, tuple)
        for each in result.measurements
    )


def test_a_fit_of_no_layer_is_refused(run: Path) -> None:
    folder = RunFolder.open(run)
    where = {"variant": "", "layer": "deep", "position": "pre", "control": "none"}
    one = Measurement(
        name="p.score", value=1.0, unit="share", n=1, where=where, source="p"
    )
    changed = replace(folder.read_result(), measurements=(one,))
    manifest.begin(folder.path, "result")
    with folder.writing() as journal:
        folder.write_result(changed, journal)
    with pytest.raises(GdeError, match=r"result\.json is damaged .*deep"):
        folder.read_result()


def test_an_edited_plan_is_refused(run: Path, catalogue: Catalogue) -> None:
    from gde import rescore, resume

    text = (run / "plan.toml").read_text()
    (run / "plan.toml").write_text(text.replace("seed = 0", "seed = 1"))
    for refusal in (
        r"its plan was edited: look at it and trust it with `gde trust",
        r"plan\.toml was changed after the run had begun",
    ):
        for again in (rescore, resume):
            with pytest.raises(GdeError, match=refusal):
                again(run, catalogue=catalogue)
        trust_run(run)
    (run / "plan.toml").write_text(text)
    assert rescore(run, catalogue=catalogue).status == "ok"


def test_a_run_folder_says_nothing_of_how(tmp_path: Path, catalogue: Catalogue) -> None:
    how = How(concurrency=3, max_calls=99, executor="serial", reporters=["html"])
    evaluate(PLAN, tmp_path / "one", catalogue, how=how)
    evaluate(PLAN, tmp_path / "two", catalogue, how=How(reporters=["html"]))
    plans = [(tmp_path / name / "plan.toml").read_text() for name in ("one", "two")]
    ids = [RunFolder.open(tmp_path / name).recorded().id for name in ("one", "two")]
    assert len(ids[0]) == 32 and ids[0] != ids[1]
    assert plans[0].replace(ids[0], ids[1]) == plans[1]
    assert plans[0].startswith("version = 3\n")
    for word in ("executor", "report", "concurrency", "max_calls", "added"):
        assert word not in plans[0]
