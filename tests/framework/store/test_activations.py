"""Activations on disk: complete shards and an index that names only those."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from gde import ActivationRecord, EpisodeKey, RunFailed, World
from gde.store import activations
from gde.store.activations import ActivationStore, read_arrays, write_arrays
from gde.store.journal import Journal

Row = tuple[str, int]


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(Journal.create(tmp_path / "run.sqlite")) as journal:
        for world in range(12):
            key = EpisodeKey(stratum=0, world=world)
            asyncio.run(journal.begin(key, 0, World(id=f"w{world}"), {}, 9))
        yield journal


@pytest.fixture
def store(journal: Journal, tmp_path: Path) -> ActivationStore:
    return ActivationStore(tmp_path / "activations", journal)


def record(*places: tuple[int, str], value: float = 1.0) -> ActivationRecord:
    return ActivationRecord(values={place: np.full((2, 3), value, dtype=np.float32) for place in places})


def rows(n: int, value: float = 0.0) -> Iterator[tuple[Row, ActivationRecord]]:
    """Of episodes 11, 10, ... so that the order of writing is not that of the episodes."""
    for i in range(n):
        yield (f"0/{11 - i}/0", i % 2), record((1, "pre"), value=value + i)


def test_a_table_is_in_the_order_of_the_episodes(store: ActivationStore) -> None:
    assert store.write("model", rows(12)) == 12
    table = store.table("model", 1, "pre")
    assert table is not None
    assert [int(episode.split("/")[1]) for episode, _ in table.rows] == list(range(12))
    assert table.values.shape == (12, 2, 3)
    assert table.values[:, 0, 0].tolist() == list(reversed(range(12)))
    assert not table.values.flags.writeable


@pytest.mark.parametrize("shard", [1, 5, 12, 100])
def test_shards_make_no_difference(
    shard: int, store: ActivationStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activations, "SHARD_ROWS", shard)
    store.write("model", rows(12))
    table = store.table("model", 1, "pre")
    assert table is not None
    assert table.values[:, 0, 0].tolist() == list(reversed(range(12)))
    assert len(list((tmp_path / "activations").glob("*.safetensors"))) == -(-12 // shard)


def test_places_and_sources_are_kept_apart(store: ActivationStore) -> None:
    store.write("model", [(("0/0/0", 0), record((1, "pre"), (2, "post")))])
    store.write("untrained", [(("0/0/0", 0), record((1, "pre"), value=7.0))])
    untrained = store.table("untrained", 1, "pre")
    assert untrained is not None and untrained.values.max() == 7
    assert store.stored("model", 2, "post") == {("0/0/0", 0)}
    assert store.stored("model", 1, "post") == set()
    assert store.table("model", 1, "post") is None


def test_what_is_written_later_is_added(store: ActivationStore) -> None:
    store.write("model", rows(3))
    store.write("model", [(("0/0/0", 5), record((1, "pre"), value=-1.0))])
    table = store.table("model", 1, "pre")
    assert table is not None
    assert (table.rows[0], table.values[0].max()) == (("0/0/0", 5), -1)
    assert len(table.rows) == 4


def test_a_disk_that_is_full_in_the_middle_leaves_whole_shards(
    store: ActivationStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, written = activations.write_arrays, 0

    def small(path: Path, arrays: dict[str, np.ndarray]) -> None:
        nonlocal written
        written += 1
        if written == 3:
            raise RunFailed("cannot write: full")
        write(path, arrays)

    monkeypatch.setattr(activations, "SHARD_ROWS", 2)
    monkeypatch.setattr(activations, "write_arrays", small)
    with pytest.raises(RunFailed):
        store.write("model", rows(12))
    table = store.table("model", 1, "pre")
    assert table is not None
    assert len(table.rows) == len(store.stored("model", 1, "pre")) == 4


def test_arrays_come_back(tmp_path: Path) -> None:
    arrays = {"a": np.arange(6, dtype=np.float32).reshape(2, 3).T, "b": np.zeros((0, 4), dtype=np.float32)}
    write_arrays(tmp_path / "new" / "x.safetensors", arrays)
    found = read_arrays(tmp_path / "new" / "x.safetensors")
    assert found.keys() == arrays.keys()
    assert all(np.array_equal(found[name], arrays[name]) for name in arrays)
