"""The entry point: builds the application and turns expected failures into one line and an exit code."""

import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from traceback import format_exception
from typing import Annotated, Any, NoReturn

import typer

from gde.cli.descriptors import hold_standard
from gde.cli.ending import be_patient, leave
from gde.cli.foreign import shown
from gde.cli.output import DEBUG
from gde.errors import INTERRUPTED, GdeError

REFUSED = 2
"""The exit code of a request that cannot be read."""
UNEXPECTED = 1
"""That of Python for what nobody has caught."""
COMMANDS = (
    "eval",
    "resume",
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
    from gde.cli.output import say, talking
    from gde.cli.words import look_at_words
    from gde.request.catalogue import call_each, load_plugins

    app = typer.Typer(
        name="gde",
        help="Evaluate what an agent is after: its actions against optima, its activations against the truth.",
        add_completion=False,
        result_callback=_nothing,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_options)
    for name in COMMANDS:
        module = import_module(f"gde.cli.{name.replace('-', '_')}_command")
        command: Callable[..., Any] = module.command
        app.command(name)(command)
    with talking():  # plugins are imported here
        call_each(load_plugins(offers=False).manager.hook.gde_add_commands, say, app=app)
    look_at_words(app)
    return app


def _nothing(_: object, **options: object) -> None:
    """What a command of a plugin returns is no exit code."""


def _show_version(asked: bool) -> None:
    if asked:
        from gde import __version__

        typer.echo(f"gde {__version__}")
        raise typer.Exit


def _options(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where errors and failures were raised, with their tracebacks.")
    ] = False,
    version: Annotated[  # noqa: ARG001
        bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Show the version.")
    ] = False,
) -> None:
    """Evaluate what an agent is after: its actions against optima, its activations against the truth."""
    if debug:
        os.environ[DEBUG] = "1"


def main() -> None:
    """Run `gde`. Exit codes: 0 ok, 2 wrong request, 3 finished with failures or stopped, 130 interrupted, by whatever
    signal. Threads that parts leave behind are waited for, but not for ever."""
    try:
        _run()
    except SystemExit as done:
        be_patient(done.code if isinstance(done.code, int) else UNEXPECTED if done.code else 0)
        raise
    except BaseException:
        be_patient(UNEXPECTED)
        raise


def _run() -> NoReturn:
    hold_standard()
    # Tokenizers and hubs must neither reach for a network nor write to the terminal.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    for name in ("SIGTERM", "SIGHUP"):  # the latter is unknown on Windows
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.default_int_handler)
    try:
        code = build_app()(sys.argv[1:] or ["--help"], prog_name="gde", standalone_mode=False)
    except GdeError as error:
        if os.environ.get(DEBUG):
            print(shown("".join(format_exception(error))), file=sys.stderr, end="")  # noqa: T201
        folder = "".join(f" (run folder: {note})" for note in getattr(error, "__notes__", [])[:1])
        _refuse(f"{error}{folder}", error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        leave(INTERRUPTED)
    except Exception as error:
        if not hasattr(error, "format_message"):  # every version of typer has a class of its own for wrong options
            raise
        _refuse(_misread(error), REFUSED)
    if code == INTERRUPTED:
        leave(INTERRUPTED)
    raise SystemExit(code)


def _misread(error: Any) -> str:
    """What is wrong with words of the command line."""
    command = getattr(getattr(error, "ctx", None), "command_path", "gde")
    reason = " ".join(error.format_message().split())
    if reason.startswith("Usage:"):
        reason = f"{command} wants one of its commands"
    if (param := getattr(error, "param", None)) is not None and error.__cause__ is not None:
        from pydantic import ValidationError

        from gde.request.settings import explained

        if isinstance(error.__cause__, ValidationError):
            reason = str(explained(error.__cause__, (param.opts or [param.name])[0]))
    return f"{reason.rstrip('.')}; see `{command} --help`"


def _refuse(reason: str, code: int) -> NoReturn:
    """The one place that prints an error: a line."""
    print(f"gde: {shown(reason)}", file=sys.stderr)  # noqa: T201
    raise SystemExit(code) from None
