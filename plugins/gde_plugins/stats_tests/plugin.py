"""Offers the statistical tests of a run."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, MetricOffer

if TYPE_CHECKING:
    from gde.parts.context import Context
    from gde.parts.metric import Metric
    from gde_plugins.stats_tests.config import PairsConfig, TrendsConfig


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
            make=_pairs,
            measures=PAIRS,
        ),
        MetricOffer(
            name="trends",
            summary="trends of behaviour over size, density and distance to the goal",
            config=TrendsConfig,
            make=_trends,
            measures=TRENDS,
        ),
    )


def _pairs(config: "PairsConfig", context: "Context") -> "Metric":
    from gde_plugins.stats_tests.pairs import Pairs

    return Pairs(config, context)


def _trends(config: "TrendsConfig", context: "Context") -> "Metric":
    from gde_plugins.stats_tests.trends import Trends

    return Trends(config, context)
