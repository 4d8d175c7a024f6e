"""gde export: a run in forms that other tools read."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from gde.cli import options
from gde.cli.output import say, show_json


def command(
    run: options.Run,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="jsonl (trajectories), messages (turns), chat (conversations), csv (measurements); to files: parquet,"
            " datasets, transitions, inspect.",
        ),
    ] = "jsonl",
    out: Annotated[Path | None, options.out("File to write; default: stdout.")] = None,
    as_json: options.Json = False,
) -> None:
    """Write a run in the formats of other tools."""
    from gde.bridges.exports import FILE_FORMS, export_file
    from gde.errors import ConfigError, UnknownName
    from gde.runs.exporting import FORMATS, export
    from gde.store.folder import RunFolder

    chosen = next((each for each in FORMATS if each == form), None)
    as_file = next((each for each in FILE_FORMS if each == form), None)
    if chosen is None and as_file is None:
        raise UnknownName("format", form, [*FORMATS, *FILE_FORMS])
    RunFolder.open(run).read_result()
    if as_file is not None:
        if out is None:
            raise ConfigError(
                f"--format {form} writes a file or folder: name it with --out"
            )
        _told(out, form, export_file(run, as_file, out), as_json)
        return
    assert chosen is not None
    if out is None:
        if as_json:
            raise ConfigError(
                "--json describes the file that --out names; without --out the data itself is printed"
            )
        export(run, chosen, sys.stdout)
        return
    try:
        with out.open("x", encoding="utf-8", newline="") as file:
            n = export(run, chosen, file)
    except OSError as error:
        raise ConfigError(f"--out {out}: {error.strerror}") from error
    _told(out, form, n, as_json)


def _told(out: Path, form: str, rows: int, as_json: bool) -> None:
    if as_json:
        show_json({"schema": 1, "file": str(out), "format": form, "rows": rows})
    else:
        say(f"{rows} rows in {out}")
