"""Titles and units of the statistical tests; `*` stands for the number that is
tested.
"""

from functools import partial

from gde.data.measure import Measure

Variation = partial(Measure, group="Variations minus unvaried worlds", column=True)
Trend = partial(Measure, group="Trends over difficulty", column=True)

PAIRS = (
    Variation("pairs.*.difference", "difference from the counterfactual"),
    Variation("pairs.*.rank_biserial", "effect (rank-biserial)", "correlation"),
    Variation("pairs.*.effect_paper", "effect, as published", "correlation"),
    Variation("pairs.*.p_permutation", "p, permutation", "probability"),
    Variation("pairs.*.p_wilcoxon", "p, Wilcoxon", "probability"),
    Variation("pairs.*.p_holm", "p, corrected (Holm)", "probability"),
    Variation("pairs.*.q", "q", "probability"),
    Variation("pairs.*.mde", "detectable difference"),
    Variation("pairs.*.p_any", "p, any change", "probability"),
    Variation("pairs.*.p_any_holm", "p, any change, corrected", "probability"),
)
TRENDS = (
    Trend("trends.*.spearman", "Spearman's rho", "correlation"),
    Trend("trends.*.spearman_p", "its p", "probability"),
    Trend("trends.*.page_l", "Page's L", "rank products"),
    Trend("trends.*.page_l_p", "its p", "probability"),
    Trend("trends.*.slope", "slope", "share per step"),
    Trend("trends.*.slope_p", "its p", "probability"),
)
