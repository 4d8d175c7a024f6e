"""Offers the executor `ray`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Offer

if TYPE_CHECKING:
    from gde.parts.context import Context
    from gde.parts.executor import Executor
    from gde_plugins.ray_executor.config import RayConfig


@hookimpl
def gde_executors() -> Sequence[AnyOffer]:
    """Offer the executor."""
    from gde_plugins.ray_executor.config import RayConfig

    return (
        Offer(
            name="ray",
            summary="distributes episodes over a Ray cluster; only the main process writes",
            config=RayConfig,
            make=_ray,
            imports=("ray",),
            extra="ray",
        ),
    )


def _ray(config: "RayConfig", _: "Context") -> "Executor":
    from gde_plugins.ray_executor.executor import OnRay

    return OnRay(config)
