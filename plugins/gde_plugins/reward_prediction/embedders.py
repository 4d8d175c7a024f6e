"""Which printed embedder a setting names, by what a folder holds and not by its name."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import file_digest
from pathlib import Path

OFFERED = ("words", "minilm")
"""Embedders that need no folder."""
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
DIGITS = 8


@dataclass(frozen=True)
class Shape:
    """The architecture of an embedder, as its config.json states it."""

    type: str
    width: int
    n_layers: int


PRINTED: Mapping[str, Shape] = {
    "distilroberta": Shape("roberta", 768, 6),
    "mpnet": Shape("mpnet", 768, 12),
    "minilm": Shape("bert", 384, 6),
    "bge": Shape("bert", 768, 12),
    "gemma": Shape("gemma3_text", 768, 24),
}
"""The embedders of appendix C.5.4: nli-distilroberta-base-v2, all-mpnet-base-v2,
all-MiniLM-L6-v2, bge-base-en-v1.5 and embeddinggemma-300m.
"""


@lru_cache(maxsize=32)
def row_of(embedder: str) -> str:
    """Return the name of an embedder's row.

    A folder has a printed row only if its architecture is that of the row. Other
    folders are named by folder and weights.
    """
    if embedder in OFFERED:
        return embedder
    folder = Path(embedder)
    shape = _shape(folder)
    for name, printed in PRINTED.items():
        if shape == printed:
            return name
    return "-".join(filter(None, (folder.name, digest(embedder))))


@lru_cache(maxsize=32)
def digest(embedder: str) -> str:
    """Return the first digits of the SHA-256 of a folder's weights; empty for none."""
    for part in _parts(Path(embedder)):
        for name in WEIGHTS:
            file = part / name
            if file.is_file():
                with file.open("rb") as weights:
                    return file_digest(weights, "sha256").hexdigest()[:DIGITS]
    return ""


def _shape(folder: Path) -> Shape | None:
    for part in _parts(folder):
        try:
            config = json.loads((part / "config.json").read_text(encoding="utf-8"))
            return Shape(
                str(config["model_type"]),
                int(config["hidden_size"]),
                int(config["num_hidden_layers"]),
            )
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return None


def _parts(folder: Path) -> list[Path]:
    """Where sentence-transformers keeps the transformer."""
    return [folder, folder / "0_Transformer"]
