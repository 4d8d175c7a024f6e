"""Offers the report of a run, writes pages of contests and studies, draws numbers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, NoConfig, Offer

if TYPE_CHECKING:
    from pathlib import Path

    from gde.comparisons.contest import Contest
    from gde.data.figure import Figure
    from gde.data.measure import Measures
    from gde.data.result import Measurement
    from gde.studies.study import Study


@hookimpl
def gde_reporters() -> Sequence[AnyOffer]:
    """The reporters."""
    return (
        Offer(
            name="html",
            summary="self-contained HTML report: finding, numbers and episode player",
            config=NoConfig,
            make="gde_plugins.pages.run_page:HtmlReporter",
            imports=("jinja2", "vl_convert"),
            extra="report",
            default=True,
        ),
        Offer(
            name="figure",
            summary="the forest plot of the headlines as an SVG file",
            config=NoConfig,
            make="gde_plugins.pages.figures.forest:FigureReporter",
            imports=("jinja2",),
            extra="report",
        ),
    )


@hookimpl
def gde_write_page(shown: "Contest | Study") -> "Path":
    """Write the page of a contest or study."""
    from gde_plugins.pages.page_files import write_page

    return write_page(shown)


@hookimpl
def gde_draw_numbers(
    numbers: "Sequence[Measurement]", meanings: "Measures"
) -> "Sequence[Figure]":
    """Draw curves and heat maps."""
    from gde_plugins.pages.figures.breakdowns import breakdowns

    return breakdowns(numbers, frozenset(), meanings)
