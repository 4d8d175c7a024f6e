"""What a checkpoint takes in memory, by the headers of its files.

Nothing is loaded: a header gives the type and shape of each tensor.
"""

import json
import math
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from string import ascii_letters
from typing import NamedTuple

from safetensors import SafetensorError, safe_open

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
    try:
        config = json.loads((folder / "config.json").read_bytes())
        text = config.get("text_config", config)
        n_layers, width = int(text["num_hidden_layers"]), int(text["hidden_size"])
        tensors = [*_tensors(folder)]
    except (OSError, ValueError, LookupError, AttributeError, SafetensorError):
        # Loading says what is damaged.
        return None
    if dtype == "auto":
        dtype = text.get("dtype") or text.get("torch_dtype") or "bfloat16"
    if not tensors or dtype not in BITS:
        return None

    numbers = sum(each.numbers for each in tensors)
    dense = numbers * BITS[dtype] // 8
    free = _free(device)
    used = f"dequantised to {dtype}"
    sizes = {used: dense}
    if any(each.name.endswith(BLOCKS) for each in tensors):
        packed = "in MXFP4, with the package kernels on CUDA"
        sizes[packed] = sum(each.stored for each in tensors)
        if free is not None and find_spec("kernels") is not None:
            used = packed
    trained = sizes.pop(used)
    return Footprint(
        n_layers=n_layers,
        width=width,
        trained=trained,
        otherwise=sizes,
        untrained=dense,
        activation=2 if dtype == "bfloat16" else 4,
        free=free,
    )


class _Tensor(NamedTuple):
    name: str
    entries: int
    dtype: str
    """As safetensors writes it, e.g. BF16."""

    @property
    def numbers(self) -> int:
        """Parameters of the model."""
        if self.name.endswith(SCALES):
            return 0
        return self.entries * (2 if self.name.endswith(BLOCKS) else 1)

    @property
    def stored(self) -> int:
        """Bytes in the file."""
        bits = int(self.dtype.lstrip(ascii_letters))
        return self.entries * bits // 8


def _tensors(folder: Path) -> Iterator[_Tensor]:
    """Yield the tensors of all files in a folder."""
    for file in folder.glob("*.safetensors"):
        with safe_open(file, framework="numpy") as opened:
            for name in opened.keys():  # noqa: SIM118 (a file cannot be iterated)
                header = opened.get_slice(name)
                entries = math.prod(header.get_shape())
                yield _Tensor(name, entries, header.get_dtype())


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
