"""Arrays as safetensors files.

Numbers of a model that computes in bfloat16 take 16 bits in a file, which loses
nothing: float32 has the same exponent and 16 further bits, which are zero.
"""

import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gde.data.arrays import Floats
from gde.errors import MissingExtra, RunFolderError
from gde.files import write_whole
from gde.store.damage import ADVICE

BF16 = "BF16"
"""Safetensors' name of bfloat16, which NumPy lacks."""
HALF = np.dtype([("bf16", "<u2")])
"""Stands for it, beside unsigned integers."""


def write_arrays(path: Path, arrays: Mapping[str, Floats]) -> None:
    """Write a safetensors file so that it is there completely or not at all.

    Raises:
        MissingExtra: safetensors is not installed.
        RunFailed: the file cannot be written.
    """
    tensors = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    write_whole(path, _library("safetensors.numpy").save(tensors))


def write_activations(path: Path, values: Floats) -> None:
    """Write the array "values", in 16 bits a number where that loses nothing.

    Raises:
        MissingExtra: safetensors is not installed.
        RunFailed: the file cannot be written.
    """
    bits = np.ascontiguousarray(values).view(np.uint32)
    if (bits & np.uint32(0xFFFF)).any():
        write_arrays(path, {"values": values})
        return
    # NumPy has no bfloat16. A model that computes in it has brought torch.
    torch = _library("torch")
    half = torch.from_numpy((bits >> 16).astype(np.uint16)).view(torch.bfloat16)
    write_whole(path, _library("safetensors.torch").save({"values": half}))


def read_arrays(path: Path) -> dict[str, Floats]:
    """The arrays of a safetensors file, read-only; of bfloat16, float32 copies.

    Raises:
        RunFolderError: it is not there, or no such file.
    """
    return {name: as_floats(array) for name, array in map_arrays(path).items()}


def as_floats(stored: NDArray[Any]) -> NDArray[Any]:
    """Stored bits of bfloat16 as float32; other numbers as they are."""
    if stored.dtype != HALF:
        return stored
    widened = stored["bf16"].astype(np.uint32) << 16
    widened.flags.writeable = False
    return widened.view(np.float32)


def map_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a safetensors file, read from it as they are used, read-only.

    Raises:
        RunFolderError: it is not there, or no such file.
    """
    library = _library("safetensors")
    try:
        # It checks what the header says.
        library.safe_open(path, framework="numpy")
        # Safetensors itself would give NumPy copies.
        content = np.asarray(np.memmap(path, dtype=np.uint8, mode="r"))
        begin = 8 + int(content[:8].view("<u8")[0])
        header = json.loads(content[8:begin].tobytes())
        header.pop("__metadata__", None)
        arrays = {}
        for name, each in header.items():
            start, end = each["data_offsets"]
            stored = content[begin + start : begin + end]
            arrays[name] = _typed(stored, each["dtype"]).reshape(each["shape"])
        return arrays
    except (OSError, ValueError, library.SafetensorError) as error:
        raise RunFolderError(
            f"{path}: {str(error).splitlines()[0]}; {ADVICE}"
        ) from error


def _typed(stored: NDArray[np.uint8], kind: str) -> NDArray[Any]:
    """Bytes as numbers of a type of safetensors."""
    if kind == BF16:
        return stored.view(HALF)

    # Others are BOOL, or a letter and a number of bits, e.g. F32.
    name = "?" if kind == "BOOL" else f"<{kind[0].lower()}{int(kind[1:]) // 8}"
    return stored.view(np.dtype(name))


def _library(module: str) -> ModuleType:
    try:
        return import_module(module)
    except ModuleNotFoundError:
        package, *_ = module.split(".")
        raise MissingExtra("the record of activations", [package], "probes") from None
