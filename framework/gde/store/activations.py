"""Activations on disk: safetensors shards, indexed in run.sqlite.

Shards are per source, layer and position. Turns may have any length.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import count
from pathlib import Path

import numpy as np

from gde.data.activations import ActivationRecord, ActivationTable
from gde.data.arrays import Floats
from gde.data.grouping import grouped
from gde.store import manifest
from gde.store.arrays import read_arrays, write_activations
from gde.store.damage import decoding
from gde.store.database import Statement
from gde.store.journal import Journal
from gde.store.received import ARRAYS

SHARD_TOKENS = 12_288
"""The least rows of a full file: positions of three tokens in 4,096 turns."""
HELD_BYTES = 2**31
"""The most memory for activations that wait for their files to fill; beyond it, all are
written. All layers of GPT-OSS-20B then fill files of nine megabytes.
"""
Row = tuple[str, int]
"""(episode key, turn index)"""
Place = tuple[int, str]
"""(layer, position)"""
Kept = list[tuple[Row, Floats]]
"""Activations of one place that wait for their file."""


class ActivationStore:
    """Writes the activations of a run in order, and reads them back as tables."""

    def __init__(self, folder: Path, journal: Journal) -> None:
        self._folder = folder
        self._journal = journal

    def stored(self, source: str, layer: int, position: str) -> set[Row]:
        """The turns whose activations at a place are stored."""
        query = "SELECT episode, turn FROM activations WHERE source = ? AND layer = ? AND position = ?"
        found = self._journal.query(query, (source, layer, position))
        return {(episode, turn) for episode, turn in found}

    def places(self, source: str) -> set[Place]:
        """The layers and positions of which activations of a source are stored."""
        query = "SELECT DISTINCT layer, position FROM activations WHERE source = ?"
        found = self._journal.query(query, (source,))
        return {(layer, position) for layer, position in found}

    def write(
        self, source: str, records: Iterable[tuple[Row, ActivationRecord]]
    ) -> int:
        """Add the records of one source ("model" or "untrained"). Gives their number.

        Raises:
            RunFailed: the disk is full; the index names only complete files.
        """
        waiting: dict[Place, Kept] = {}
        tokens: Counter[Place] = Counter()
        # Files are listed once: with thousands of them, a listing takes long.
        numbers = count(len(list(self._folder.glob(f"{source}-layer*{ARRAYS}"))))
        n = 0
        held = 0

        def flush(place: Place) -> int:
            del tokens[place]
            kept = waiting.pop(place)
            return self._write_shard(source, place, next(numbers), kept)

        for row, record in records:
            n += 1
            for place, values in record.values.items():
                waiting.setdefault(place, []).append((row, values))
                tokens[place] += len(values)
                held += values.nbytes
                if tokens[place] >= SHARD_TOKENS:
                    held -= flush(place)

            # With many layers, memory runs out before any file is full.
            if held >= HELD_BYTES:
                for place in [*waiting]:
                    held -= flush(place)
        for place in [*waiting]:
            flush(place)
        return n

    def _write_shard(self, source: str, place: Place, number: int, kept: Kept) -> int:
        """Write a file of one place, then its index, which thus names only complete
        files. Gives the bytes in memory.
        """
        layer, position = place
        name = f"{source}-layer{layer}-{position}-{number:06}{ARRAYS}"
        manifest.begin(self._folder.parent, "activations")
        stacked = np.concatenate([values for _, values in kept])
        write_activations(self._folder / name, stacked)

        index: list[Statement] = []
        query = "INSERT OR REPLACE INTO activations VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        begin = 0
        for row, values in kept:
            entry = (source, layer, position, *row, name, begin, len(values))
            index.append((query, entry))
            begin += len(values)
        self._journal.write(index)
        return stacked.nbytes

    @decoding("activations")
    def table(self, source: str, layer: int, position: str) -> ActivationTable | None:
        """All activations of one place in the order of episodes, or None.

        In one file and in this order, they stay in the file: they are read once, to be
        checked, and not held. Else the table is held in memory, and filled from one
        file after the other.
        """
        query = """SELECT a.* FROM activations a JOIN episodes e USING (episode)
            WHERE source = ? AND layer = ? AND position = ? ORDER BY e.condition, e.world, e.repeat, a.turn"""
        index = self._journal.query(query, (source, layer, position))
        if not index:
            return None
        lengths = np.array([row["tokens"] for row in index], dtype=np.int64)
        begins = np.cumsum(lengths) - lengths
        values = self._gathered(index, begins.tolist(), int(lengths.sum()))
        values.flags.writeable = False
        rows = tuple((row["episode"], row["turn"]) for row in index)
        return ActivationTable(values=values, lengths=lengths, rows=rows)

    def _gathered(
        self, index: Sequence[sqlite3.Row], begins: Sequence[int], n: int
    ) -> Floats:
        """The (n, width) tokens of the index's rows, each from its beginning on."""
        parts = [*zip(begins, index, strict=True)]
        parts_of = grouped(parts, lambda part: part[1]["file"])
        first = index[0]["row"]
        gaps = [row["row"] - begin for begin, row in parts]

        # One file in the right order is a view of the mapped file, which takes no
        # memory.
        if len(parts_of) == 1 and set(gaps) == {first}:
            stored = self._read(index[0]["file"])
            return stored[first : first + n]

        values = np.empty((n, 0), dtype=np.float32)
        for name, own in parts_of.items():
            stored = self._read(name)
            if not values.size:
                values = np.empty((n, stored.shape[-1]), dtype=np.float32)
            for begin, row in own:
                part = stored[row["row"] : row["row"] + row["tokens"]]
                values[begin : begin + len(part)] = part
        return values

    def _read(self, name: str) -> Floats:
        file = self._folder / name
        manifest.check_file(self._journal, "activations", file)
        return read_arrays(file)["values"]
