"""gde show: one offer with the fields of its configuration and what it measures, or
what a run has spent, or what a metric says of its turns.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from gde.cli import options
from gde.cli.list_command import find_kind, show_offers
from gde.cli.output import show_json, show_table, tell
from gde.errors import GdeError, UnknownName
from gde.offers import MetricOffer, ProbeOffer
from gde.request.kinds import KINDS

COST = "max_cost"


def command(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND", help="environment, agent, probe, ..., or a run folder."
        ),
    ],
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="Name of an offer or of a group of metrics; of a run, a metric.",
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Show an offer, or what is known of a run.

    Of an offer, show its settings and what it measures. Every field has its type,
    default and meaning. Of a group of metrics, list its
    members. Of a run, show the requests to language models and what its limits leave;
    with the name of a metric, e.g. events, what it says of single turns.
    """
    if name is None:
        _show_spending(Path(kind), as_json)
        return
    try:
        which = find_kind(kind)
    except UnknownName:
        if not Path(kind).is_dir():
            raise
        _show_remarks(Path(kind), name, as_json)
    else:
        _show_offer(which, name, as_json)


def _show_offer(which: str, name: str, as_json: bool) -> None:
    from gde.request.catalogue import Catalogue
    from gde.request.settings import describe

    catalogue = Catalogue.default()
    group = catalogue.members(which, name)
    if group != (name,):
        if not as_json:
            tell(f"{name} stands for all of these {KINDS[which].title}s")
        show_offers(
            [catalogue.find(which, each) for each in group], as_json, group=name
        )
        return
    entry = catalogue.find(which, name)
    measures = (
        entry.offer.measures
        if isinstance(entry.offer, ProbeOffer | MetricOffer)
        else ()
    )
    fields = describe(entry.offer.config)
    capabilities = {
        "gives": sorted(entry.offer.gives),
        "needs": sorted(entry.offer.needs),
    }
    if as_json:
        names = ("field", "type", "default", "help")
        show_json(
            {
                "name": entry.qualified,
                "summary": entry.offer.summary,
                **capabilities,
                "fields": [dict(zip(names, row, strict=True)) for row in fields],
                "measures": [asdict(each) for each in measures],
            }
        )
        return
    tell(f"{entry.qualified} v{entry.offer.version}: {entry.offer.summary}")
    for what, listed in capabilities.items():
        if listed:
            tell(f"{what} {', '.join(listed)}")
    if fields:
        rows = [tuple(map(str, row)) for row in fields]
        show_table("", ("field", "type", "default", "meaning"), rows)
    if measures:
        columns = ("title", "unit", "better", "group")
        rows = [
            (each.name, *(getattr(each, name) for name in columns)) for each in measures
        ]
        show_table("", ("measure", *columns), rows)


def _show_remarks(run: Path, metric: str, as_json: bool) -> None:
    from gde.runs.remarking import remarks

    columns = ("episode", "turn", metric)
    rows = [(key, turn, line) for (key, turn), line in remarks(run, metric).items()]
    if as_json:
        lines = [dict(zip(columns, row, strict=True)) for row in rows]
        show_json({"remarks": lines})
    else:
        show_table("", columns, [tuple(map(str, row)) for row in rows])


def _show_spending(run: Path, as_json: bool) -> None:
    from gde.before.spending import spending
    from gde.reporting.asked import asked_lines, money

    if not run.is_dir():
        raise GdeError(
            f"gde show {run}: wanted a run folder, or KIND NAME, e.g. `gde show environment grid`"
        )
    found = spending(run)
    if as_json:
        show_json(asdict(found))
        return
    for line in asked_lines(found.models):
        tell(line)
    rows = []
    for one in found.limits:
        amounts = [
            ""
            if amount is None
            else money(amount)
            if one.name == COST
            else f"{amount:,}"
            for amount in (one.spent, one.limit, one.left)
        ]
        rows.append((f"run.{one.name}", *amounts))
    show_table("", ("limit", "spent", "allowed", "left"), rows)
    if found.preflight:
        tell(f"spent calls include {found.preflight} of the preflight")
    if found.unsettled:
        tell(
            f"{found.unsettled} requests got no answer: perhaps billed, they count as the most that they may take"
        )
