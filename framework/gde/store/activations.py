"""Activations on disk: safetensors shards per source, layer and mark, indexed in run.sqlite; turns of any length."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gde.data.activations import ActivationRecord, ActivationTable
from gde.errors import MissingExtra, RunFolderError
from gde.files import write_whole
from gde.store.checksums import ADVICE, array_checksum
from gde.store.database import Statement
from gde.store.journal import Journal

SHARD_TOKENS = 12_288
"""Rows of the array in one file, at least: marks of three tokens in 4,096 turns."""
HELD_BYTES = 512 * 2**20
"""Of activations of all layers that wait for their files to fill; with more, what there is is written."""
Row = tuple[str, int]
"""(episode key, turn index)"""
Place = tuple[int, str]
"""(layer, mark)"""


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
        waiting: dict[Place, list[tuple[Row, NDArray[np.float32]]]] = {}
        tokens: Counter[Place] = Counter()
        n = held = 0
        for row, record in records:
            n += 1
            for place, values in record.values.items():
                waiting.setdefault(place, []).append((row, values))
                tokens[place] += len(values)
                held += values.nbytes
                if tokens[place] >= SHARD_TOKENS:
                    held -= sum(each.nbytes for _, each in waiting[place])
                    self._shard(source, place, waiting.pop(place))
                    del tokens[place]
            if held >= HELD_BYTES:
                self._shards(source, waiting)
                waiting, tokens, held = {}, Counter(), 0
        self._shards(source, waiting)
        return n

    def _shards(self, source: str, waiting: Mapping[Place, list[tuple[Row, NDArray[np.float32]]]]) -> None:
        for place, kept in waiting.items():
            self._shard(source, place, kept)

    def _shard(self, source: str, place: Place, kept: list[tuple[Row, NDArray[np.float32]]]) -> None:
        layer, mark = place
        stem = f"{source}-layer{layer}-{mark}-"
        number = len(list(self._folder.glob(f"{stem}*.safetensors")))
        name = f"{stem}{number:04}.safetensors"
        write_arrays(self._folder / name, {"values": np.concatenate([values for _, values in kept])})
        query = "INSERT OR REPLACE INTO activations VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)"
        begins = accumulate((len(values) for _, values in kept), initial=0)
        index: list[Statement] = [
            (query, (source, layer, mark, name, begin, len(values), episode, turn))
            for begin, ((episode, turn), values) in zip(begins, kept, strict=False)
        ]
        self._journal.write(index)

    def table(self, source: str, layer: int, mark: str) -> ActivationTable | None:
        """All activations of one place, ordered as the episodes are; None where there are none.

        Where they stand in one file in that order, they are read through once, to be checked, and nothing of them is
        held; else the table is held, and filled from one file after the other.
        """
        query = """SELECT a.* FROM activations a JOIN episodes e USING (episode)
            WHERE source = ? AND layer = ? AND mark = ? ORDER BY e.stratum, e.world, e.repeat, a.turn"""
        index = self._journal.signed("activations", query, (source, layer, mark))
        if not index:
            return None
        lengths = np.array([row["tokens"] for row in index], dtype=np.int64)
        values = self._gathered(index, np.cumsum(lengths) - lengths, lengths.sum())
        values.flags.writeable = False
        return ActivationTable(
            values=values, lengths=lengths, rows=tuple((row["episode"], row["turn"]) for row in index)
        )

    def _gathered(self, index: Sequence[sqlite3.Row], begins: NDArray[np.int64], n: int) -> NDArray[np.float32]:
        """(n, width) the tokens of all rows of the index, those of each from its beginning on."""
        files: dict[str, list[tuple[int, sqlite3.Row]]] = {}
        for begin, row in zip(begins, index, strict=True):
            files.setdefault(row["file"], []).append((int(begin), row))
        first = index[0]["row"]
        if len(files) == 1 and all(row["row"] == first + begin for begin, row in zip(begins, index, strict=True)):
            return read_arrays(self._folder / index[0]["file"])["values"][first : first + n]
        values: NDArray[np.float32] | None = None
        for name, rows in files.items():
            stored = read_arrays(self._folder / name)["values"]
            if values is None:
                values = np.empty((n, stored.shape[-1]), dtype=np.float32)
            for begin, row in rows:
                values[begin : begin + row["tokens"]] = stored[row["row"] : row["row"] + row["tokens"]]
        assert values is not None  # an index has rows
        return values


def write_arrays(path: Path, arrays: Mapping[str, NDArray[np.float32]]) -> None:
    """Write a safetensors file so that it is there completely or not at all.

    Raises:
        MissingExtra: safetensors is not installed.
        RunFailed: the file cannot be written.
    """
    tensors = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    write_whole(path, _safetensors().save(tensors, metadata={"checksum": _checksum(tensors)}))


def read_arrays(path: Path) -> dict[str, NDArray[np.float32]]:
    """The arrays of a safetensors file, mapped into memory: not writeable, and read from the file as they are used.

    Raises:
        RunFolderError: it is not there, or not as it was written.
    """
    library = _safetensors("safetensors")
    try:
        with library.safe_open(path, framework="numpy") as file:
            signed = (file.metadata() or {}).get("checksum")
        arrays = _mapped(path)
    except (OSError, ValueError, library.SafetensorError) as error:
        raise RunFolderError(f"{path}: {str(error).splitlines()[0]}; {ADVICE}") from error
    if signed != _checksum(arrays):
        raise RunFolderError(f"{path}: the arrays are not as they were written; {ADVICE}")
    return arrays


def _mapped(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a file whose structure is right. Safetensors itself gives NumPy copies of them."""
    content = np.asarray(np.memmap(path, dtype=np.uint8, mode="r"))
    begin = 8 + int(content[:8].view("<u8")[0])
    told = json.loads(content[8:begin].tobytes())
    told.pop("__metadata__", None)
    arrays = {}
    for name, each in told.items():
        start, end = each["data_offsets"]
        kind = each["dtype"]  # e.g. F32
        typed = np.dtype("?" if kind == "BOOL" else f"<{kind[0].lower()}{int(kind[1:]) // 8}")
        arrays[name] = content[begin + start : begin + end].view(typed).reshape(each["shape"])
    return arrays


def _checksum(arrays: Mapping[str, NDArray[Any]]) -> str:
    plain = {name: np.ascontiguousarray(each) for name, each in arrays.items()}
    return array_checksum([(name, str(each.dtype), each.shape, each.reshape(-1).data) for name, each in plain.items()])


def _safetensors(module: str = "safetensors.numpy") -> ModuleType:
    try:
        return import_module(module)
    except ModuleNotFoundError:
        raise MissingExtra("the record of activations", ["safetensors"], "probes") from None
