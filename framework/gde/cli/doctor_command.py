"""gde doctor: check the installation or the files of a run."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gde.cli import options
from gde.cli.output import show_json, show_table

if TYPE_CHECKING:
    from gde.runs.examining import Finding


def command(
    run: Annotated[Path | None, typer.Argument(help="Run folder to verify.")] = None,
    as_json: options.Json = False,
) -> None:
    """Check the installation, or the files of a run.

    Check Python, packages, plugins, programs, weights, data, accelerator and disk, and do
    a small run. With RUN, check that its files and rows are as gde wrote them.
    """
    from gde.runs.examining import examine

    findings = [*examine()] if run is None else _folder(run)
    if as_json:
        show_json({"findings": [asdict(finding) for finding in findings]})
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
    return damaged or [Finding(str(run), True, "as gde wrote it")]
