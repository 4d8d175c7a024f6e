"""Offers the shop."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Capability, EnvironmentOffer

if TYPE_CHECKING:
    from gde.parts.context import Context
    from gde.parts.environment import Environment
    from gde_plugins.webshop.config import WebshopConfig


@hookimpl
def gde_environments() -> Sequence[AnyOffer]:
    """Offer the shop."""
    from gde_plugins.webshop.config import WebshopConfig

    return (
        EnvironmentOffer(
            name="webshop",
            summary="WebShop: find and buy the product that a customer wants (Yao et al. 2022)",
            config=WebshopConfig,
            make=_make,
            gives=frozenset(
                {
                    Capability.STATE,
                    Capability.DEMONSTRATION,
                    Capability.SNAPSHOT,
                    Capability.SIMULATOR,
                    Capability.WORLDS,
                    Capability.VIEW,
                }
            ),
        ),
    )


def _make(config: "WebshopConfig", _: "Context") -> "Environment":
    from gde_plugins.webshop.environment import WebshopEnvironment

    return WebshopEnvironment(config)
