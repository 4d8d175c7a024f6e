"""The weights on this machine: their list and their identities. None are loaded."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from gde_plugins.language_models.nano import NOTICES, folder, model_name

WEIGHTS = (".safetensors", ".bin", ".gguf")
CONFIGS = ("config.json", "generation_config.json")
TEXTS = (".json", ".jinja", ".model", ".txt")
MIB = 2**20


def embedded() -> list[str]:
    """Return lines for the models of this package."""
    lines = []
    for source in NOTICES:
        name = f"embedded, {model_name(source)}"
        lines += [_line(name, file) for file in _weights(folder(source))]
    return lines


def downloaded() -> list[str]:
    """Return lines for the models in the cache of the hub, by their `hf:` names."""
    lines = []
    for name, snapshots in _cached():
        # A large model has several files of weights; one line is enough.
        lines += [_line(f"hf:{name}", file) for file in _weights(snapshots)[:1]]
    return lines or [f"no weights in {_cache()}: give the path of a folder, hf:PATH"]


def snapshot(source: str | Path, revision: str | None) -> Path | None:
    """Return the folder of a model; None if it is not on this machine."""
    if isinstance(source, Path) or source.startswith(("/", ".", "~")):
        folder = Path(source).expanduser()
    else:
        cached = _cache() / f"models--{source.replace('/', '--')}"
        named = cached / "refs" / (revision or "main")
        commit = named.read_text().strip() if named.is_file() else revision or ""
        folder = cached / "snapshots" / commit
    return folder if (folder / "config.json").is_file() else None


def _cache() -> Path:
    """Return the folder of huggingface_hub's downloads, by its own rules."""
    caches = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    home = os.environ.get("HF_HOME") or f"{caches}/huggingface"
    return Path(os.environ.get("HF_HUB_CACHE") or f"{home}/hub").expanduser()


def _cached() -> Iterator[tuple[str, Path]]:
    """Return the name of each model in the cache and the folder of its snapshots."""
    for place in sorted(_cache().glob("models--*")):
        _, *names = place.name.split("--")
        yield "/".join(names), place / "snapshots"


def _weights(place: Path) -> list[Path]:
    return sorted(file for file in place.rglob("*") if file.suffix in WEIGHTS)


def _line(name: str, file: Path) -> str:
    return f"{name}, {file.stat().st_size / MIB:,.0f} MiB"


def file_digest(file: Path) -> str:
    """Return the SHA-256 of one file, in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of a folder's weights, its configs, and all of its tokenizer."""
    weights = sorted(folder.glob("*.safetensors")) or sorted(folder.glob("*.bin"))
    configs = [folder / name for name in CONFIGS if (folder / name).is_file()]
    # Tokenizers of many kinds read files of many names.
    texts = (file for file in sorted(folder.iterdir()) if file.suffix in TEXTS)
    tokenizer = [file for file in texts if file.name not in CONFIGS]
    return {
        "weights": _digest(weights),
        "config": _digest(configs),
        "tokenizer": _digest(tokenizer),
    }


def _digest(files: Sequence[Path]) -> str:
    """Return the SHA-256 of the only file, or of the names and digests of several."""
    found = [file_digest(file) for file in files]
    if len(found) == 1:
        return found[0]
    listed = "".join(
        f"{digest}  {file.name}\n" for file, digest in zip(files, found, strict=True)
    )
    return hashlib.sha256(listed.encode()).hexdigest()
