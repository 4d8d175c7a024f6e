"""Options that several commands share."""

from pathlib import Path
from typing import Annotated, Any

import typer

from gde.files import local


def out(meaning: str) -> Any:
    """The option that names what is to be written."""
    return typer.Option("--out", metavar="PATH", help=meaning, callback=_local)


def _local(path: Path | None) -> Path | None:
    return path and local(path)


Json = Annotated[bool, typer.Option("--json", help="Print one JSON object to stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress on stderr.")]
All = Annotated[
    bool, typer.Option("--all", help="Print every number, not only the headlines.")
]
NoPreflight = Annotated[
    bool,
    typer.Option("--no-preflight", help="Do not ask served models before the run."),
]
WHERE = typer.Option(
    help="Where episodes run, activations are captured and metrics ask local models: serial, processes or ray."
)
"""The option that names an executor."""
Where = Annotated[str, WHERE]
"""As before, if it is empty."""
Dry = Annotated[
    bool,
    typer.Option("--dry-run", help="Estimate the number of model calls and stop."),
]
StudyOut = Annotated[
    Path | None, out("Folder for the runs; an existing folder is resumed.")
]
Model = Annotated[
    list[str] | None,
    typer.Option(
        help="The agent's language model, or ALIAS=MODEL for any part; may be repeated."
    ),
]
Weights = Annotated[
    str,
    typer.Option(
        metavar="MODEL",
        help="Local weights of a served model, by which all probes read its answers: hf:PATH_OR_ID.",
    ),
]
StopAfter = Annotated[
    str | None,
    typer.Option(
        metavar="STAGE",
        help="Stop after this stage: rollout. Probes and reward models wait for `gde resume`.",
    ),
]
Run = Annotated[Path, typer.Argument(metavar="RUN", help="Run folder.")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Set a field: env.size=9, agent.model=hf:PATH, run.repeats=10.",
    ),
]
