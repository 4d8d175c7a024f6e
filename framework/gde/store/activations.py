"""Activations on disk: safetensors shards per source, layer and mark, indexed in run.sqlite."""

from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from gde.data.activations import ActivationRecord, ActivationTable
from gde.errors import MissingExtra
from gde.store.atomic import write_whole
from gde.store.journal import Journal, Statement

SHARD_ROWS = 4096
Row = tuple[str, int]
"""(episode key, turn index)"""


class ActivationStore:
    """Writes the activations of a run in order, and reads them back as tables."""

    def __init__(self, folder: Path, journal: Journal) -> None:
        self._folder, self._journal = folder, journal

    def stored(self, source: str, layer: int, mark: str) -> set[Row]:
        """The turns of which the activations of a place are there."""
        query = "SELECT episode, turn FROM activations WHERE source = ? AND layer = ? AND mark = ?"
        return {(row["episode"], row["turn"]) for row in self._journal.query(query, (source, layer, mark))}

    def write(self, source: str, records: Iterable[tuple[Row, ActivationRecord]]) -> int:
        """Add the records of one source ("model" or "untrained"). Gives their number.

        Raises:
            RunFailed: the disk is full; the index names only complete files.
        """
        waiting: dict[tuple[int, str], list[tuple[Row, NDArray[np.float32]]]] = {}
        n = 0
        for row, record in records:
            n += 1
            for place, values in record.values.items():
                kept = waiting.setdefault(place, [])
                kept.append((row, values))
                if len(kept) == SHARD_ROWS:
                    self._shard(source, place, waiting.pop(place))
        for place, kept in waiting.items():
            self._shard(source, place, kept)
        return n

    def _shard(self, source: str, place: tuple[int, str], kept: list[tuple[Row, NDArray[np.float32]]]) -> None:
        layer, mark = place
        stem = f"{source}-layer{layer}-{mark}-"
        number = len(list(self._folder.glob(f"{stem}*.safetensors")))
        name = f"{stem}{number:04}.safetensors"
        write_arrays(self._folder / name, {"values": np.stack([values for _, values in kept])})
        query = "INSERT OR REPLACE INTO activations VALUES (?, ?, ?, ?, ?, ?, ?)"
        index: list[Statement] = [
            (query, (source, layer, mark, name, i, episode, turn)) for i, ((episode, turn), _) in enumerate(kept)
        ]
        self._journal.write(index)

    def table(self, source: str, layer: int, mark: str) -> ActivationTable | None:
        """All activations of one place, ordered as the episodes are; None where there are none."""
        query = """SELECT a.* FROM activations a JOIN episodes e USING (episode)
            WHERE source = ? AND layer = ? AND mark = ? ORDER BY e.stratum, e.world, e.repeat, a.turn"""
        index = self._journal.query(query, (source, layer, mark))
        if not index:
            return None
        files = {name: read_arrays(self._folder / name)["values"] for name in sorted({row["file"] for row in index})}
        values = np.stack([files[row["file"]][row["row"]] for row in index])
        values.flags.writeable = False
        return ActivationTable(values=values, rows=tuple((row["episode"], row["turn"]) for row in index))


def write_arrays(path: Path, arrays: Mapping[str, NDArray[np.float32]]) -> None:
    """Write a safetensors file so that it is there completely or not at all.

    Raises:
        MissingExtra: safetensors is not installed.
        RunFailed: the file cannot be written.
    """
    save = _safetensors().save
    write_whole(path, save({name: np.ascontiguousarray(array) for name, array in arrays.items()}))


def read_arrays(path: Path) -> dict[str, NDArray[np.float32]]:
    """The arrays of a safetensors file."""
    return dict(_safetensors().load_file(path))


def _safetensors() -> ModuleType:
    try:
        return import_module("safetensors.numpy")
    except ModuleNotFoundError:
        raise MissingExtra("the record of activations", ["safetensors"], "probes") from None
