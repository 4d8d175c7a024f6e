"""The executors that come with gde, without which nothing could be run."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, NoConfig, Offer

if TYPE_CHECKING:
    from gde.executors.executors import LeasesConfig
    from gde.parts.context import Context


@hookimpl
def gde_executors() -> Sequence[AnyOffer]:
    """Where episodes run."""
    from gde.executors.executors import LeasesConfig, Processes, ProcessesConfig, Serial

    return (
        Offer(
            name="serial",
            summary="All episodes in this process, concurrently.",
            config=NoConfig,
            make=lambda _, __: Serial(),
        ),
        Offer(
            name="processes",
            summary="Episodes spread over worker processes.",
            config=ProcessesConfig,
            make=lambda config, _: Processes(config.workers),
        ),
        Offer(
            name="leases",
            summary="Episodes lent to worker processes, which may join from other terminals of this machine.",
            config=LeasesConfig,
            make=_leases,
        ),
    )


def _leases(config: "LeasesConfig", _: "Context") -> object:
    from gde.executors.leases import Leases

    return Leases(config)
