"""How much of a goal a state fulfils, by what its words mean (Shen et al. 2026, section 3.2.3 and appendix B)."""

import math
from collections.abc import Iterable

import numpy as np

from gde.numerics.stats import Floats
from gde_plugins.statefactory.embedding import Embedder
from gde_plugins.statefactory.state import Item, Items


class Vectors:
    """The vectors of texts, each encoded once, all in one batch."""

    def __init__(self, texts: Iterable[str], embedder: Embedder) -> None:
        unique = list(dict.fromkeys(texts))
        self._place = {text: i for i, text in enumerate(unique)}
        self._rows = _normalised(embedder.encode(unique)) if unique else np.empty((0, 1))

    def cosines(self, texts: Iterable[str], others: Iterable[str]) -> Floats:
        """(n, m) similarities of n texts with m others."""
        a, b = (self._rows[[self._place[text] for text in each]] for each in (texts, others))
        product: Floats = a @ b.T
        return product


def fulfilment(state: Items, goal: Items, vectors: Vectors, decimals: int | None = None) -> float:
    """The mean over goal objects of how well the best object of the state fits each, 0 to 1 (eq. 9).

    Args:
        state: what there is; 0 where there is nothing.
        goal: what is wanted, at least one object.
        vectors: of all their texts.
        decimals: what is more is cut off, where a number is given.
    """
    if not state:
        return 0.0
    value = float(np.clip(np.mean([_best_fit(wanted, state, vectors) for wanted in goal]), 0, 1))
    return value if decimals is None else math.trunc(value * 10**decimals) / 10**decimals


def best_named(wanted: Item, state: Items, vectors: Vectors) -> Item:
    """The object of a state, which is not empty, whose name is most like that of a wanted one."""
    return state[int(vectors.cosines([wanted.name], [one.name for one in state])[0].argmax())]


def _best_fit(wanted: Item, state: Items, vectors: Vectors) -> float:
    """The most that an object of the state gets for identity times attributes (eq. 7 and 12), at least 0."""
    identity = vectors.cosines([wanted.name], [one.name for one in state])[0]
    if not wanted.attributes:
        return max(0.0, float(identity.max()))
    fits = (same * _attributes_fit(wanted, one, vectors) for same, one in zip(identity, state, strict=True))
    return max(0.0, *map(float, fits))


def _attributes_fit(wanted: Item, one: Item, vectors: Vectors) -> float:
    """The mean similarity of wanted values with those of the keys that are most alike (eq. 8, 10 and 11)."""
    if not one.attributes:
        return 0.0
    keys, values = list(one.attributes), list(one.attributes.values())
    aligned = vectors.cosines(wanted.attributes, keys).argmax(axis=1)
    alike = vectors.cosines(wanted.attributes.values(), values)
    return float(alike[np.arange(len(aligned)), aligned].mean())


def _normalised(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Floats = rows / np.where(lengths > 0, lengths, 1)
    return unit
