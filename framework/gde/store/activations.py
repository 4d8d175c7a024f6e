"""Activations on disk: safetensors shards, indexed in run.sqlite.

Shards are per source, layer and position. Turns may have any length.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gde.data.activations import ActivationRecord, ActivationTable, Stored
from gde.data.arrays import Floats, Indices
from gde.store import manifest
from gde.store.arrays import as_floats, map_arrays, write_activations
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

        They stay in their files, which are read once to be checked, and then as rows
        are used.
        """
        query = """SELECT a.* FROM activations a JOIN episodes e USING (episode)
            WHERE source = ? AND layer = ? AND position = ? ORDER BY e.condition, e.world, e.repeat, a.turn"""
        index = self._journal.query(query, (source, layer, position))
        if not index:
            return None
        lengths = np.array([row["tokens"] for row in index], dtype=np.int64)
        rows = tuple((row["episode"], row["turn"]) for row in index)
        return ActivationTable(values=self._stored(index), lengths=lengths, rows=rows)

    def _stored(self, index: Sequence[sqlite3.Row]) -> Stored:
        """The (S, width) tokens of the index's rows."""
        names = [*dict.fromkeys(row["file"] for row in index)]
        number = {name: i for i, name in enumerate(names)}
        tokens = [row["tokens"] for row in index]
        shards = _Shards(
            files=[self._read(name) for name in names],
            file=np.repeat([number[row["file"]] for row in index], tokens),
            row=np.concatenate(
                [np.arange(row["row"], row["row"] + row["tokens"]) for row in index]
            ),
        )
        return shards.in_order() if len(names) == 1 else shards

    def _read(self, name: str) -> NDArray[Any]:
        file = self._folder / name
        manifest.check_file(self._journal, "activations", file)
        return map_arrays(file)["values"]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Shards:
    """The (S, width) tokens of one place, in several files."""

    files: Sequence[NDArray[Any]]
    """(rows, width) arrays, mapped."""
    file: Indices
    """(S,) the file of each token."""
    row: Indices
    """(S,) its row there."""

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.row), self.files[0].shape[-1]

    def __getitem__(self, tokens: Any) -> Floats:
        file, row = self.file[tokens], self.row[tokens]
        values = np.empty((len(row), self.shape[-1]), dtype=np.float32)
        for number, stored in enumerate(self.files):
            is_here = file == number
            values[is_here] = as_floats(stored[row[is_here]])
        values.flags.writeable = False
        return values

    def in_order(self) -> Stored:
        """A view of the only file, if its numbers are float32 and in this order."""
        (stored,) = self.files
        first, n = self.row[0], len(self.row)
        is_view = (
            stored.dtype == np.float32
            and (self.row == np.arange(first, first + n)).all()
        )
        return stored[first : first + n] if is_view else self
