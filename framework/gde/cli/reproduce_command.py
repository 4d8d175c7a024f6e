"""gde reproduce: re-run a published table and print paper, ours and the difference side by side."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gde.cli import options
from gde.cli.output import interval, number, progress, say, show_json, show_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gde.data.result import Result
    from gde.parts.reproduction import Comparison


def command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A published table; `gde list reproductions`.")],
    scale: Annotated[float, typer.Option(help="Share of the published number of worlds.")] = 1.0,
    model: Annotated[str, typer.Option(help="Language model, e.g. nano or hf:PATH.")] = "nano",
    out: Annotated[Path | None, typer.Option(help="Run folder to make; default: a new one under runs/.")] = None,
    as_json: options.Json = False,
) -> None:
    """Re-run a published table and print paper, ours and the difference side by side."""
    from gde.catalogue import Catalogue
    from gde.errors import ConfigError
    from gde.evaluating import evaluate
    from gde.parts.reproduction import Reproduction

    if not scale > 0:
        raise ConfigError(f"--scale: wanted a number above 0, got {scale}")
    catalogue = Catalogue.default()
    offer = catalogue.find("reproduction", name).offer
    study: Reproduction = offer.make(offer.config())
    with progress(quiet=as_json) as watch:
        result = evaluate(study.plan(scale, model), out, catalogue, watch)
    _show(study.compare(result), result, as_json)


def _show(rows: "Sequence[Comparison]", result: "Result", as_json: bool) -> None:
    if as_json:
        show_json({"schema": 1, "run": result.run, "status": result.status, "rows": [asdict(row) for row in rows]})
        return
    columns = ("quantity", "paper", "ours", "95 % interval", "difference", "source")
    table = [
        (row.quantity, f"{row.paper:.3f}", number(row.ours), interval(row.ours), _difference(row), row.source)
        for row in rows
    ]
    show_table("", columns, table)
    if notice := result.provenance.get("notice"):
        say(str(notice))
    say(f"{result.status}: {result.run}")


def _difference(row: "Comparison") -> str:
    return "" if row.ours.value is None else f"{row.ours.value - row.paper:+.3f}"
