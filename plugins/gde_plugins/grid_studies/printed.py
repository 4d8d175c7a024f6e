"""The numbers of Arghal et al. (2026), section 4 and appendix D, and the measurements
that answer them.

Where they show a quantity in a figure only there is no printed number. The cells of
table 1 are lost in the text that we have; the numbers of it that the running text
repeats are here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Quantity:
    """One number."""

    title: str
    name: str
    """Of our measurement."""
    paper: float | None
    source: str
    where: Mapping[str, str | int | float] = field(default_factory=dict)


TABLE_1 = "Arghal et al. (2026), table 1"
SECTION_4_3 = "Arghal et al. (2026), section 4.3"
BEYOND = "beyond Arghal et al. (2026)"
KEY: Mapping[str, str] = {"artefact": "key"}
NO_KEY: Mapping[str, str] = {"artefact": "none"}

BASELINE = (
    Quantity("goal success rate", "success", None, "Arghal et al. (2026), eq. 1"),
    Quantity("accuracy", "accuracy", None, "Arghal et al. (2026), eqs. 2 and 3"),
    Quantity("accuracy, pooled over steps", "accuracy.pooled", None, BEYOND),
    Quantity(
        "entropy of the policy", "policy.entropy", None, "Arghal et al. (2026), eq. 4"
    ),
    Quantity(
        "divergence from the optimal policy",
        "policy.jsd",
        None,
        "Arghal et al. (2026), eq. 5",
    ),
    Quantity(
        "divergence from the nearest optimal policy", "policy.jsd_nearest", None, BEYOND
    ),
    Quantity(
        "calibration error", "calibration.ece", None, "Arghal et al. (2026), eq. 6"
    ),
    Quantity(
        "calibration error, as the released code has it",
        "calibration.ece_released",
        None,
        "Arghal et al. (2026), released code",
    ),
    Quantity("success weighted by path length", "efficiency.spl", None, BEYOND),
    Quantity("regret", "efficiency.regret", None, BEYOND),
    Quantity(
        "similarity of two trajectories",
        "overlap.jaccard",
        None,
        "Arghal et al. (2026), appendix B",
    ),
)

TABLE_3: Mapping[tuple[str, str], tuple[float, float]] = {
    ("success", "reflect"): (0.582, 0.059),
    ("success", "rotate90"): (0.311, 0.103),
    ("success", "swap"): (0.391, 0.085),
    ("success", "transpose"): (0.949, 0.006),
    ("accuracy", "reflect"): (0.784, 0.022),
    ("accuracy", "rotate90"): (0.838, 0.016),
    ("accuracy", "swap"): (0.179, 0.109),
    ("accuracy", "transpose"): (0.602, 0.042),
}
"""Metric and transform to p value and effect size."""


def _appendix_d() -> tuple[Quantity, ...]:
    quantities = []
    for (metric, transform), (p_value, effect) in TABLE_3.items():
        rows = (
            ("difference from the base grids", "difference", None),
            ("p value (Wilcoxon)", "p_wilcoxon", p_value),
            ("effect size", "effect_paper", effect),
            # Beyond the publication: corrected for the number of tests.
            ("p value, corrected after Holm", "p_holm", None),
        )
        for title, name, printed in rows:
            quantity = Quantity(
                title=f"{metric}, {transform}: {title}",
                name=f"pairs.{metric}.{name}",
                paper=printed,
                source="Arghal et al. (2026), table 3",
                where={"transform": transform},
            )
            quantities.append(quantity)
    return tuple(quantities)


APPENDIX_D = _appendix_d()

KEY_DOOR = (
    Quantity("success", "success", 1.0, SECTION_4_3),
    Quantity("accuracy", "accuracy", None, TABLE_1),
    Quantity(
        "accuracy while collecting the key", "keys.accuracy.collect", None, TABLE_1
    ),
    Quantity("accuracy while opening the door", "keys.accuracy.open", None, TABLE_1),
    Quantity("accuracy while reaching the goal", "keys.accuracy.reach", None, TABLE_1),
    Quantity("key pickup rate", "keys.pickup", 1.0, SECTION_4_3),
)

KEY_NO_DOOR = (
    Quantity("success", "success", None, TABLE_1, KEY),
    Quantity("success without the key", "success", None, TABLE_1, NO_KEY),
    Quantity("accuracy", "accuracy", None, TABLE_1, KEY),
    Quantity("accuracy without the key", "accuracy", None, TABLE_1, NO_KEY),
    Quantity("key pickup rate", "keys.pickup", None, TABLE_1),
    Quantity("key attraction bias", "keys.attraction", 0.75, SECTION_4_3),
    Quantity(
        "the same in the counterfactuals without the key",
        "keys.attraction.control",
        None,
        BEYOND,
    ),
)

TWO_PATHS = (
    Quantity("success", "success", 0.714, SECTION_4_3, KEY),
    Quantity("success without the key", "success", 0.755, SECTION_4_3, NO_KEY),
    Quantity("accuracy", "accuracy", 0.760, SECTION_4_3, KEY),
    Quantity("accuracy without the key", "accuracy", 0.743, SECTION_4_3, NO_KEY),
    Quantity("key pickup rate", "keys.pickup", 0.673, SECTION_4_3),
    Quantity(
        "visits of the key's place in the counterfactuals",
        "keys.pickup.control",
        None,
        BEYOND,
    ),
    Quantity(
        "similarity of trajectories with and without",
        "keys.jaccard",
        None,
        TABLE_1,
        KEY,
    ),
    Quantity(
        "similarity of two trajectories without the key",
        "overlap.jaccard",
        None,
        BEYOND,
        NO_KEY,
    ),
)


def _differences() -> tuple[Quantity, ...]:
    """With the key less without, each with its test."""
    quantities = []
    for metric in ("success", "accuracy"):
        rows = (("difference", "difference"), ("p value (sign flips)", "p_permutation"))
        for title, name in rows:
            quantity = Quantity(
                title=f"{metric} with the key and without: {title}",
                name=f"pairs.{metric}.{name}",
                paper=None,
                source=BEYOND,
                where=KEY,
            )
            quantities.append(quantity)
    return tuple(quantities)


TWO_PATHS_DIFFERENCES = _differences()
