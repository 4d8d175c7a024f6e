"""gde doctor: check the installation or the files of a run."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gde.cli import options
from gde.cli.output import EXIT_PARTIAL, say, show_json, show_table, tell
from gde.errors import ConfigError

if TYPE_CHECKING:
    from gde.runs.examining import Finding

SHOWN = 15
"""Losses that the terminal shows."""


def command(
    run: Annotated[Path | None, typer.Argument(help="Run folder to verify.")] = None,
    salvage: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT", help="New folder for what a damaged run still holds."
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Check the installation, or the files of a run.

    Check Python, packages, plugins, programs, weights, data, accelerator and disk, and do
    a small run. With RUN, verify the checksums of all files in the run folder. With
    --salvage, save finished episodes and model answers of a damaged run.
    """
    if salvage is not None:
        _salvage(run, salvage, as_json)
        return
    from gde.runs.examining import examine

    findings = [*examine()] if run is None else _folder(run)
    if as_json:
        show_json({"schema": 1, "findings": [asdict(finding) for finding in findings]})
    else:
        no = "missing" if run is None else "damaged"
        rows = [
            ("ok" if finding.ok else no, finding.subject, finding.detail)
            for finding in findings
        ]
        show_table("", ("", "what", "detail"), rows)
    if any(finding.vital and not finding.ok for finding in findings):
        raise typer.Exit(2)


def _folder(run: Path) -> "list[Finding]":
    from gde.runs.examining import Finding
    from gde.runs.verifying import verify

    faults = verify(run)
    damaged = [Finding(str(run), False, fault, vital=True) for fault in faults]
    return damaged or [Finding(str(run), True, "all checksums match")]


def _salvage(run: Path | None, out: Path, as_json: bool) -> None:
    """Save what can be saved; exit with 3 if something is lost."""
    if run is None:
        raise ConfigError(
            "--salvage: name the damaged run: gde doctor RUN --salvage OUT"
        )
    from gde.runs.salvaging import LIST
    from gde.runs.salvaging import salvage as save

    found = save(run, out)
    if as_json:
        show_json({"schema": 1, **asdict(found)})
    else:
        tell(found.said)
        for line in found.lost[:SHOWN]:
            tell(f"lost: {line}")
        if len(found.lost) > SHOWN:
            tell(f"and {len(found.lost) - SHOWN} more losses in {out / LIST}")
        say(f"Complete it with `gde resume {out}`")
    if found.lost:
        raise typer.Exit(EXIT_PARTIAL)
