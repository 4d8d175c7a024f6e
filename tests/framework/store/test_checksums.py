"""A byte that has changed is found or harmless, and rows that are gone are missed."""

import os
import random
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from whole_plan import whole_plan

from gde import GdeError, Plan, evaluate, load_evidence, rescore, resume
from gde.errors import RunFolderError
from gde.request.catalogue import Catalogue, load_plugins
from gde.runs.exporting import summaries
from gde.runs.verifying import verify
from gde.store.arrays import read_arrays, write_arrays
from gde.store.folder import RunFolder
from gde.store.journal import Journal
from gde.store.ownership import mark

FLIPS, SEED = int(os.environ.get("GDE_FAULTS", 20)), int(os.environ.get("GDE_SEED", 1))
"""More of them in the nox session `faults`."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with all that a run can have: turns, answers, activations, probes, rewards,
    a result.
    """
    run = tmp_path_factory.mktemp("checksums") / "run"
    catalogue = Catalogue(load_plugins(modules=("gde.testing.plugin",)))
    evaluate(whole_plan(4), run, catalogue)
    with closing(
        sqlite3.connect(run / "run.sqlite")
    ) as connection:  # all in one file, as it is sent around
        connection.execute("PRAGMA journal_mode=DELETE")
    return run


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    run = Path(shutil.copytree(whole, tmp_path / "run"))
    mark(run)
    return run


def raw(run: Path, *statements: str) -> None:
    """Change the file behind the back of gde."""
    with closing(sqlite3.connect(run / "run.sqlite")) as connection, connection:
        for each in statements:
            connection.execute(each)


def test_every_row_is_signed(run: Path) -> None:
    with closing(Journal.open(run / "run.sqlite", write=False)) as journal:
        assert journal.faults() == []
        for table in ("facts", "episodes", "turns", "calls"):
            assert (
                journal.query(f"SELECT count(*) AS n FROM {table} WHERE checksum <> 0")[
                    0
                ]["n"]
                > 0
            )


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("UPDATE turns SET reward = reward + 1 WHERE turn = 1", "a row of turns"),
        ("UPDATE calls SET text = 'LEFT'", "a row of calls"),
        ("UPDATE episodes SET labels = '{}'", "a row of episodes"),
        ("UPDATE facts SET value = '7' WHERE name = 'episodes'", "a row of facts"),
        (
            "DELETE FROM turns WHERE turn = (SELECT max(turn) FROM turns)",
            "turns .*of episode 0/./0 are missing",
        ),
    ],
)
def test_what_was_changed_behind_its_back_is_refused(
    change: str, fault: str, run: Path, catalogue: Catalogue
) -> None:
    raw(run, change)
    for use in (
        lambda: resume(run, catalogue),
        lambda: rescore(run, catalogue=catalogue),
    ):
        with pytest.raises(
            RunFolderError,
            match=f"run.sqlite: .*{fault}.*; the file is damaged: restore it",
        ):
            use()
    with closing(Journal.open(run / "run.sqlite", write=False)) as journal:
        assert any("turns" in fault or "row of" in fault for fault in journal.faults())


def test_turns_and_answers_are_checked_as_they_are_read(run: Path) -> None:
    raw(run, "UPDATE turns SET action = 'LEFT' WHERE turn = 0")
    with pytest.raises(RunFolderError, match="a row of turns"):
        list(load_evidence(run).trajectories)


def test_answers_that_are_gone_are_missed(run: Path) -> None:
    raw(run, "DELETE FROM calls WHERE turn = 0")
    with pytest.raises(RunFolderError, match="turns or answers of episode"):
        list(load_evidence(run).trajectories)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("UPDATE rewards SET value = value + 0.5 WHERE turn = 0", "a row of rewards"),
        (
            "DELETE FROM rewards WHERE turn = 0",
            "rows of rewards are missing",
        ),
        (
            "UPDATE probes SET report = replace(report, 'n_train', 'n_test')",
            "a row of probes",
        ),
    ],
)
def test_rewards_and_probes_are_checked_as_they_are_read(
    change: str, fault: str, run: Path
) -> None:
    raw(run, change)
    with pytest.raises(RunFolderError, match=fault):
        load_evidence(run)


