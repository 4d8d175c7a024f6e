"""The reporter that comes with gde: one page for a run."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, NoConfig, Offer

if TYPE_CHECKING:
    from gde.parts.context import Context


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


def _html(_: NoConfig, __: "Context") -> object:
    from gde.reporting.html import HtmlReporter

    return HtmlReporter()
