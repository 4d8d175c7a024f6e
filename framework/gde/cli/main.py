"""The entry point: builds the application and reports expected failures.

An expected failure becomes one line and an exit code.
"""

import logging
import os
import signal
import sys
from errno import EDQUOT, EIO, ENOSPC
from importlib import import_module
from traceback import format_exception
from types import FrameType
from typing import Annotated, Any, NoReturn

import typer

from gde.cli.descriptors import hold_standard
from gde.cli.ending import be_patient, leave
from gde.cli.foreign import one_line, shown
from gde.cli.output import DEBUG
from gde.errors import INTERRUPTED, GdeError, is_interruption

STOPPED = 3
"""The exit code of a disk or output that takes no more."""
REFUSED = 2
"""The exit code of a request that cannot be read."""
UNEXPECTED = 1
"""The exit code of an error that nobody has caught, as of any Python program."""
COMMANDS = (
    "eval",
    "resume",
    "rescore",
    "probe",
    "report",
    "compare",
    "reproduce",
    "trust",
    "settings",
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
        context_settings={"help_option_names": ["-h", "--help"]},
        result_callback=_nothing,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_options)
    for name in COMMANDS:
        module = import_module(f"gde.cli.{name.replace('-', '_')}_command")
        app.command(name)(module.command)

    # Importing plugins may print.
    with talking():
        call_each(
            load_plugins(offers=False).manager.hook.gde_add_commands, say, app=app
        )
    look_at_words(app)
    return app


def _nothing(_: object, **options: object) -> None:
    """Drop what a plugin's command returns: it is no exit code."""


def _show_version(asked: bool) -> None:
    if asked:
        from gde import __version__
        from gde.request.provenance import commit

        # A commit has 40 digits.
        short = commit()[:12] + commit()[40:]
        of_commit = f" (commit {short})" if short else ""
        typer.echo(f"gde {__version__}{of_commit}")
        raise typer.Exit


def _options(
    debug: Annotated[
        bool,
        typer.Option("--debug", help="Show the tracebacks of errors and failures."),
    ] = False,
    version: Annotated[  # noqa: ARG001
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_show_version, help="Show the version."
        ),
    ] = False,
) -> None:
    """Evaluate the goal-directedness of agents, from their actions and their
    activations.
    """
    if debug:
        os.environ[DEBUG] = "1"


def main() -> None:
    """Run `gde`, and end soon after its last output despite leftover threads.

    Exit codes: 0 ok, 2 wrong request, 3 finished with failures or stopped, 130
    interrupted by any signal.
    """
    try:
        _run()
    except SystemExit as done:
        code = done.code
        if not isinstance(code, int):
            code = UNEXPECTED if code else 0
        be_patient(code)
        raise
    except BaseException:
        be_patient(UNEXPECTED)
        raise


def _run() -> NoReturn:
    hold_standard()

    # A result shows its failures itself.
    logging.getLogger("gde").addHandler(logging.NullHandler())

    # Tokenizers and hubs must neither reach for a network nor write to the terminal.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

    # A script starts its background jobs with SIGINT ignored. Windows has no SIGHUP.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _interrupt)
    try:
        code = _answered(sys.argv[1:] or ["--help"])
    except GdeError as error:
        _debug(error)
        notes = getattr(error, "__notes__", [])
        folder = f" (run folder: {notes[0]})" if notes else ""
        _refuse(f"{error}{folder}", error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        leave(INTERRUPTED)
    except (OSError, UnicodeEncodeError) as error:
        # A name that is too long or has odd bytes, or an output that takes no more.
        _debug(error)
        _refuse(_unwritable(error), STOPPED if _is_full(error) else REFUSED)
    except Exception as error:
        # Every version of typer has a class of its own for wrong options.
        if not hasattr(error, "format_message"):
            raise
        _refuse(_misread(error), REFUSED)
    if code == INTERRUPTED:
        leave(INTERRUPTED)
    _flush()
    raise SystemExit(code)


def _answered(words: list[str]) -> Any:
    """Do what a command line says, and give its exit code."""
    try:
        return build_app()(words, prog_name="gde", standalone_mode=False)
    except Exception as error:
        if is_interruption(error):
            raise KeyboardInterrupt from error
        raise


def _interrupt(_: int, __: FrameType | None) -> None:
    """Interrupt as Ctrl-C does: where asyncio runs, it cancels its task.

    An exception out of a loop's own code could lose what wakes it up.
    """
    signal.raise_signal(signal.SIGINT)


def _debug(error: Exception) -> None:
    """Print the traceback of an error under `gde --debug`."""
    if os.environ.get(DEBUG):
        print(shown("".join(format_exception(error))), file=sys.stderr, end="")  # noqa: T201


def _flush() -> None:
    """Write what is left of the output, as long as an error can still be told."""
    try:
        sys.stdout.flush()
    except OSError as error:
        # Python would try again at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _refuse(f"cannot write the output: {error.strerror}", STOPPED)


def _is_full(error: Exception) -> bool:
    return isinstance(error, OSError) and error.errno in (ENOSPC, EDQUOT, EIO)


def _unwritable(error: Exception) -> str:
    if isinstance(error, UnicodeEncodeError):
        return "a name has bytes that are no UTF-8: rename the file or folder"
    where = (
        f"{error.filename}: " if isinstance(error, OSError) and error.filename else ""
    )
    reason = getattr(error, "strerror", "") or error
    return f"{where}{reason}"


def _misread(error: Any) -> str:
    """What is wrong with the words of a command line."""
    command = getattr(getattr(error, "ctx", None), "command_path", "gde")
    reason = " ".join(error.format_message().split())
    if reason.startswith("Usage:"):
        reason = f"{command} wants one of its commands"

    # The command may be one of a plugin.
    if reason.startswith("No such command"):
        from gde.request.catalogue import load_plugins

        reason += load_plugins(offers=False).off

    # Typer passes on pydantic's errors of its own types, whose messages have many
    # lines.
    param = getattr(error, "param", None)
    if param is not None and error.__cause__ is not None:
        from pydantic import ValidationError

        from gde.validating import explained

        if isinstance(error.__cause__, ValidationError):
            reason = str(explained(error.__cause__, (param.opts or [param.name])[0]))
    return f"{reason.rstrip('.')}; see `{command} --help`"


def _refuse(reason: str, code: int) -> NoReturn:
    """Print an error, here and nowhere else, as one line."""
    print(f"gde: {one_line(reason)}", file=sys.stderr)  # noqa: T201
    raise SystemExit(code) from None
