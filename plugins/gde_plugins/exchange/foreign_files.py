"""Files of other programs: checks, and faults described in one line."""

from math import isfinite
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from pydantic import ValidationError

from gde.errors import GdeError
from gde.foreign import fault

AT_MOST = 4 * 2**30
"""Bytes, unpacked: a log is held in memory."""
SMALL = 2**25
"""Bytes, unpacked, that any archive may have."""
RATIO = 200
"""How many times its own size a larger archive may unpack to. Logs reach a tenth of
it, texts of one letter five times as much.
"""
LONGEST = 200
"""Characters of a reason."""


def check_size(path: Path) -> None:
    """Refuse what would not fit in memory, before it is read.

    Raises:
        GdeError: the file is too large, or cannot be looked at.
    """
    try:
        _refuse_beyond(path, path.stat().st_size)
    except OSError as error:
        raise GdeError(f"{path}: {error.strerror}") from error


def check_archive(path: Path, wanted: str, one_of: tuple[str, ...]) -> None:
    """Refuse archives that are damaged, of another kind or too large for memory.

    Args:
        path: the file.
        wanted: what it should be.
        one_of: names of which the archive has one.

    Raises:
        GdeError: it is not.
    """
    try:
        with ZipFile(path) as archive:
            entries = archive.infolist()
    except (BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise GdeError(
            f"{path}: wanted {wanted}, got no whole zip archive; was it cut short?"
        ) from error
    if not {entry.filename for entry in entries} & {*one_of}:
        raise GdeError(
            f"{path}: wanted {wanted}, got a zip archive without {' or '.join(one_of)}"
        )
    unpacked = sum(entry.file_size for entry in entries)
    _refuse_beyond(path, unpacked)
    ratio = unpacked // path.stat().st_size
    if unpacked > SMALL and ratio > RATIO:
        raise GdeError(
            f"{path}: wanted {wanted}, got an archive that unpacks to {ratio} times its size;"
            " if it is no bomb, make a .json of it with `inspect log convert`"
        )


def _refuse_beyond(path: Path, size: int) -> None:
    """Refuse so many bytes of a file, once they are unpacked.

    Raises:
        GdeError: they are too many.
    """
    if size > AT_MOST:
        limit = AT_MOST / 2**30
        raise GdeError(
            f"{path}: wanted at most {limit:.0f} GiB of samples, got {size / 2**30:.1f}; import it in parts"
        )


def what_is_wrong(error: Exception) -> str:
    """The first fault that a reader has found, as one line."""
    if isinstance(error, ValidationError):
        message = fault(error)
    elif isinstance(error, KeyError):
        message = f"there is no {error}"
    else:
        message = str(error) or type(error).__name__
    return " ".join(message.split())[:LONGEST]


def number(value: object) -> float | None:
    """A score as a number; None for what is none, is not finite or does not fit."""
    if not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if isfinite(found) else None
