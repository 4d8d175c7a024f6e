"""Executors and reporters without which nothing could be run or shown."""

from collections.abc import Sequence

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, NoConfig, Offer


@hookimpl
def gde_executors() -> Sequence[AnyOffer]:
    """Where episodes run."""
    from gde.shipped.executors import Processes, ProcessesConfig, Serial

    return (
        Offer(
            name="serial",
            summary="All episodes in this process, concurrently.",
            config=NoConfig,
            make=lambda _: Serial(),
        ),
        Offer(
            name="processes",
            summary="Episodes spread over worker processes.",
            config=ProcessesConfig,
            make=lambda config: Processes(config.workers),
        ),
    )


@hookimpl
def gde_reporters() -> Sequence[AnyOffer]:
    """What shows a result."""
    return (
        Offer(
            name="html",
            summary="One self-contained page: the claim, the numbers, a few episodes step by step.",
            config=NoConfig,
            make=_html,
            imports=("jinja2", "vl_convert"),
            extra="report",
        ),
    )


def _html(_: NoConfig) -> object:
    from gde.shipped.reporters.html import HtmlReporter

    return HtmlReporter()
