"""The record of an exception that a part has raised."""

import asyncio
from traceback import TracebackException

from gde.data.result import Failure
from gde.errors import GdeError, is_interruption

FRAMES = 20
"""Innermost calls of a traceback that are kept."""
CHARACTERS = 8_000
"""Characters of its end that are kept."""


def pass_on(error: BaseException) -> None:
    """Raise an interruption or cancellation again.

    Any other exception is the failure of the part that raised it.

    Raises:
        KeyboardInterrupt: the error is one, or was made of one.
        CancelledError: the current task is being cancelled.
    """
    if isinstance(error, KeyboardInterrupt):
        raise error
    if isinstance(error, asyncio.CancelledError) and _cancelled():
        raise error
    if is_interruption(error):
        raise KeyboardInterrupt from error


def _cancelled() -> bool:
    try:
        task = asyncio.current_task()
    except RuntimeError:
        # No event loop is running here.
        return False
    return task is not None and task.cancelling() > 0


def reason_of(error: BaseException) -> str:
    """Say an exception in one line, with its type if it was not expected."""
    text = str(error)
    if not isinstance(error, GdeError):
        text = f"{type(error).__name__}: {text}"
    # Arrays print on several lines.
    return _writable(" ".join(text.split()))


def failure_of(stage: str, subject: str, error: BaseException) -> Failure:
    """Give the failure of a part that raised an exception."""
    reason, traceback = reason_of(error), traceback_of(error)
    return Failure(stage=stage, subject=subject, reason=reason, traceback=traceback)


def traceback_of(error: BaseException) -> str:
    """Give the end of the traceback; empty for an expected error without a cause."""
    while isinstance(error, GdeError) and error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, GdeError):
        return ""
    text = "".join(TracebackException.from_exception(error, limit=-FRAMES).format())
    return _writable(text[-CHARACTERS:])


def _writable(text: str) -> str:
    # Lone surrogates cannot be encoded.
    return text.encode("utf-8", "replace").decode()
