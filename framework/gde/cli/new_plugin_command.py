"""gde new-plugin: a minimal working plugin in a new folder."""

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
    kind: Annotated[str, typer.Option(help=f"Kind of part: {WHICH}.")] = "agent",
    out: Annotated[
        Path | None, options.out("Folder to make; default: gde-NAME here.")
    ] = None,
) -> None:
    """Write a minimal working plugin with tests.

    The folder holds a distribution with one part and the contract tests of its kind.
    """
    from gde.testing.template import write_plugin

    folder = write_plugin(name, out, kind)
    part = name.replace("_", "-")
    shown = f"gde show {kind} {part}"
    checked = f"gde check gde-{part}"
    say(f"wrote {folder}: pip install -e '{folder}[test]', then `{shown}` shows it")
    say(f"`{checked}` or `pytest {folder}` checks it")
