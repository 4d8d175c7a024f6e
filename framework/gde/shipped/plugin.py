"""Executors, reporters and the metric of imported runs, without which nothing could be run or shown."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, NoConfig, Offer

if TYPE_CHECKING:
    from gde.parts.context import Context
    from gde.shipped.executors import LeasesConfig


@hookimpl
def gde_executors() -> Sequence[AnyOffer]:
    """Where episodes run."""
    from gde.shipped.executors import LeasesConfig, Processes, ProcessesConfig, Serial

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


@hookimpl
def gde_metrics() -> Sequence[AnyOffer]:
    """What was measured elsewhere."""
    from gde.data.measure import Measure

    scores = Measure(name="scores.*", title="Logged score: *", unit="score", group="Logged scores", headline=True)
    summary = "the scores of runs that were imported from logs of other programs"
    return (Offer(name="scores", summary=summary, config=NoConfig, make=_scores, measures=(scores,)),)


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
            default=True,
        ),
    )


def _leases(config: "LeasesConfig", _: "Context") -> object:
    from gde.shipped.leases import Leases

    return Leases(config)


def _scores(_: NoConfig, __: "Context") -> object:
    from gde.shipped.scores import logged_scores

    return logged_scores


def _html(_: NoConfig, __: "Context") -> object:
    from gde.shipped.reporters.html import HtmlReporter

    return HtmlReporter()
