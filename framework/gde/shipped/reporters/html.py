"""The report as one page that needs nothing but itself."""

from dataclasses import dataclass
from pathlib import Path

from gde.data.evidence import Evidence
from gde.data.plan import Plan
from gde.data.result import Result
from gde.shipped.reporters.claim import claim
from gde.shipped.reporters.episodes import episode_views, legend_of
from gde.shipped.reporters.figures import breakdowns, svg
from gde.shipped.reporters.statistics import tests_table
from gde.shipped.reporters.tables import (
    measurement_table,
    probe_stratum_table,
    probe_tables,
    provenance_rows,
    stratum_keys,
    stratum_table,
)
from gde.shipped.reporters.templates import template
from gde.store.atomic import write_whole

NAME = "report.html"


@dataclass(frozen=True)
class HtmlReporter:
    """Implements `gde.parts.reporter.Reporter`: no script, no link to elsewhere, everything escaped."""

    def render(self, plan: Plan, result: Result, evidence: Evidence, folder: Path) -> Path:
        write_whole(folder / NAME, page(plan, result, evidence))
        return folder / NAME


def page(plan: Plan, result: Result, evidence: Evidence) -> str:
    """The page's HTML. Equal arguments give equal text."""
    probed = {one.name for report in evidence.probe_reports for one in report.measurements}
    strata = stratum_keys(evidence)
    episodes = episode_views(evidence)
    measured = [one for one in result.measurements if one.name not in probed]
    return template(f"{NAME}.j2").render(
        plan=plan,
        result=result,
        claim=claim(plan, result, evidence),
        notice=str(result.provenance.get("notice") or ""),
        measurements=measurement_table(result, strata),
        strata=stratum_table(result, strata),
        pairs=tests_table("pairs", result.measurements),
        trends=tests_table("trends", result.measurements),
        figures=[(figure, svg(figure)) for figure in breakdowns(measured, strata)],
        probes=probe_tables(evidence, strata),
        probe_strata=probe_stratum_table(evidence, strata),
        episodes=episodes,
        legend=legend_of(episodes),
        maps=any(turn.pictures.decoded for episode in episodes for turn in episode.turns),
        provenance=list(provenance_rows(result.provenance)),
    )
