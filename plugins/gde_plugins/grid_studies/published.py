"""The numbers of Arghal et al. (2026), and the measurements that answer them: see
`published.toml`.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

NUMBERS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
"""Table to its entries."""
BEYOND = "beyond Arghal et al. (2026)"
OF_PAIRS = {
    "difference": "difference from the base grids",
    "p_wilcoxon": "p value (Wilcoxon)",
    "effect_paper": "effect size",
    "p_holm": "p value, corrected after Holm",
}
"""Numbers of a paired test; the correction for the number of tests is ours."""


@dataclass(frozen=True)
class Quantity:
    """One number."""

    title: str
    name: str
    """Of our measurement."""
    source: str
    paper: float | None = None
    where: Mapping[str, str | int | float] = field(default_factory=dict)


def quantities(table: str) -> tuple[Quantity, ...]:
    """The numbers of a table."""
    return tuple(Quantity(**each) for each in NUMBERS[table])


def transforms() -> tuple[Quantity, ...]:
    """The tests of table 3."""
    found = []
    for metric, by_transform in NUMBERS["transforms"].items():
        for transform, (p_value, effect) in by_transform.items():
            printed = {"p_wilcoxon": p_value, "effect_paper": effect}
            for name, title in OF_PAIRS.items():
                quantity = Quantity(
                    title=f"{metric}, {transform}: {title}",
                    name=f"pairs.{metric}.{name}",
                    source="Arghal et al. (2026), table 3",
                    paper=printed.get(name),
                    where={"transform": transform},
                )
                found.append(quantity)
    return tuple(found)
