"""The executors that come with gde, without which nothing could be run."""

from collections.abc import Sequence

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, NoConfig, Offer


@hookimpl
def gde_executors() -> Sequence[AnyOffer]:
    """Where episodes run."""
    from gde.executors.executors import Processes, ProcessesConfig, Serial

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
    )
