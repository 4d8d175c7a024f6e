"""Digests of the files of a run in its journal, so that none can be replaced unnoticed.

A file has no digest while it is written, and gets one once it is complete.
"""

from binascii import crc32
from collections.abc import Iterable, Iterator
from os.path import islink
from pathlib import Path

from gde.errors import RunFolderError
from gde.store.arrays import array_checksum
from gde.store.checksums import ADVICE
from gde.store.database import Database, Statement
from gde.store.received import ARRAYS, RESULT

REPORTED = "reported"
"""The note of a run all of whose reports were rendered from its present result."""
BLOCK = 2**20
"""Bytes that are read at once."""


def forget(journal: Database, names: Iterable[str]) -> None:
    """Delete the digests of files that are about to be written.

    Args:
        journal: of the run.
        names: paths beneath the run folder.
    """
    journal.write([forgetting(name) for name in names])


def forgetting(name: str) -> Statement:
    """The statement that deletes a digest."""
    return "DELETE FROM files WHERE name = ?", (name,)


def forget_reports(journal: Database) -> None:
    """Delete the digests of all reports: a reporter may write any file anew."""
    query = "DELETE FROM files WHERE name <> ? AND name NOT LIKE ?"
    journal.write(
        [
            (query, (RESULT, f"%{ARRAYS}")),
            ("DELETE FROM facts WHERE name = ?", (REPORTED,)),
        ]
    )


def keeping(folder: Path, file: Path) -> Statement:
    """The statement that keeps the digest of a complete file of a run folder."""
    name = file.relative_to(folder).as_posix()
    return "INSERT OR REPLACE INTO files VALUES (?, ?, 0)", (name, digest(file))


def digest(file: Path) -> str:
    """CRC-32 of a file; of arrays, what they are signed with, which readers check."""
    if file.suffix == ARRAYS:
        return array_checksum(file)
    total = 0
    with file.open("rb") as content:
        while block := content.read(BLOCK):
            total = crc32(block, total)
    return f"{total:08x}"


def matches(journal: Database, folder: Path, file: Path) -> bool:
    """Whether a file is the one whose digest was kept, if one was.

    Raises:
        RunFolderError: it is no plain file of the folder: the record, which names it,
        may come from anyone.
    """
    is_below = file.is_relative_to(folder)
    is_below = is_below and ".." not in file.relative_to(folder).parts
    is_below = is_below and not _is_behind_link(folder, file)
    if not is_below or file.is_symlink() or (file.exists() and not file.is_file()):
        raise RunFolderError(f"{file}: wanted a plain file in {folder}; {ADVICE}")
    name = file.relative_to(folder).as_posix()
    rows = journal.signed("files", "SELECT * FROM files WHERE name = ?", (name,))
    return all(row["digest"] == digest(file) for row in rows)


def _is_behind_link(folder: Path, file: Path) -> bool:
    """Whether a folder between them is a link."""
    between = [*file.relative_to(folder).parents][:-1]
    # A Path raises where the name is too long.
    return any(islink(folder / each) for each in between)  # noqa: PTH114


def check(journal: Database, folder: Path, file: Path) -> None:
    """Check that a file is the one whose digest was kept, if one was.

    Raises:
        RunFolderError: it is not.
    """
    if not matches(journal, folder, file):
        raise RunFolderError(f"{file} is not the file that gde wrote; {ADVICE}")


def faults(journal: Database, folder: Path) -> Iterator[str]:
    """The files that are missing or others than gde wrote."""
    for row in journal.signed("files", "SELECT * FROM files"):
        file = folder / row["name"]
        try:
            check(journal, folder, file)
        except OSError as error:
            yield f"{file}: {error.strerror}"
        except RunFolderError as error:
            yield str(error)
