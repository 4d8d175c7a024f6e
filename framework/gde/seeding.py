"""Randomness keyed by place, never by time.

The same key gives the same stream in any process.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import TypeVar

import numpy as np

OptionT = TypeVar("OptionT")


def derive(seed: int, *key: str | int) -> int:
    """Give a 63-bit child seed of `seed` for the place named by `key`.

    For example: ("agent", episode, turn).
    """
    # The encoding is unambiguous, and hashing makes PYTHONHASHSEED and the order of the
    # calls irrelevant.
    named = [
        f"{'str' if isinstance(part, str) else type(part).__name__}:{part}"
        for part in key
    ]
    text = "\x1f".join([f"int:{seed}", *named])
    digest = sha256(text.encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def generator(seed: int, *key: str | int) -> np.random.Generator:
    """Give a fresh NumPy generator for the place named by `key`."""
    return np.random.default_rng(derive(seed, *key))


def pick(options: Sequence[OptionT], rng: np.random.Generator) -> OptionT:
    """Draw one of some options, each as likely."""
    return options[int(rng.integers(len(options)))]
