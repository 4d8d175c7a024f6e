"""Offers the executors `processes` and `ray`."""

from collections.abc import Sequence

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Offer


@hookimpl
def gde_executors() -> Sequence[AnyOffer]:
    """Offer the executors."""
    from gde_plugins.executors.config import ProcessesConfig, RayConfig

    return (
        Offer(
            name="processes",
            summary="distributes episodes over worker processes",
            config=ProcessesConfig,
            make="gde_plugins.executors.processes:Processes",
        ),
        Offer(
            name="ray",
            summary="distributes episodes over a Ray cluster; only the main process writes",
            config=RayConfig,
            make="gde_plugins.executors.ray.executor:OnRay",
            imports=("ray",),
            extra="ray",
        ),
    )
