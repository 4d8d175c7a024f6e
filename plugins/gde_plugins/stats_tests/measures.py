"""Titles and units of the statistical tests; `*` stands for the number that is
tested.
"""

from gde.data.measure import Measure

VARIATIONS = "Variations minus unvaried worlds"
DIFFICULTY = "Trends over difficulty"

PAIRS = (
    Measure(
        name="pairs.*.difference",
        title="difference from the counterfactual",
        group=VARIATIONS,
        column=True,
    ),
    Measure(
        name="pairs.*.rank_biserial",
        title="effect (rank-biserial)",
        unit="correlation",
        group=VARIATIONS,
        column=True,
    ),
    Measure(
        name="pairs.*.effect_paper",
        title="effect, as published",
        unit="correlation",
        group=VARIATIONS,
        column=True,
    ),
    Measure(
        name="pairs.*.p_permutation",
        title="p, permutation",
        unit="probability",
        group=VARIATIONS,
        column=True,
    ),
    Measure(
        name="pairs.*.p_wilcoxon",
        title="p, Wilcoxon",
        unit="probability",
        group=VARIATIONS,
        column=True,
    ),
    Measure(
        name="pairs.*.p_holm",
        title="p, corrected (Holm)",
        unit="probability",
        group=VARIATIONS,
        column=True,
    ),
    Measure(
        name="pairs.*.q", title="q", unit="probability", group=VARIATIONS, column=True
    ),
    Measure(
        name="pairs.*.mde", title="detectable difference", group=VARIATIONS, column=True
    ),
    Measure(
        name="pairs.*.p_any",
        title="p, any change",
        unit="probability",
        group=VARIATIONS,
        column=True,
    ),
    Measure(
        name="pairs.*.p_any_holm",
        title="p, any change, corrected",
        unit="probability",
        group=VARIATIONS,
        column=True,
    ),
)
TRENDS = (
    Measure(
        name="trends.*.spearman",
        title="Spearman's rho",
        unit="correlation",
        group=DIFFICULTY,
        column=True,
    ),
    Measure(
        name="trends.*.spearman_p",
        title="its p",
        unit="probability",
        group=DIFFICULTY,
        column=True,
    ),
    Measure(
        name="trends.*.page_l",
        title="Page's L",
        unit="rank products",
        group=DIFFICULTY,
        column=True,
    ),
    Measure(
        name="trends.*.page_l_p",
        title="its p",
        unit="probability",
        group=DIFFICULTY,
        column=True,
    ),
    Measure(
        name="trends.*.slope",
        title="slope",
        unit="share per step",
        group=DIFFICULTY,
        column=True,
    ),
    Measure(
        name="trends.*.slope_p",
        title="its p",
        unit="probability",
        group=DIFFICULTY,
        column=True,
    ),
)
