"""gde new-plugin: the smallest plugin that works, as a folder to start from."""

from pathlib import Path
from typing import Annotated

import typer

from gde.cli.output import say


def command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Lower-case name, e.g. my_agent.")],
    out: Annotated[Path | None, typer.Option(help="Folder to make; default: gde-NAME here.")] = None,
) -> None:
    """Write the smallest plugin that works: a distribution with one agent and its contract test."""
    from gde.testing.template import write_plugin

    folder = write_plugin(name, out)
    agent = name.replace("_", "-")
    say(f"wrote {folder}: pip install -e {folder}, then `gde plugins` lists it and `gde show agent {agent}` shows it")
