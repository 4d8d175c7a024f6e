"""gde new-plugin: the smallest plugin that works, as a folder to start from."""

from pathlib import Path
from typing import Annotated

import typer

from gde.cli import options
from gde.cli.output import say
from gde.request.kinds import SKELETONS

WHICH = f"{', '.join(SKELETONS[:-1])} or {SKELETONS[-1]}"


def command(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Lower-case name, e.g. my_agent.")
    ],
    kind: Annotated[str, typer.Option(help=f"What it offers: {WHICH}.")] = "agent",
    out: Annotated[
        Path | None, options.out("Folder to make; default: gde-NAME here.")
    ] = None,
) -> None:
    """Write the smallest plugin that works, with its tests.

    The folder holds a distribution with one part and the contract tests of its kind.
    """
    from gde.testing.template import write_plugin

    folder = write_plugin(name, out, kind)
    part = name.replace("_", "-")
    shown = f"gde show {kind} {part}"
    checked = f"gde check gde-{part}"
    say(f"wrote {folder}: pip install -e '{folder}[test]', then `{shown}` shows it")
    say(f"`{checked}` or `pytest {folder}` checks it")
