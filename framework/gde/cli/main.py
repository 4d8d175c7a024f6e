"""The entry point: builds the application and turns expected failures into one line and an exit code."""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer

from gde.cli.foreign import shown
from gde.errors import INTERRUPTED, GdeError

COMMANDS = (
    "eval",
    "resume",
    "work",
    "rescore",
    "probe",
    "report",
    "view",
    "export",
    "import",
    "compare",
    "reproduce",
    "plugins",
    "list",
    "show",
    "check",
    "new-plugin",
    "doctor",
)


def build_app() -> typer.Typer:
    """The application with its own commands and those of all plugins."""
    from gde.cli.output import say
    from gde.request.plugins import call_each, load_plugins

    app = typer.Typer(
        name="gde",
        help="Evaluate what an agent is after: its actions against optima, its activations against the truth.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_options)
    for name in COMMANDS:
        module = import_module(f"gde.cli.{name.replace('-', '_')}_command")
        command: Callable[..., Any] = module.command
        app.command(name)(command)
    call_each(load_plugins().manager.hook.gde_add_commands, say, app=app)
    return app


def _show_version(asked: bool) -> None:
    if asked:
        from gde import __version__

        typer.echo(f"gde {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Show the version.")
    ] = False,
) -> None:
    """Evaluate what an agent is after: its actions against optima, its activations against the truth."""


def main() -> None:
    """Run `gde`. Exit codes: 0 ok, 2 wrong request, 3 finished with failures or stopped, 130 interrupted, by whatever
    signal."""
    # Tokenizers and hubs must neither reach for a network nor write to the terminal.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    for name in ("SIGTERM", "SIGHUP"):  # the latter is unknown on Windows
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.default_int_handler)
    try:
        build_app()()
    except GdeError as error:
        folder = "".join(f" (run folder: {note})" for note in getattr(error, "__notes__", [])[:1])
        print(f"gde: {shown(f'{error}{folder}')}", file=sys.stderr)  # noqa: T201 - the one place that prints an error
        raise SystemExit(error.exit_code) from None
    except KeyboardInterrupt:
        _leave()
    except SystemExit as end:
        if end.code == INTERRUPTED or isinstance(end.__context__, typer.Abort):
            _leave()
        raise


def _leave() -> NoReturn:
    """End at once: what was finished is kept, and what other threads are in the midst of may take minutes."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(INTERRUPTED)
