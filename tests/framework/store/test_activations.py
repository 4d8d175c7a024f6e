"""Activations of turns of any length come back as they were written."""

import asyncio
import tracemalloc
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from gde.data.activations import ActivationRecord
from gde.data.observation import World
from gde.data.trajectory import EpisodeKey
from gde.store import activations
from gde.store.activations import ActivationStore, Row
from gde.store.arrays import read_arrays, write_arrays
from gde.store.journal import Journal

EPISODES, TURNS, WIDTH = 5, 4, 3
Records = list[tuple[Row, ActivationRecord]]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ActivationStore]:
    with closing(Journal.create(tmp_path / "run.sqlite")) as journal:
        for world in range(EPISODES):
            key = EpisodeKey(condition=0, world=world)
            asyncio.run(journal.begin(key, 0, World(id=f"w{world}"), {}, TURNS))
        yield ActivationStore(tmp_path / "activations", journal)


def records(most: int) -> Records:
    """One to `most` tokens a turn, the episodes in no order; every other turn has a
    position "post" as well.
    """
    rng = np.random.default_rng(0)
    made: Records = []
    for episode in rng.permutation(EPISODES):
        for turn in range(TURNS):
            positions = ("pre", "post") if turn % 2 else ("pre",)
            values = {
                (layer, position): rng.normal(
                    size=(int(rng.integers(1, most + 1)), WIDTH)
                ).astype(np.float32)
                for layer in (0, 2)
                for position in positions
            }
            made.append(((f"0/{episode}/0", turn), ActivationRecord(values=values)))
    return made


@pytest.mark.parametrize("most", [1, 7])
@pytest.mark.parametrize("shard", [1, 10, 10_000])
def test_every_row_comes_back_in_the_order_of_the_episodes(
    store: ActivationStore, monkeypatch: pytest.MonkeyPatch, most: int, shard: int
) -> None:
    monkeypatch.setattr(activations, "SHARD_TOKENS", shard)
    written = records(most)
    assert store.write("model", written) == len(written)
    for layer in (0, 2):
        for position in ("pre", "post"):
            table = store.table("model", layer, position)
            expected = sorted(
                (row, one.values[layer, position])
                for row, one in written
                if (layer, position) in one.values
            )
            assert table is not None
            assert table.rows == tuple(row for row, _ in expected)
            assert table.lengths.tolist() == [len(values) for _, values in expected]
            assert np.array_equal(
                table.values[:], np.concatenate([values for _, values in expected])
            )
            assert not table.values[:].flags.writeable
            assert store.stored("model", layer, position) == set(table.rows)


def test_files_are_begun_by_the_number_of_tokens(
    store: ActivationStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activations, "SHARD_TOKENS", 30)
    long = ActivationRecord(
        values={(0, "pre"): np.zeros((10, WIDTH), dtype=np.float32)}
    )
    store.write(
        "model",
        [
            ((f"0/{world}/0", turn), long)
            for world in range(EPISODES)
            for turn in range(TURNS)
        ],
    )
    assert len([*store._folder.iterdir()]) == 7  # 200 tokens, of which 30 fill a file


