"""Randomness keyed by place, never by time: the same key gives the same stream in any process."""

from hashlib import sha256

import numpy as np

Key = tuple[str | int, ...]


def derive(seed: int, *key: str | int) -> int:
    """A 64-bit child seed of `seed` for the place named by `key`, e.g. ("agent", episode, turn).

    SHA-256 over an unambiguous encoding, so neither PYTHONHASHSEED nor the order in which
    children are asked for plays a part.
    """
    text = "\x1f".join([f"int:{seed}", *(f"{type(part).__name__}:{part}" for part in key)])
    return int.from_bytes(sha256(text.encode()).digest()[:8], "big") >> 1


def generator(seed: int, *key: str | int) -> np.random.Generator:
    """A fresh NumPy generator for the place named by `key`."""
    return np.random.default_rng(derive(seed, *key))
