"""Which printed row the embedder of a setting fills."""

from collections.abc import Mapping
from pathlib import Path

PRINTED: Mapping[str, str] = {
    "nli-distilroberta-base-v2": "distilroberta",
    "all-mpnet-base-v2": "mpnet",
    "all-MiniLM-L6-v2": "minilm",
    "bge-base-en-v1.5": "bge",
    "embeddinggemma-300m": "gemma",
}
"""The embedders of appendix C.5.4, by the names that they are published under."""


def row_of(embedder: str) -> str:
    """Return the name of an embedder's row: that of a folder by its published name."""
    name = Path(embedder).name
    return PRINTED.get(name, name)
