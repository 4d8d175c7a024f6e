"""The forest plot as an SVG file, for papers and read-mes."""

from pathlib import Path

from gde.data.evidence import Evidence
from gde.data.plan import Plan
from gde.data.result import Result
from gde.files import write_whole
from gde.reporting.drawing import xml_text
from gde.reporting.finding import opening
from gde.reporting.forest import forest
from gde_plugins.pages.figures.track import track
from gde_plugins.pages.templates import template

NAME = "figure.svg"


class FigureReporter:
    """Writes the forest plot of a run. Implements `gde.parts.reporter.Reporter`."""

    def render(
        self,
        plan: Plan,  # noqa: ARG002  # the protocol's
        result: Result,
        evidence: Evidence,  # noqa: ARG002
        folder: Path,
    ) -> Path:
        write_whole(folder / NAME, figure(result))
        return folder / NAME


def figure(result: Result) -> str:
    """The headlines of a run, each beside its strongest control, as an SVG file."""
    groups = forest(result)
    lines = [(group, row) for group in groups for row in (None, *group.rows)]
    told = opening(result)
    drawn = template(f"{NAME}.j2").render(lines=lines, opening=told, track=track)
    return xml_text(drawn)
