"""Printed numbers of Shen et al. (2026), see `published.toml`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_NUMBERS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
MAIN = "Shen et al. (2026), table 1"
ABLATION = "Shen et al. (2026), appendix C.5.4"


@dataclass(frozen=True)
class Row:
    """One printed row."""

    title: str
    source: str
    values: Mapping[str, float]
    """By domain."""
    overall: float | None = None


def _rows(table: str, source: str) -> dict[str, Row]:
    rows = {}
    for label, (title, *numbers) in _NUMBERS[table].items():
        values = dict(zip(_NUMBERS["columns"], numbers, strict=True))
        rows[label] = Row(title, source, values, values.pop("overall"))
    return rows


TABLE_1: Mapping[str, Row] = _rows("table_1", MAIN)
ABLATIONS: Mapping[str, Row] = _rows("ablations", ABLATION)
TRIPLETS: Mapping[str, float] = _NUMBERS["triplets"]
