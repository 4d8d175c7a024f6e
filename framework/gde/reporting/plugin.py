"""The bundled reporter: one page for a run."""

from collections.abc import Sequence

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, NoConfig, Offer


@hookimpl
def gde_reporters() -> Sequence[AnyOffer]:
    """The reporters."""
    return (
        Offer(
            name="html",
            summary="self-contained HTML report: finding, numbers and episode player",
            config=NoConfig,
            make="gde.reporting.page.html:HtmlReporter",
            imports=("jinja2", "vl_convert"),
            extra="report",
            default=True,
        ),
    )
