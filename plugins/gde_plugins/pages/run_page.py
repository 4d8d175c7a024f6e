"""The report of a run as one self-contained page."""

from dataclasses import dataclass
from pathlib import Path

from gde.data.evidence import Evidence
from gde.data.model_use import SERVED
from gde.data.plan import Plan
from gde.data.result import Result
from gde.files import write_whole
from gde.reporting.asked import asked_lines
from gde.reporting.finding import opening
from gde.reporting.findings import of_metrics, probed
from gde.reporting.forest import forest
from gde.request.catalogue import Catalogue
from gde.stages.evidence import load_evidence
from gde.store.folder import RunFolder
from gde_plugins.pages.conditions import condition_maps, condition_table
from gde_plugins.pages.episodes import episode_table, films, spread
from gde_plugins.pages.figures.breakdowns import breakdowns
from gde_plugins.pages.figures.learning import learning_curves
from gde_plugins.pages.figures.track import track
from gde_plugins.pages.gallery import picture
from gde_plugins.pages.probe_tables import probe_tables
from gde_plugins.pages.questions import sections
from gde_plugins.pages.tables import (
    condition_keys,
    provenance_rows,
)
from gde_plugins.pages.templates import rendered, source

NAME = "report.html"


@dataclass(frozen=True)
class HtmlReporter:
    """Renders a self-contained page without external links; escapes all text.

    Implements `gde.parts.reporter.Reporter`. The only script is the page's own.
    """

    def render(
        self, plan: Plan, result: Result, evidence: Evidence, folder: Path
    ) -> Path:
        write_whole(folder / NAME, page(plan, result, evidence))
        return folder / NAME


def page_of(path: Path, catalogue: Catalogue) -> str:
    """The page of a run from its record; nothing is written."""
    folder = RunFolder.open(path)
    return page(folder.plan(), folder.read_result(), load_evidence(path, catalogue))


def page(plan: Plan, result: Result, evidence: Evidence) -> str:
    """The page's HTML. Equal arguments give equal text."""
    # A page of a large run reads and shows every k-th episode only.
    shown = spread(evidence)
    conditions = condition_keys(shown)
    curves = []
    for probe in probed(result):
        curve = learning_curves(probe, result)
        if curve is not None:
            curves.append(picture(curve))
    figures = breakdowns(of_metrics(result.measurements), conditions, result.meanings)

    played = films(shown, len(evidence.trajectories))
    drawn = forest(result)
    script = source("page.js")
    if played:
        script += source("player.js")

    return rendered(
        f"{NAME}.j2",
        script,
        plan=plan,
        result=result,
        episodes=episode_table(shown),
        asked=asked_lines(result.models),
        opening=opening(result),
        notice=str(result.provenance.get("notice") or ""),
        forest=drawn,
        track=track,
        curves=curves,
        sections=sections(result, drawn),
        condition_maps=[picture(figure) for figure in condition_maps(result)],
        condition_table=condition_table(result, conditions | {SERVED}),
        figures=[picture(figure) for figure in figures],
        probes=probe_tables(evidence, conditions, result),
        films=played,
        provenance=list(provenance_rows(result.provenance)),
    )
