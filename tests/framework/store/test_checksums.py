"""A byte that has changed is found or harmless, and rows that are gone are missed."""

import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from gde import Choice, GdeError, Plan, evaluate, load_evidence, rescore, resume
from gde.errors import RunFolderError
from gde.request.catalogue import Catalogue
from gde.request.plugins import load_plugins
from gde.runs.exporting import summaries
from gde.store.activations import read_arrays, write_arrays
from gde.store.journal import Journal

FLIPS = int(os.environ.get("GDE_FAULTS", 20))
"""More of them in the nox session `faults`."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("checksums") / "run"
    catalogue = Catalogue(load_plugins(modules=("gde.testing.plugin",)))
    plan = Plan(environment=Choice(name="corridor"), agent=Choice(name="asking"), metrics=["success"], episodes=4)
    evaluate(plan, run, catalogue)
    with closing(sqlite3.connect(run / "run.sqlite")) as connection:  # all in one file, as it is sent around
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


def test_every_row_is_signed(run: Path) -> None:
    with closing(Journal.open(run / "run.sqlite", write=False)) as journal:
        assert journal.faults() == []
        for table in ("facts", "episodes", "turns", "calls"):
            assert journal.query(f"SELECT count(*) AS n FROM {table} WHERE checksum <> 0")[0]["n"] > 0


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("UPDATE turns SET reward = reward + 1 WHERE turn = 1", "a row of turns"),
        ("UPDATE calls SET text = 'LEFT'", "a row of calls"),
        ("UPDATE episodes SET labels = '{}'", "a row of episodes"),
        ("UPDATE facts SET value = '7' WHERE name = 'episodes'", "a row of facts"),
        ("DELETE FROM turns WHERE turn = (SELECT max(turn) FROM turns)", "turns .*of episode 0/./0 are missing"),
    ],
)
def test_what_was_changed_behind_its_back_is_refused(change: str, fault: str, run: Path, catalogue: Catalogue) -> None:
    raw(run, change)
    for use in (lambda: resume(run, catalogue), lambda: rescore(run, catalogue=catalogue)):
        with pytest.raises(RunFolderError, match=f"run.sqlite: .*{fault}.*; the file is damaged: take a copy"):
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


def read(run: Path, catalogue: Catalogue) -> tuple[object, ...]:
    """What users see of a run."""
    return [*load_evidence(run).trajectories], summaries(run), rescore(run, catalogue=catalogue).measurements


@pytest.mark.parametrize("damage", ["flip", "cut"])
def test_damage_is_found_or_harmless(damage: str, whole: Path, run: Path, catalogue: Catalogue) -> None:
    rng, path = random.Random(1), run / "run.sqlite"
    right = read(whole, catalogue)
    original = path.read_bytes()
    found = 0
    for _ in range(FLIPS if damage == "flip" else max(5, FLIPS // 10)):
        data = bytearray(original)
        at = rng.randrange(len(data))
        data[at] ^= 1 << rng.randrange(8)
        path.write_bytes(data if damage == "flip" else original[:at])
        for extra in run.glob("run.sqlite-*"):
            extra.unlink()
        try:
            assert read(run, catalogue) == right
        except GdeError as error:
            assert "\n" not in str(error)
            found += 1
    assert found > 0


@pytest.mark.parametrize("damage", [lambda data: data[:-3], lambda data: data[:40], lambda data: b""])
def test_arrays_that_are_cut_are_refused(damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    write_arrays(path, {"values": np.arange(6, dtype=np.float32)})
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(RunFolderError, match="the file is damaged: take a copy"):
        read_arrays(path)


def test_no_flipped_bit_of_arrays_goes_unnoticed(tmp_path: Path) -> None:
    path, rng = tmp_path / "a.safetensors", random.Random(0)
    arrays = {"values": np.arange(6, dtype=np.float32), "other": np.ones((2, 3), dtype=np.float32)}
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
