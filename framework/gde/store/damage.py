"""Damage of a run's file, told in one line."""

from collections.abc import Iterator
from contextlib import contextmanager

from gde.errors import RunFolderError

ADVICE = "the file is damaged: restore it from a copy"
SAID = 120
"""The most characters of what a decoder says."""


def is_full(error: Exception) -> bool:
    """Whether the disk took no more: also a reader writes, beside the file."""
    code = getattr(error, "sqlite_errorname", "")
    return code.startswith(("SQLITE_FULL", "SQLITE_IOERR_SHM", "SQLITE_IOERR_WRITE"))


def is_damage(error: Exception) -> bool:
    """Whether an error comes from a damaged file, not from a wrong query."""
    code = getattr(error, "sqlite_errorname", "")
    if code.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_IOERR")):
        return True

    # Damaged text is found only where Python decodes it, and numbers and JSON that gde
    # never writes only where SQLite computes with them.
    said = str(error)
    return any(each in said for each in ("decode", "overflow", "malformed JSON"))


@contextmanager
def decoding(table: str) -> Iterator[None]:
    """Blame the file for what no row of gde says; its digest may still fit.

    Whoever sends a folder can compute any.

    Raises:
        RunFolderError: what is decoded fails.
    """
    try:
        yield
    except (
        AttributeError,
        LookupError,
        OverflowError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        said = " ".join(str(error).split())[:SAID]
        raise RunFolderError(
            f"run.sqlite: a row of {table} is none that gde writes ({said}); {ADVICE}"
        ) from error
