"""Adds `gde view`."""

from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl

if TYPE_CHECKING:
    import typer


@hookimpl
def gde_add_commands(app: "typer.Typer") -> None:
    """Add `gde view`."""
    from gde_plugins.viewer.command import command

    app.command("view")(command)
