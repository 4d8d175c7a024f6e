"""The report as one page that needs nothing but itself."""

from dataclasses import dataclass
from pathlib import Path

from gde.data.evidence import Evidence
from gde.data.plan import Plan
from gde.data.result import Result
from gde.files import write_whole
from gde.reporting.cards import cards
from gde.reporting.claim import claim
from gde.reporting.drawing import picture
from gde.reporting.episodes import episode_views
from gde.reporting.figures import breakdowns
from gde.reporting.films import films, spread
from gde.reporting.findings import of_metrics
from gde.reporting.policy import content_policy
from gde.reporting.probe_tables import probe_tables
from gde.reporting.strata import stratum_maps, stratum_tables
from gde.reporting.tables import (
    group_tables,
    provenance_rows,
    stratum_keys,
    tests_tables,
)
from gde.reporting.templates import source, template

NAME = "report.html"


@dataclass(frozen=True)
class HtmlReporter:
    """Implements `gde.parts.reporter.Reporter`: no link to elsewhere, no script but the player, everything escaped."""

    def render(self, plan: Plan, result: Result, evidence: Evidence, folder: Path) -> Path:
        write_whole(folder / NAME, page(plan, result, evidence))
        return folder / NAME


def page(plan: Plan, result: Result, evidence: Evidence) -> str:
    """The page's HTML. Equal arguments give equal text."""
    shown = spread(evidence)
    strata, meanings, episodes = stratum_keys(shown), result.meanings, episode_views(shown)
    told, maps = cards(result), stratum_maps(result)
    played, style = films(evidence), source("style.css")
    script = source("page.js") + (source("player.js") if played else "")
    return template(f"{NAME}.j2").render(
        plan=plan,
        result=result,
        claim=claim(result),
        notice=str(result.provenance.get("notice") or ""),
        cards=[(card, [*map(picture, card.figures)]) for card in told],
        ticks=any("tick" in line.picture for card in told for line in card.lines),
        groups=group_tables(result, strata),
        stratum_maps=[*map(picture, maps.headlines)],
        same_maps=maps.same,
        more_maps=[*map(picture, maps.others)],
        stratum_tables=stratum_tables(result, evidence, strata),
        tests=tests_tables(result),
        figures=[*map(picture, breakdowns(of_metrics(result), strata, meanings))],
        probes=probe_tables(evidence, strata, meanings),
        episodes=episodes,
        legend=played.legend if played else {},
        films=played,
        style=style,
        script=script,
        policy=content_policy(style, script),
        maps=any(turn.pictures.decoded for episode in episodes for turn in episode.turns),
        provenance=list(provenance_rows(result.provenance)),
    )