def read(run: Path) -> tuple[object, ...]:
    """What users see of a run."""
    found = load_evidence(run)
    traces = [
        (one.model, one.episode, one.values.tolist(), one.failure)
        for one in found.reward_traces
    ]
    reports = [
        (one.fit, one.measurements, one.rows, one.decoded.tolist())
        for one in found.probe_reports
    ]
    readouts = [
        sorted((k, v.tolist()) for k, v in read_arrays(f).items())
        for f in sorted(run.glob("*/*.safetensors"))
    ]
    stored = replace(RunFolder.open(run).read_result(), run="")
    return [*found.trajectories], traces, reports, readouts, summaries(run), stored


def doctor(run: Path) -> tuple[str, ...]:
    """What `gde doctor` says."""
    try:
        return verify(run)
    except GdeError as error:
        return (str(error),)


def damaged(data: bytes, damage: str, rng: random.Random) -> tuple[int, bytes]:
    """The place of a flipped bit, or of a cut, and what is left."""
    at = rng.randrange(len(data))
    if damage == "cut":
        return at, data[:at]
    changed = bytearray(data)
    changed[at] ^= 1 << rng.randrange(8)
    return at, bytes(changed)


@pytest.mark.timeout(0)
@pytest.mark.parametrize("damage", ["flip", "cut"])
def test_damage_is_found_or_harmless(damage: str, run: Path) -> None:
    rng, right, found = random.Random(SEED), read(run), Counter[bool]()
    whole = {
        path: path.read_bytes() for path in sorted(run.rglob("*")) if path.is_file()
    }
    files = [path for path in whole if whole[path]]
    assert {"plan.toml", "result.json", "report.html"} <= {path.name for path in files}
    journal = run / "run.sqlite"
    for _ in range(FLIPS if damage == "flip" else max(5, FLIPS // 10)):
        path = rng.choice([journal, journal, rng.choice(files)])
        at, content = damaged(whole[path], damage, rng)
        path.write_bytes(content)
        faults = doctor(run)
        try:
            assert read(run) == right, (path, at)
            assert faults or path.name != "report.html", at
            found[bool(faults)] += 1
        except GdeError as error:
            assert "\n" not in str(error)
            assert faults, (path, at, error)
            found[True] += 1

        # Reading changes nothing, but SQLite may have taken a flipped bit for a log.
        path.write_bytes(whole[path])
        for each in run.iterdir():
            if each.is_file() and each not in whole:
                each.unlink()
    assert read(run) == right
    assert found[True] > 0
    print(f"{damage}, seed {SEED}: {found[True]} found, {found[False]} harmless")  # noqa: T201 - for docs/faults.md


def test_damage_of_what_is_computed_from_is_found_or_harmless(
    whole: Path, tmp_path: Path, catalogue: Catalogue
) -> None:
    """A rescore writes, so each has a copy of its own."""
    rng, found = random.Random(SEED), Counter[bool]()
    right = RunFolder.open(whole).read_result().measurements
    for number in range(20):
        run = Path(shutil.copytree(whole, tmp_path / str(number)))
        mark(run)
        path = run / "run.sqlite"
        at, content = damaged(path.read_bytes(), "flip", rng)
        path.write_bytes(content)
        try:
            assert rescore(run, catalogue=catalogue).measurements == right, at
            found[False] += 1
        except GdeError as error:
            assert "\n" not in str(error)
            found[True] += 1
    assert found[True] > 0


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-3], lambda data: data[:40], lambda data: b""]
)
def test_arrays_that_are_cut_are_refused(
    damage: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    path = tmp_path / "a.safetensors"
    write_arrays(path, {"values": np.arange(6, dtype=np.float32)})
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(RunFolderError, match="the file is damaged: restore it"):
        read_arrays(path)


def test_no_flipped_bit_of_arrays_goes_unnoticed(tmp_path: Path) -> None:
    path, rng = tmp_path / "a.safetensors", random.Random(0)
    arrays = {
        "values": np.arange(6, dtype=np.float32),
        "other": np.ones((2, 3), dtype=np.float32),
    }
    write_arrays(path, arrays)
    original = path.read_bytes()
    for _ in range(300):
        data = bytearray(original)
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
        try:
            found = read_arrays(path)
        except RunFolderError:
            continue
        assert found.keys() == arrays.keys()
        assert all(np.array_equal(found[name], arrays[name]) for name in arrays)


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was killed: much of it lies in the log beside the database."""
    going = tmp_path_factory.mktemp("killed") / "run"
    plan = Plan(
        environment="corridor", agent="scripted", metrics=["success"], episodes=6
    )
    evaluate(plan, going, Catalogue(load_plugins(modules=("gde.testing.plugin",))))
    with closing(Journal.open(going / "run.sqlite")) as journal:
        for episode in ("0/4/0", "0/5/0"):
            for table in ("turns", "episodes"):
                query = f"DELETE FROM {table} WHERE episode = ?"
                journal.write([(query, (episode,))])
        left = going.with_name("left")
        shutil.copytree(going, left)
    (left / "result.json").unlink()
    assert (left / "run.sqlite-wal").stat().st_size > 10_000
    return left


@pytest.mark.timeout(0)
@pytest.mark.parametrize("damage", ["flip", "cut"])
def test_damage_of_a_killed_run_is_found_or_harmless(
    damage: str, killed: Path, tmp_path: Path
) -> None:
    rng, found = random.Random(SEED), Counter[bool]()
    right = list(load_evidence(killed).trajectories)
    assert len(right) == 4
    names = ("run.sqlite", "run.sqlite-wal", "run.sqlite-wal", "run.head", "plan.toml")
    for number in range(FLIPS if damage == "flip" else max(5, FLIPS // 10)):
        run = tmp_path / "run"
        shutil.copytree(killed, run)
        # As its owner reads it, and as others do.
        if number % 2:
            mark(run)
        path = run / rng.choice(names)
        at, content = damaged(path.read_bytes(), damage, rng)
        path.write_bytes(content)
        try:
            assert list(load_evidence(run).trajectories) == right, (path, at)
            found[False] += 1
        except GdeError as error:
            assert "\n" not in str(error)
            found[True] += 1
        shutil.rmtree(run)
    assert found[True] > 0
    told = f"{found[True]} found, {found[False]} harmless"
    print(f"killed, {damage}, seed {SEED}: {told}")  # noqa: T201 - for docs/faults.md


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("DELETE FROM measurements WHERE rowid = 1", "rows of measurements"),
        ("UPDATE measurements SET value = 0.7", "a row of measurements"),
        ("INSERT INTO failures VALUES ('probe', 'a', 'b', 7)", "rows of failures"),
        ("DELETE FROM episodes WHERE world = 1", "rows of episodes"),
        ("DELETE FROM activations WHERE turn = 0", "rows of activations"),
        ("DELETE FROM files", "rows of files"),
    ],
)
def test_rows_that_are_gone_or_new_are_missed_by_every_reader(
    change: str, fault: str, run: Path
) -> None:
    raw(run, change)
    for use in (
        load_evidence,
        summaries,
        lambda run: RunFolder.open(run).read_result(),
    ):
        if "a row of" not in fault:
            with pytest.raises(RunFolderError, match=f"{fault} are missing"):
                use(run)
    assert any(fault in each for each in verify(run))


def test_an_altered_report_and_another_array_are_noticed(run: Path) -> None:
    report = run / "report.html"
    report.write_text(report.read_text().replace("corridor", "maze"))
    array = next((run / "activations").glob("*.safetensors"))
    values = read_arrays(array)["values"]
    write_arrays(array, {"values": values + 1})
    faults = "\n".join(verify(run))
    assert "report.html is not the file that gde wrote" in faults
    assert f"{array.name} is not the file that gde wrote" in faults
