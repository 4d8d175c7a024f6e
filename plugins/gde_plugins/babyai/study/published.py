"""The numbers of Choukrani et al. (2025), see `published.toml`."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

Shares = tuple[float, ...]
"""Percentages, one for each of `MODELS`."""
_NUMBERS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
MODELS: tuple[str, ...] = tuple(_NUMBERS["models"])
TABLE_3: Mapping[str, Shares] = _NUMBERS["table_3"]
TABLE_4: Mapping[str, Shares] = _NUMBERS["table_4"]
TABLE_6: Mapping[str, tuple[float, float]] = _NUMBERS["table_6"]
TABLE_7: Mapping[str, tuple[float, float]] = _NUMBERS["table_7"]
