"""The report as one page that needs nothing but itself."""

from dataclasses import dataclass
from pathlib import Path

from gde.data.evidence import Evidence
from gde.data.grid import Cell
from gde.data.plan import Plan
from gde.data.result import Result
from gde.shipped.reporters.claim import claim
from gde.shipped.reporters.episodes import episode_views
from gde.shipped.reporters.figures import breakdowns, svg
from gde.shipped.reporters.findings import of_metrics
from gde.shipped.reporters.pictures import swatch
from gde.shipped.reporters.probe_tables import probe_stratum_table, probe_tables
from gde.shipped.reporters.tables import (
    group_tables,
    headline_table,
    provenance_rows,
    stratum_keys,
    stratum_table,
    tests_tables,
)
from gde.shipped.reporters.templates import template

NAME = "report.html"
LEGEND = {Cell.EMPTY: "free cell", Cell.WALL: "wall", Cell.AGENT: "agent", Cell.GOAL: "goal", Cell.PAD: "outside"}


@dataclass(frozen=True)
class HtmlReporter:
    """Implements `gde.parts.reporter.Reporter`: no script, no link to elsewhere, everything escaped."""

    def render(self, plan: Plan, result: Result, evidence: Evidence, folder: Path) -> Path:
        path = folder / NAME
        path.write_text(page(plan, result, evidence), encoding="utf-8")
        return path


def page(plan: Plan, result: Result, evidence: Evidence) -> str:
    """The page's HTML. Equal arguments give equal text."""
    strata, meanings = stratum_keys(evidence), result.meanings
    return template(f"{NAME}.j2").render(
        plan=plan,
        result=result,
        claim=claim(result),
        notice=str(result.provenance.get("notice") or ""),
        headlines=headline_table(result),
        groups=group_tables(result, strata),
        strata=stratum_table(result, strata),
        tests=tests_tables(result),
        figures=[(figure, svg(figure)) for figure in breakdowns(of_metrics(result), strata, meanings)],
        probes=probe_tables(evidence, strata, meanings),
        probe_strata=probe_stratum_table(evidence, strata, meanings),
        episodes=episode_views(evidence),
        legend=[(swatch(cell), meaning) for cell, meaning in LEGEND.items()],
        provenance=list(provenance_rows(result.provenance)),
    )
