"""The bundled reporter: one page for a run."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, NoConfig, Offer

if TYPE_CHECKING:
    from gde.parts.context import Context


@hookimpl
def gde_reporters() -> Sequence[AnyOffer]:
    """The reporters."""
    return (
        Offer(
            name="html",
            summary="self-contained HTML report: finding, numbers and episode player",
            config=NoConfig,
            make=_html,
            imports=("jinja2", "vl_convert"),
            extra="report",
            default=True,
        ),
    )


def _html(_: NoConfig, __: "Context") -> object:
    from gde.reporting.page.html import HtmlReporter

    return HtmlReporter()
