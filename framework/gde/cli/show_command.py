"""gde show: one offer with the fields of its configuration and what it measures."""

from dataclasses import asdict
from typing import Annotated

import typer

from gde.cli import options
from gde.cli.list_command import find_kind, show_offers
from gde.cli.output import show_json, show_table, tell
from gde.offers import MetricOffer, ProbeOffer
from gde.request.kinds import KINDS


def command(
    kind: Annotated[
        str, typer.Argument(metavar="KIND", help="environment, agent, probe, ...")
    ],
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="Name of an offer, or of a group of metrics."
        ),
    ],
    as_json: options.Json = False,
) -> None:
    """Show one offer: its settings and what it measures.

    Every field has its type, default and meaning. Of a group of metrics, list its
    members.
    """
    from gde.request.catalogue import Catalogue
    from gde.request.settings import describe

    catalogue = Catalogue.default()
    which = find_kind(kind)
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
                "schema": 1,
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
