"""Run folders that the user does not trust: read, never written.

Such a folder may come from anyone. SQLite would follow links, play back a journal that
names other files, and write beside the file that it reads. So only plain files of the
format are opened, and those that SQLite would have to write to are copied first.
"""

import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from gde.errors import RunFolderError
from gde.store import head, migration, schema
from gde.store.connecting import connect
from gde.store.trust import is_trusted

JOURNAL = "run.sqlite"
PLAN = "plan.toml"
RESULT = "result.json"
LOG = f"{JOURNAL}-wal"
ALONE = (PLAN, JOURNAL, LOG, head.NAME, RESULT)
"""Files of the format."""
FOLDERS = ("activations", "probes")
"""Folders of the format, with arrays in them."""
ARRAYS = ".safetensors"
REFUSED = f"{JOURNAL}-journal"
"""A rollback journal, which gde never leaves behind. It may name files to delete."""
VERSION_AT = 60
"""Where a SQLite file holds its user_version: 4 bytes, big-endian."""


def check(folder: Path) -> None:
    """Refuse a folder that is not made of plain files.

    Raises:
        RunFolderError: a link, a special file, or a rollback journal.
    """
    if os.path.lexists(folder / REFUSED):
        raise RunFolderError(
            f"{folder / REFUSED}: no run of gde has such a file; delete it only if you know where it comes from"
        )
    for path in _of_format(folder):
        found = path.lstat()
        wanted = stat.S_ISDIR if path.name in FOLDERS else stat.S_ISREG
        if not wanted(found.st_mode):
            raise RunFolderError(
                f"{path}: wanted a plain file or folder, got a link or a special file; replace it by a copy"
            )


@contextmanager
def readable(journal: Path) -> Iterator[tuple[Path, bool]]:
    """Where a journal can be read, and whether nothing there changes any more.

    A journal of an earlier version is brought forward in a copy.

    Raises:
        RunFolderError: it is no plain file, or of an unknown version.
    """
    folder = journal.parent
    if (
        os.access(folder, os.W_OK)
        and is_trusted(folder)
        and own_version(journal) is None
    ):
        yield journal, False
        return
    check(folder)
    is_current = version(journal) == schema.VERSION
    log = folder / LOG
    if is_current and not (log.is_file() and log.stat().st_size):
        yield journal, True
        return
    with TemporaryDirectory(prefix="gde-") as place:
        yield copy_journal(journal, Path(place)), False


def own_version(journal: Path) -> int | None:
    """The schema version of a journal of one's own; None for the present one.

    Such a journal may be open in this process, which would lose SQLite's locks on it if
    it opened and closed the file by itself. A damaged one counts as of the present.
    """
    try:
        with closing(connect(journal, write=False)) as connection:
            ((found,),) = connection.execute("PRAGMA user_version")
    except sqlite3.Error:
        return None
    return None if found == schema.VERSION else int(found)


def version(journal: Path) -> int:
    """The schema version in the first bytes of a SQLite file; 0 for another file."""
    with journal.open("rb") as file:
        beginning = file.read(VERSION_AT + 4)
    if not beginning.startswith(b"SQLite format 3\0"):
        return 0
    return int.from_bytes(beginning[VERSION_AT:], "big")


def copy_journal(journal: Path, place: Path) -> Path:
    """Copy a journal to another folder, brought forward to the present version.

    Raises:
        RunFolderError: it is of an unknown version, or damaged.
    """
    # The head first: a log that is being written may then only be ahead of it.
    for name in (head.NAME, LOG, JOURNAL):
        path = journal.with_name(name)
        if path.is_file():
            shutil.copyfile(path, place / name)
    copied = place / JOURNAL
    found = version(copied)
    if found == schema.VERSION:
        # A user has deleted it, to go on with what is left.
        if not copied.with_name(head.NAME).exists():
            with closing(connect(copied)) as connection:
                copied.with_name(head.NAME).write_bytes(head.create(connection))
        return copied
    if not migration.OLDEST <= found < schema.VERSION:
        raise RunFolderError(
            f"{journal}: wanted schema {migration.OLDEST} to {schema.VERSION}, got {found};"
            " it is damaged, or use a newer gde"
        )
    return migration.bring_forward(copied)


def copy_files(folder: Path, place: Path) -> None:
    """Copy everything of the format but plan and journal to another folder."""
    for path in _of_format(folder):
        target = place / path.relative_to(folder)
        if path.name in FOLDERS:
            target.mkdir()
        elif path.name == RESULT or path.suffix == ARRAYS:
            shutil.copyfile(path, target)


def _of_format(folder: Path) -> Iterator[Path]:
    for name in ALONE:
        if os.path.lexists(folder / name):
            yield folder / name
    for name in FOLDERS:
        below = folder / name
        if os.path.lexists(below):
            yield below
            # Nothing is looked for behind a link.
            if not below.is_symlink() and below.is_dir():
                yield from sorted(below.glob(f"*{ARRAYS}"))
