"""What a checkpoint takes in memory, by the headers of its files.

Nothing is loaded: a header gives the type and shape of each tensor.
"""

import json
import math
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gde.data.footprint import GB, Footprint
from gde.errors import GdeError
from gde_plugins.language_models.config import HfConfig
from gde_plugins.language_models.local_weights import snapshot

BITS = {"float64": 64, "float32": 32, "bfloat16": 16, "float16": 16}
BLOCKS, SCALES = "_blocks", "_scales"
"""Tensors of MXFP4: two numbers a byte, and the exponents that blocks of them share."""


def footprint(config: HfConfig) -> Footprint | None:
    """Return the footprint of a model; None if its files are not on this machine."""
    folder = snapshot(config.source, config.revision)
    if folder is None:
        return None
    return _of_folder(folder, config.device, config.dtype)


def refuse_too_large(folder: Path, device: str, dtype: str) -> None:
    """Refuse weights that an accelerator has no room for, before they are read.

    Raises:
        GdeError: they take more than is free.
    """
    found = _of_folder(folder, device, dtype)
    if found is None or found.free is None or found.trained <= found.free:
        return
    ways = [
        f"{when} they take {size / GB:.3g}" for when, size in found.otherwise.items()
    ]
    advice = "".join(f"; {each}" for each in ways)
    raise GdeError(
        f"hf:{folder}: the weights take {found.trained / GB:.3g} GB, and {found.free / GB:.3g} are free on"
        f" {device}: stop what else uses it, such as the model's server, or set model.device=balanced or"
        f" cpu{advice}"
    )


def _of_folder(folder: Path, device: str, dtype: str) -> Footprint | None:
    tensors = [*_tensors(folder)]
    if not tensors:
        return None
    config = json.loads((folder / "config.json").read_bytes())
    text = config.get("text_config", config)
    is_packed = any(name.endswith(BLOCKS) for name, _ in tensors)

    numbers = sum(_numbers(name, header["shape"]) for name, header in tensors)
    if dtype == "auto":
        dtype = text.get("dtype") or text.get("torch_dtype") or "bfloat16"
    dense = numbers * BITS[dtype] // 8
    packed = sum(end - begin for begin, end in (h["data_offsets"] for _, h in tensors))

    free = _free(device)
    has_kernels = find_spec("kernels") is not None and free is not None
    sizes = {f"dequantised to {dtype}": dense}
    used = f"dequantised to {dtype}"
    if is_packed:
        sizes["in MXFP4, with the package kernels on CUDA"] = packed
        used = [*sizes][has_kernels]
    trained = sizes.pop(used)
    return Footprint(
        n_layers=text["num_hidden_layers"],
        width=text["hidden_size"],
        trained=trained,
        otherwise=sizes,
        untrained=dense,
        activation=2 if dtype == "bfloat16" else 4,
        free=free,
    )


def _tensors(folder: Path) -> Iterator[tuple[str, Any]]:
    """Yield the name and the header of each tensor in a folder."""
    for file in folder.glob("*.safetensors"):
        with file.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            headers = json.loads(stream.read(length))
        headers.pop("__metadata__", None)
        yield from headers.items()


def _numbers(name: str, shape: list[int]) -> int:
    """Return how many numbers of the model a tensor holds."""
    if name.endswith(SCALES):
        return 0
    return math.prod(shape) * (2 if name.endswith(BLOCKS) else 1)


def _free(device: str) -> int | None:
    """Return the free bytes of an accelerator; None on the CPU."""
    import torch

    if device == "cpu" or not torch.cuda.is_available():
        return None
    if device == "balanced":
        cards = range(torch.cuda.device_count())
        return sum(torch.cuda.mem_get_info(each)[0] for each in cards)
    card = "cuda" if device == "auto" else device
    return torch.cuda.mem_get_info(card)[0]
