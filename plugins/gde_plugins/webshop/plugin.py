"""Offers the shop, and the score of its purchases."""

from collections.abc import Sequence

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Capability, EnvironmentOffer, MetricOffer, NoConfig

PURCHASE = "purchase"
"""The capability of worlds that end with a purchase."""


@hookimpl
def gde_environments() -> Sequence[AnyOffer]:
    """Offer the shop."""
    from gde_plugins.webshop.config import WebshopConfig

    return (
        EnvironmentOffer(
            name="webshop",
            summary="WebShop: find and buy the product that a customer wants (Yao et al. 2022)",
            config=WebshopConfig,
            make="gde_plugins.webshop.environment:WebshopEnvironment",
            gives={
                Capability.STATE,
                Capability.DEMONSTRATION,
                Capability.SNAPSHOT,
                Capability.SIMULATOR,
                Capability.WORLDS,
                Capability.REMARKS,
                Capability.VIEW,
                PURCHASE,
            },
        ),
    )


@hookimpl
def gde_metrics() -> Sequence[AnyOffer]:
    """Offer the score."""
    from gde.data.measure import Measure
    from gde_plugins.webshop.score import NAME

    return (
        MetricOffer(
            name=PURCHASE,
            summary="mean score of the purchases, beside the success rate (Yao et al. 2022)",
            config=NoConfig,
            part="gde_plugins.webshop.score:score",
            needs={PURCHASE},
            facts="turns",
            default=True,
            measures=(
                Measure(
                    NAME,
                    "Score of the purchase",
                    "share",
                    "more",
                    group="Behaviour",
                    headline=True,
                ),
            ),
        ),
    )
