"""gde show: one offer with the fields of its configuration and what it measures."""

from dataclasses import asdict
from typing import Annotated

import typer

from gde.cli import options
from gde.cli.list_command import find_kind, show_offers
from gde.cli.output import show_json, show_table, tell
from gde.data.json import Json
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
    if as_json:
        listed = [
            {"field": f, "type": t, "default": d, "help": h} for f, t, d, h in fields
        ]
        about: dict[str, Json] = {
            "name": entry.qualified,
            "summary": entry.offer.summary,
        }
        about |= {
            "gives": sorted(entry.offer.gives),
            "needs": sorted(entry.offer.needs),
        }
        show_json(
            {
                "schema": 1,
                **about,
                "fields": listed,
                "measures": [*map(asdict, measures)],
            }
        )
        return
    tell(f"{entry.qualified} v{entry.offer.version}: {entry.offer.summary}")
    for what, capabilities in (
        ("gives", entry.offer.gives),
        ("needs", entry.offer.needs),
    ):
        if capabilities:
            tell(f"{what} {', '.join(sorted(capabilities))}")
    if fields:
        show_table(
            "",
            ("field", "type", "default", "meaning"),
            [(f, t, str(d), h) for f, t, d, h in fields],
        )
    rows = [
        (each.name, each.title, each.unit, each.better, each.group) for each in measures
    ]
    if rows:
        show_table("", ("measure", "title", "unit", "better", "group"), rows)