def test_files_are_listed_once_however_many_are_written(
    store: ActivationStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = []
    glob = Path.glob

    def counting(folder: Path, pattern: str) -> Iterator[Path]:
        listed.append(pattern)
        return glob(folder, pattern)

    monkeypatch.setattr(activations, "SHARD_TOKENS", 1)
    monkeypatch.setattr(Path, "glob", counting)
    store.write("model", records(1))
    store.write("untrained", records(1))
    assert len([*store._folder.iterdir()]) == 2 * 2 * EPISODES * (TURNS + TURNS // 2)
    assert len(listed) == 2


def test_numbers_of_16_bits_take_16_bits_and_come_back_exactly(
    store: ActivationStore,
) -> None:
    rng = np.random.default_rng(0)
    drawn = rng.normal(size=(3, WIDE)).astype(np.float32)
    short = torch.from_numpy(drawn).bfloat16().float().numpy()
    record = ActivationRecord(values={(0, "pre"): short, (1, "pre"): drawn})
    store.write("model", [(("0/0/0", 0), record)])

    sizes = [file.stat().st_size for file in sorted(store._folder.iterdir())]
    assert sizes[0] < 0.51 * sizes[1]
    for layer, written in enumerate((short, drawn)):
        table = store.table("model", layer, "pre")
        assert table is not None and table.values[:].dtype == np.float32
        assert np.array_equal(table.values[:], written)
        assert not table.values[:].flags.writeable

    # Other software reads the type under its own name.
    (file, _) = sorted(store._folder.iterdir())
    assert load_file(file)["values"].dtype == torch.bfloat16


def test_a_second_writing_adds_and_other_sources_are_apart(
    store: ActivationStore,
) -> None:
    written = records(4)
    store.write("model", written[:7])
    store.write("model", written[7:])
    store.write("untrained", written[:2])
    whole, untrained = (
        store.table("model", 0, "pre"),
        store.table("untrained", 0, "pre"),
    )
    assert whole is not None and len(whole.rows) == len(written)
    assert untrained is not None and len(untrained.rows) == 2
    assert store.table("bags", 0, "pre") is None


LAYERS, WIDE = 12, 4096
# No number of bfloat16, so that files are mapped.
TENTH = 0.1
LAYER_BYTES = EPISODES * TURNS * 3 * WIDE * 4


def layered() -> Iterator[tuple[Row, ActivationRecord]]:
    """Three tokens a turn at all layers, made as they are asked for."""
    for world in range(EPISODES):
        for turn in range(TURNS):
            values = {
                (layer, "pre"): np.full((3, WIDE), layer + TENTH, dtype=np.float32)
                for layer in range(LAYERS)
            }
            yield (f"0/{world}/0", turn), ActivationRecord(values=values)


@pytest.mark.parametrize(
    ("shard", "least", "most"),
    [(10_000, 0, 1), (9, 1, 2)],
    ids=["one file", "many files"],
)
def test_a_sweep_of_all_layers_never_holds_more_than_one(
    store: ActivationStore,
    monkeypatch: pytest.MonkeyPatch,
    shard: int,
    least: float,
    most: float,
) -> None:
    monkeypatch.setattr(activations, "SHARD_TOKENS", shard)
    store.write("model", layered())

    def peak(layers: int) -> int:
        tracemalloc.start()
        try:
            for layer in range(layers):
                table = store.table("model", layer, "pre")
                assert (
                    table is not None
                    and (table.concatenated() == np.float32(layer + TENTH)).all()
                )
                del table
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    alone, swept = peak(1), peak(LAYERS)
    assert (
        least * LAYER_BYTES <= alone < (most - 0.5) * LAYER_BYTES
    )  # what the comparison takes included
    assert swept < alone + LAYER_BYTES / 4


def test_of_many_files_only_what_is_asked_for_is_held(
    store: ActivationStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activations, "SHARD_TOKENS", 9)
    store.write("model", layered())
    table = store.table("model", 3, "pre")
    assert table is not None
    chosen = np.array([EPISODES * TURNS - 1, 0])
    tracemalloc.start()
    try:
        assert (table.concatenated(chosen) == np.float32(3 + TENTH)).all()
        assert tracemalloc.get_traced_memory()[1] < LAYER_BYTES / 2
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("shard", [1, 10, 10_000])
@pytest.mark.parametrize("half", [True, False])
def test_some_turns_of_any_files_are_those_of_the_whole(
    store: ActivationStore, monkeypatch: pytest.MonkeyPatch, shard: int, half: bool
) -> None:
    monkeypatch.setattr(activations, "SHARD_TOKENS", shard)
    written: Records = []
    for row, record in records(7):
        values = {}
        for place, each in record.values.items():
            short = torch.from_numpy(each).bfloat16().float().numpy()
            values[place] = short if half else each
        written.append((row, ActivationRecord(values=values)))
    store.write("model", written)
    table = store.table("model", 0, "pre")
    assert table is not None
    turns = np.random.default_rng(1).permutation(len(table.rows))[:9]
    np.testing.assert_array_equal(table.padded(turns), table.padded()[turns])
    by_row = {row: record.values[0, "pre"] for row, record in written}
    for turn, found in zip(turns, table.padded(turns), strict=True):
        own = by_row[table.rows[turn]]
        np.testing.assert_array_equal(found[: len(own)], own)
        assert np.isnan(found[len(own) :]).all()


def test_one_file_in_order_is_read_as_it_is_used(store: ActivationStore) -> None:
    store.write("model", layered())
    table = store.table("model", 3, "pre")
    assert table is not None
    tracemalloc.start()
    try:
        assert (table.concatenated()[:, :5] == np.float32(3 + TENTH)).all()
        assert tracemalloc.get_traced_memory()[1] < LAYER_BYTES / 100
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", ["f8", "f4", "f2", "i8", "i4", "u1", "?"])
def test_arrays_of_every_type_come_back_as_they_were(tmp_path: Path, kind: str) -> None:
    arrays = {
        "a": np.arange(6).reshape(2, 3).astype(kind),
        "empty": np.zeros((0, 4), dtype=kind),
    }
    write_arrays(tmp_path / "all.safetensors", arrays)
    found = read_arrays(tmp_path / "all.safetensors")
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype and found[name].shape == array.shape
        assert (found[name] == array).all() and not found[name].flags.writeable


def test_what_waits_for_its_file_is_bounded(
    store: ActivationStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activations, "HELD_BYTES", 2 * LAYER_BYTES)
    tracemalloc.start()
    try:
        store.write("model", layered())
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < LAYERS * LAYER_BYTES / 2
    for layer in range(LAYERS):
        table = store.table("model", layer, "pre")
        assert (
            table is not None
            and len(table.rows) == EPISODES * TURNS
            and (table.values[:] == np.float32(layer + TENTH)).all()
        )
