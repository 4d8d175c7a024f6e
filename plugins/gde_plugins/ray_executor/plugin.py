"""Offers the executor `ray`."""

from collections.abc import Sequence

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Offer


@hookimpl
def gde_executors() -> Sequence[AnyOffer]:
    """Offer the executor."""
    from gde_plugins.ray_executor.config import RayConfig

    return (
        Offer(
            name="ray",
            summary="distributes episodes over a Ray cluster; only the main process writes",
            config=RayConfig,
            make="gde_plugins.ray_executor.executor:OnRay",
            imports=("ray",),
            extra="ray",
        ),
    )
