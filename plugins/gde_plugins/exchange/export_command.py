"""gde export: a run in forms that other tools read."""

import sys
from pathlib import Path
from typing import Annotated, Any, TextIO, cast

import typer

from gde.cli import options
from gde.cli.foreign import Escaping
from gde.cli.output import say, show_json
from gde_plugins.exchange import addresses


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
    out: Annotated[
        Path | None, addresses.out("File to write; default: stdout.")
    ] = None,
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
    with addresses.sending(out) as path:
        if form in FILE_FORMS:
            n = export_file(run, chosen, path)
        else:
            if path.exists() or path.is_symlink():
                raise ConfigError(f"--out {out}: File exists; choose another name")
            with (
                replacing(path) as unfinished,
                unfinished.open("w", encoding="utf-8", newline="") as file,
            ):
                n = export(run, chosen, file)
    named = addresses.named(out)
    if as_json:
        show_json({"file": named, "format": form, "rows": n})
    else:
        say(f"{n} rows in {named}")
