"""A byte that has changed is found or harmless, and what is gone is missed."""

import os
import random
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from forging import forge
from whole_plan import whole_plan

from gde import (
    GdeError,
    How,
    Plan,
    evaluate,
    load_evidence,
    probe,
    rescore,
    resume,
)
from gde.errors import RunFolderError
from gde.request.catalogue import Catalogue, load_plugins
from gde.runs.exporting import export, summaries
from gde.runs.verifying import verify
from gde.store import manifest
from gde.store.arrays import read_arrays, write_arrays
from gde.store.folder import RunFolder
from gde.store.journal import Journal
from gde.store.trust import trust

FLIPS, SEED = int(os.environ.get("GDE_FAULTS", 20)), int(os.environ.get("GDE_SEED", 1))
"""More of them in the nox session `faults`."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with all that a run can have: turns, answers, activations, probes, rewards,
    a result.
    """
    run = tmp_path_factory.mktemp("checksums") / "run"
    catalogue = Catalogue(load_plugins(modules=("gde.testing.plugin", "odd_parts")))
    evaluate(whole_plan(6), run, catalogue)
    with closing(
        sqlite3.connect(run / "run.sqlite")
    ) as connection:  # all in one file, as it is sent around
        connection.execute("PRAGMA journal_mode=DELETE")
    return run


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "run"))


def raw(run: Path, *statements: str) -> None:
    """Change the file behind the back of gde."""
    with closing(sqlite3.connect(run / "run.sqlite")) as connection, connection:
        for each in statements:
            connection.execute(each)


@pytest.mark.parametrize("command", [load_evidence, rescore])
def test_a_schema_with_broken_text_is_refused(
    run: Path, command: Callable[[Path], object]
) -> None:
    path = run / "run.sqlite"
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"CREATE TABLE facts", b"CREATE \xe1ABLE facts"))
    with pytest.raises(GdeError, match="the file is damaged"):
        command(run)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE turns SET reward = reward + 1 WHERE turn = 1",
        "UPDATE calls SET text = 'LEFT' WHERE scope LIKE '0/%'",
        "UPDATE episodes SET labels = '{}'",
        "UPDATE turns SET digest = x'00' WHERE turn = 1",
        "DELETE FROM turns WHERE turn = (SELECT max(turn) FROM turns)",
        "DELETE FROM calls WHERE turn = 0",
        "DELETE FROM turns WHERE turn = 0",
    ],
)
def test_a_changed_episode_is_named_by_whoever_reads_or_goes_on(
    change: str, run: Path, catalogue: Catalogue
) -> None:
    raw(run, change)
    (run / "manifest.json").unlink()
    for use in (
        lambda: list(load_evidence(run).trajectories),
        lambda: resume(run, catalogue),
        lambda: rescore(run, catalogue=catalogue),
    ):
        with pytest.raises(RunFolderError, match=r"episode 0/./0 is not as it was"):
            use()
    assert any("episode 0/0/0 is not as" in fault for fault in verify(run))


def test_a_turn_whose_text_is_no_text_is_named(run: Path, catalogue: Catalogue) -> None:
    """SQLite cannot hand it to the function that computes digests."""
    raw(run, "UPDATE turns SET observation = CAST(x'ff' AS TEXT) WHERE turn = 1")
    with pytest.raises(RunFolderError, match=r"episode 0/./0 is not as it was"):
        rescore(run, catalogue=catalogue)
    assert any("episode 0/0/0 is not as" in fault for fault in verify(run))


def test_turns_that_change_places_are_missed(run: Path) -> None:
    """Each row by itself is as it was written."""
    swap = "UPDATE turns SET turn = {} WHERE episode = '0/0/0' AND turn = {}"
    raw(run, swap.format(99, 0), swap.format(0, 1), swap.format(1, 99))
    with pytest.raises(RunFolderError, match="episode 0/0/0 is not as"):
        list(load_evidence(run).trajectories)


