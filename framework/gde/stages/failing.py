"""What is recorded of an exception that a part has raised."""

import asyncio
from traceback import TracebackException

from gde.errors import GdeError

FRAMES = 20
"""Innermost calls of a traceback that are kept,"""
CHARACTERS = 8_000
"""and the characters of its end."""


def pass_on(error: BaseException) -> None:
    """Raise again what is nobody's fault: a user, or the event loop, wants the work to end. All else that a part has
    raised, whatever class it made for it, is its own failure.

    Raises:
        KeyboardInterrupt: it is one, or a group that holds one.
        CancelledError: the task in which it was raised is being cancelled.
    """
    if isinstance(error, BaseExceptionGroup) and error.subgroup(KeyboardInterrupt):
        raise KeyboardInterrupt from error
    if isinstance(error, KeyboardInterrupt) or (isinstance(error, asyncio.CancelledError) and _cancelled()):
        raise error


def _cancelled() -> bool:
    """Whether the current task is being cancelled."""
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no event loop is running here
        return False
    return task is not None and task.cancelling() > 0


def reason_of(error: BaseException) -> str:
    """An exception in one line: the message where it was expected, with its type where it was not."""
    return _writable(str(error) if isinstance(error, GdeError) else f"{type(error).__name__}: {error}")


def traceback_of(error: BaseException) -> str:
    """Where an exception was raised, as Python tells it; empty for an expected one, whose message says what to do, and
    which no other one has led to."""
    while isinstance(error, GdeError) and error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, GdeError):
        return ""
    text = "".join(TracebackException.from_exception(error, limit=-FRAMES).format())
    return _writable(text[-CHARACTERS:])


def _writable(text: str) -> str:
    """Halves of characters are in no file."""
    return text.encode("utf-8", "replace").decode()
