"""How much of a goal a state fulfils, by the meaning of words (Shen et al. 2026,
section 3.2.3 and appendix B).
"""

import math
from collections.abc import Iterable

import numpy as np

from gde.data.arrays import Doubles
from gde_plugins.statefactory.embedding import Embedder
from gde_plugins.statefactory.state import Item, Items


class Vectors:
    """The vectors of texts, each encoded once, all in one batch."""

    def __init__(self, texts: Iterable[str], embedder: Embedder) -> None:
        unique = list(dict.fromkeys(texts))
        self._place = {text: i for i, text in enumerate(unique)}
        self._rows = np.empty((0, 1))
        if unique:
            self._rows = _normalised(embedder.encode(unique))

    def cosines(self, texts: Iterable[str], others: Iterable[str]) -> Doubles:
        """(n, m) similarities of n texts with m others."""
        product: Doubles = self._of(texts) @ self._of(others).T
        return product

    def _of(self, texts: Iterable[str]) -> Doubles:
        """(n, width) unit vectors."""
        rows: Doubles = self._rows[[self._place[text] for text in texts]]
        return rows


def fulfilment(
    state: Items, goal: Items, vectors: Vectors, decimals: int | None = None
) -> float:
    """The mean over goal objects of how well the best object of the state fits each, 0
    to 1 (eq. 9).

    Args:
        state: the present objects; the value is 0 where there are none.
        goal: the wanted objects, at least one.
        vectors: of all their texts.
        decimals: truncate the value to so many; None keeps all.
    """
    if not state:
        return 0.0
    fits = [_best_fit(wanted, state, vectors) for wanted in goal]
    value = float(np.clip(np.mean(fits), 0, 1))
    if decimals is None:
        return value
    scale = float(10**decimals)
    return math.trunc(value * scale) / scale


def best_named(wanted: Item, state: Items, vectors: Vectors) -> Item:
    """The object whose name is most like that of a wanted one; the state has at least
    one object.
    """
    return state[int(_identity(wanted, state, vectors).argmax())]


def _best_fit(wanted: Item, state: Items, vectors: Vectors) -> float:
    """The greatest product of identity and attributes over the state's objects (eq. 7
    and 12), at least 0.
    """
    identity = _identity(wanted, state, vectors)
    if not wanted.attributes:
        return max(0.0, float(identity.max()))
    best = 0.0
    for same, one in zip(identity, state, strict=True):
        best = max(best, float(same * _attributes_fit(wanted, one, vectors)))
    return best


def _identity(wanted: Item, state: Items, vectors: Vectors) -> Doubles:
    """(n,) similarity of a wanted object's name with that of every object of a
    state.
    """
    row: Doubles = vectors.cosines([wanted.name], [one.name for one in state])[0]
    return row


def _attributes_fit(wanted: Item, one: Item, vectors: Vectors) -> float:
    """The mean similarity of wanted values with the values of the most similar keys
    (eq. 8, 10 and 11).
    """
    if not one.attributes:
        return 0.0
    aligned = vectors.cosines(wanted.attributes, one.attributes).argmax(axis=1)
    alike = vectors.cosines(wanted.attributes.values(), one.attributes.values())
    return float(alike[np.arange(len(aligned)), aligned].mean())


def _normalised(rows: Doubles) -> Doubles:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Doubles = rows / np.where(lengths > 0, lengths, 1)
    return unit
