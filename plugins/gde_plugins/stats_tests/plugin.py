"""Offers the statistical tests of a run."""

from collections.abc import Sequence

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, MetricOffer


@hookimpl
def gde_metrics() -> Sequence[AnyOffer]:
    """Tests that compare the worlds of a run."""
    from gde_plugins.stats_tests.config import PairsConfig, TrendsConfig
    from gde_plugins.stats_tests.measures import PAIRS, TRENDS

    return (
        MetricOffer(
            name="pairs",
            summary="paired tests of every variation of a world against the unvaried one, corrected",
            config=PairsConfig,
            make="gde_plugins.stats_tests.pairs:Pairs",
            measures=PAIRS,
        ),
        MetricOffer(
            name="trends",
            summary="trends of behaviour over size, density and distance to the goal",
            config=TrendsConfig,
            make="gde_plugins.stats_tests.trends:Trends",
            measures=TRENDS,
        ),
    )
