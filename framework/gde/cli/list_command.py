"""gde list: the offers of a kind."""

from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gde.cli import options
from gde.cli.output import show_json, show_table

if TYPE_CHECKING:
    from gde.data.json import Json
    from gde.request.catalogue import Entry


def command(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND", help="environments, agents, probes, metrics, ..."
        ),
    ],
    as_json: options.Json = False,
) -> None:
    """List the parts of one kind, with install commands."""
    from gde.request.catalogue import Catalogue

    show_offers(Catalogue.default().entries(find_kind(kind)), as_json)


def show_offers(entries: "Sequence[Entry]", as_json: bool, **about: "Json") -> None:
    """One offer a row."""
    rows = [_row(entry) for entry in entries]
    if as_json:
        show_json({**about, "offers": rows})
    else:
        cells = itemgetter("name", "summary", "plugin", "install")
        show_table(
            "", ("name", "summary", "plugin", "to install"), list(map(cells, rows))
        )


def find_kind(kind: str) -> str:
    """The kind with this name, in singular or plural.

    Its option of `gde eval`, e.g. "model", is a name as well. Words are joined by
    blanks, hyphens or underscores.

    Raises:
        UnknownName: there is no such kind.
    """
    from gde.errors import UnknownName
    from gde.request.kinds import KINDS

    wanted = kind.replace("-", "_").replace(" ", "_").removesuffix("s")
    for name, each in KINDS.items():
        if wanted and wanted in {name, each.table}:
            return name
    raise UnknownName("kind", kind, [f"{each}s" for each in KINDS])


def _row(entry: "Entry") -> dict[str, Any]:
    offer = entry.offer
    missing = ", ".join(offer.missing())
    return {
        "name": offer.name,
        "summary": offer.summary,
        "plugin": entry.plugin,
        "version": offer.version,
        "install": f"missing {missing}: {entry.install}" if missing else "",
        "gives": sorted(map(str, offer.gives)),
        "needs": sorted(map(str, offer.needs)),
    }
