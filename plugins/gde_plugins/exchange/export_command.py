"""gde export: a run in forms that other tools read."""

import sys
from pathlib import Path
from typing import Annotated, Any, TextIO, cast

import typer

from gde.cli import options
from gde.cli.foreign import Escaping
from gde.cli.output import say, show_json


def command(
    run: options.Run,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="jsonl (trajectories), messages (turns), chat (conversations), calls (of models), csv (measurements);"
            " to files: parquet (turns), episodes (in Parquet), datasets, activations (arrays), inspect.",
        ),
    ] = "jsonl",
    out: Annotated[Path | None, options.out("File to write; default: stdout.")] = None,
    as_json: options.Json = False,
) -> None:
    """Write a run in the formats of other tools."""
    from gde.errors import ConfigError, UnknownName
    from gde.files import replacing
    from gde.runs.exporting import FORMATS, export
    from gde.store.folder import RunFolder
    from gde_plugins.exchange.exports import FILE_FORMS, export_file

    if form not in (*FORMATS, *FILE_FORMS):
        raise UnknownName("format", form, [*FORMATS, *FILE_FORMS])
    chosen: Any = form
    RunFolder.open(run).read_result()
    if out is None and form in FILE_FORMS:
        raise ConfigError(
            f"--format {form} writes a file or folder: name it with --out"
        )
    if out is None and as_json:
        raise ConfigError(
            "--json describes the file that --out names; without --out the data itself is printed"
        )
    if out is None:
        # The same JSON, whatever others have written into it.
        export(run, chosen, sys.stdout if form == "csv" else cast("TextIO", Escaping()))
        return
    if form in FILE_FORMS:
        n = export_file(run, chosen, out)
    else:
        if out.exists() or out.is_symlink():
            raise ConfigError(f"--out {out}: File exists; choose another name")
        with (
            replacing(out) as unfinished,
            unfinished.open("w", encoding="utf-8", newline="") as file,
        ):
            n = export(run, chosen, file)
    if as_json:
        show_json({"file": str(out), "format": form, "rows": n})
    else:
        say(f"{n} rows in {out}")