def test_an_answer_to_a_part_is_checked_as_it_is_read(run: Path) -> None:
    raw(run, "UPDATE calls SET text = 'LEFT' WHERE scope LIKE '% %'")
    with pytest.raises(
        RunFolderError, match="an answer to reward_model progress-judge is"
    ):
        export(run, "calls", StringIO())


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("UPDATE rewards SET value = value + 0.5 WHERE turn = 0", "rewards"),
        ("DELETE FROM rewards WHERE turn = 0", "rewards"),
        ("UPDATE probes SET report = replace(report, 'n_train', 'n_test')", "probes"),
        ("UPDATE facts SET value = '7' WHERE name = 'episodes'", "facts"),
        ("DELETE FROM episodes WHERE world = 1", "episodes"),
    ],
)
def test_tables_are_checked_as_they_are_read(
    change: str, fault: str, run: Path
) -> None:
    raw(run, change)
    with pytest.raises(RunFolderError, match=f"{fault} is not as gde wrote it: "):
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
    arrays = []
    with closing(RunFolder.open(run).journal()) as journal:
        for file in sorted(run.glob("*/*.safetensors")):
            # As stages do.
            manifest.check_file(journal, file.parent.name, file)
            arrays.append(sorted((k, v.tolist()) for k, v in read_arrays(file).items()))
    stored = replace(RunFolder.open(run).read_result(), run="")
    return [*found.trajectories], traces, reports, arrays, summaries(run), stored


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


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was killed: much of it lies in the log beside the database."""
    going = tmp_path_factory.mktemp("killed") / "run"
    plan = Plan(
        environment="corridor", agent="scripted", metrics=["success"], episodes=6
    )
    evaluate(
        plan,
        going,
        Catalogue(load_plugins(modules=("gde.testing.plugin", "odd_parts"))),
    )
    with closing(Journal.open(going / "run.sqlite")) as journal:
        journal.forget(["0/4/0", "0/5/0"])
        left = going.with_name("left")
        shutil.copytree(going, left)
    for name in ("result.json", "manifest.json"):
        (left / name).unlink()
    assert (left / "run.sqlite-wal").stat().st_size > 10_000
    return left


@pytest.mark.timeout(0)
@pytest.mark.parametrize("damage", ["flip", "cut"])
def test_damage_of_a_killed_run_is_found_or_played_again(
    damage: str, killed: Path, tmp_path: Path, catalogue: Catalogue
) -> None:
    """What is read is as it was; what is not there any more is played again."""
    rng, found = random.Random(SEED), Counter[str]()
    assert len(load_evidence(killed).trajectories) == 4
    whole = tmp_path / "whole"
    shutil.copytree(killed, whole)
    resume(whole, catalogue)
    right = list(load_evidence(whole).trajectories)
    played = {str(one.key): one for one in right}
    names = ("run.sqlite", "run.sqlite-wal", "run.sqlite-wal", "plan.toml")
    for number in range(FLIPS if damage == "flip" else max(5, FLIPS // 10)):
        run = tmp_path / "run"
        shutil.copytree(killed, run)
        path = run / rng.choice(names)
        at, content = damaged(path.read_bytes(), damage, rng)
        path.write_bytes(content)
        # As its owner reads it, and as others do.
        if number % 2:
            trust(run, (run / "plan.toml").read_bytes(), How())
        try:
            read = load_evidence(run).trajectories
            assert all(one == played[str(one.key)] for one in read), (path, at)
            if number % 2:
                assert resume(run, catalogue).status == "ok"
                assert list(load_evidence(run).trajectories) == right, (path, at)
            found["harmless" if len(read) == 4 else "played again"] += 1
        except GdeError as error:
            assert "\n" not in str(error)
            found["refused"] += 1
        shutil.rmtree(run)
    assert found["played again"] > 0
    print(f"killed, {damage}, seed {SEED}: {dict(found)}")  # noqa: T201 - for docs/faults.md


def test_an_unfinished_episode_that_is_damaged_begins_anew(
    killed: Path, tmp_path: Path, catalogue: Catalogue
) -> None:
    run = Path(shutil.copytree(killed, tmp_path / "run"))
    whole = list(load_evidence(run).trajectories)
    begun = "UPDATE episodes SET ending = NULL, turns = NULL WHERE episode = '0/3/0'"
    forge(run, begun, "DELETE FROM turns WHERE episode = '0/3/0' AND turn > 2")
    raw(run, "UPDATE turns SET action = 'LEFT' WHERE episode = '0/3/0' AND turn = 1")
    assert verify(run) == (
        "run.sqlite: episode 0/3/0 is not as it was written; the file is damaged:"
        " restore it from a copy",
    )
    assert resume(run, catalogue).failures == ()
    assert list(load_evidence(run).trajectories)[:4] == whole


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("DELETE FROM episodes WHERE world = 1", "episodes"),
        ("DELETE FROM activations WHERE turn = 0", "activations"),
        ("UPDATE requests SET answered = 0", "requests"),
        ("DELETE FROM calls WHERE turn = 0", "calls"),
    ],
)
def test_the_doctor_names_what_does_not_fit(change: str, fault: str, run: Path) -> None:
    assert verify(run) == ()
    raw(run, change)
    assert any(each.startswith(f"run.sqlite: {fault} is") for each in verify(run))


def test_an_older_journal_is_missed(run: Path, catalogue: Catalogue) -> None:
    older = (run / "run.sqlite").read_bytes()
    rescore(run, ["length"], catalogue)
    for log in run.glob("run.sqlite-*"):
        log.unlink()
    (run / "run.sqlite").write_bytes(older)
    assert any("facts is not as gde wrote it" in each for each in verify(run))


def flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)


def test_arrays_and_rewards_are_made_anew(run: Path, catalogue: Catalogue) -> None:
    whole = read(run)
    flip(next((run / "activations").glob("*.safetensors")))
    flip(next((run / "probes").glob("*.decoded.safetensors")))
    raw(run, "UPDATE rewards SET value = value + 0.5 WHERE turn = 0")
    with pytest.raises(
        GdeError, match=r"rewards is not as gde wrote it: make .* resume"
    ):
        probe(run, catalogue=catalogue)
    resume(run, catalogue)
    assert verify(run) == ()
    assert read(run) == whole


def test_fits_are_made_anew_by_a_probe_without_a_name(
    run: Path, catalogue: Catalogue
) -> None:
    whole = read(run)
    flip(next((run / "probes").glob("*.decoded.safetensors")))
    with pytest.raises(GdeError, match=r"is not as gde wrote it: make .* `gde probe"):
        load_evidence(run)
    with pytest.raises(GdeError, match=r"is not as gde wrote it: make .* `gde probe"):
        probe(run, ["where"], catalogue)
    assert probe(run, catalogue=catalogue).status == "ok"
    assert verify(run) == ()
    assert read(run) == whole


def test_a_result_is_made_again(run: Path, catalogue: Catalogue) -> None:
    result = RunFolder.open(run).read_result()
    path = run / "result.json"
    path.write_text(path.read_text().replace('"value": 1.0', '"value": 0.5'))
    with pytest.raises(RunFolderError, match=r"make it again with `gde rescore"):
        RunFolder.open(run).read_result()
    assert rescore(run, catalogue=catalogue).measurements == result.measurements
    assert verify(run) == ()


@pytest.mark.parametrize("content", ["{", "[]", '{"rewards": {}}', "null"])
def test_a_damaged_manifest_is_refused(
    content: str, run: Path, catalogue: Catalogue
) -> None:
    (run / "manifest.json").write_text(content)
    with pytest.raises(RunFolderError, match=r"manifest.json is damaged .* delete it"):
        load_evidence(run)
    (run / "manifest.json").unlink()
    resume(run, catalogue)
    assert verify(run) == ()


@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_digests_do_not_depend_on_who_writes(
    executor: str, tmp_path: Path, catalogue: Catalogue
) -> None:
    def ends(run: Path) -> list[object]:
        with closing(RunFolder.open(run).journal()) as journal:
            query = "SELECT digest FROM episodes ORDER BY world"
            return [row["digest"] for row in journal.query(query)]

    plan = Plan(environment="corridor", agent="random", metrics=["success"], episodes=9)
    evaluate(plan, tmp_path / "one", catalogue)
    how = How(executor=executor, concurrency=4)
    evaluate(plan, tmp_path / "several", catalogue, how=how)
    assert ends(tmp_path / "one") == ends(tmp_path / "several")
    assert len(set(ends(tmp_path / "one"))) == 9
