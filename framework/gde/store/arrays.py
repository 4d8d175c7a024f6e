"""Arrays as safetensors files."""

import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gde.errors import MissingExtra, RunFolderError
from gde.files import write_whole
from gde.store.damage import ADVICE


def write_arrays(path: Path, arrays: Mapping[str, NDArray[np.float32]]) -> None:
    """Write a safetensors file so that it is there completely or not at all.

    Raises:
        MissingExtra: safetensors is not installed.
        RunFailed: the file cannot be written.
    """
    tensors = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    write_whole(path, _safetensors().save(tensors))


def read_arrays(path: Path) -> dict[str, NDArray[np.float32]]:
    """The arrays of a safetensors file, mapped into memory, read-only.

    They are read from the file as they are used.

    Raises:
        RunFolderError: it is not there, or no such file.
    """
    library = _safetensors("safetensors")
    try:
        # It checks what the header says.
        library.safe_open(path, framework="numpy")
        return _mapped(path)
    except (OSError, ValueError, library.SafetensorError) as error:
        raise RunFolderError(
            f"{path}: {str(error).splitlines()[0]}; {ADVICE}"
        ) from error


def _mapped(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a well-formed file.

    Safetensors itself gives NumPy copies of them.
    """
    content = np.asarray(np.memmap(path, dtype=np.uint8, mode="r"))
    begin = 8 + int(content[:8].view("<u8")[0])
    header = json.loads(content[8:begin].tobytes())
    header.pop("__metadata__", None)
    arrays = {}
    for name, each in header.items():
        start, end = each["data_offsets"]
        kind = each["dtype"]

        # A type is BOOL, or a letter and a number of bits, e.g. F32.
        typed = np.dtype(
            "?" if kind == "BOOL" else f"<{kind[0].lower()}{int(kind[1:]) // 8}"
        )
        arrays[name] = (
            content[begin + start : begin + end].view(typed).reshape(each["shape"])
        )
    return arrays


def _safetensors(module: str = "safetensors.numpy") -> ModuleType:
    try:
        return import_module(module)
    except ModuleNotFoundError:
        raise MissingExtra(
            "the record of activations", ["safetensors"], "probes"
        ) from None
