"""The executor that comes with gde."""

from collections.abc import Sequence

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, NoConfig, Offer


@hookimpl
def gde_executors() -> Sequence[AnyOffer]:
    """The executor of this process."""
    return (
        Offer(
            name="serial",
            summary="runs all episodes concurrently in this process",
            config=NoConfig,
            make="gde.executors.serial:Serial",
        ),
    )
