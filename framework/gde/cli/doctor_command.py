"""gde doctor: whether this installation can do its main job."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gde.cli import options
from gde.cli.output import show_json, show_table

if TYPE_CHECKING:
    from gde.runs.examining import Finding


def command(
    run: Annotated[Path | None, typer.Argument(help="A run folder: verify its checksums instead.")] = None,
    as_json: options.Json = False,
) -> None:
    """Look at Python, packages, plugins, programs, weights and data, accelerator and disk, say how to install what is
    missing, and do a small run; or look at a run folder, whether everything in it is as it was written."""
    from gde.runs.examining import examine

    findings = [*examine()] if run is None else _folder(run)
    if as_json:
        show_json({"schema": 1, "findings": [asdict(finding) for finding in findings]})
    else:
        no = "missing" if run is None else "damaged"
        rows = [("ok" if finding.ok else no, finding.subject, finding.detail) for finding in findings]
        show_table("", ("", "what", "detail"), rows)
    if any(finding.vital and not finding.ok for finding in findings):
        raise typer.Exit(2)


def _folder(run: Path) -> "list[Finding]":
    from gde.runs.examining import Finding
    from gde.runs.verifying import verify

    faults = verify(run)
    damaged = [Finding(str(run), False, fault, vital=True) for fault in faults]
    return damaged or [Finding(str(run), True, "as it was written")]
