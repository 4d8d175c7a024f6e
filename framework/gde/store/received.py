"""Run folders that the user does not trust: read, never written.

Such a folder may come from anyone. SQLite would follow links, play back a journal that
names other files, and write beside the file that it reads. So only plain files of the
format are opened, and those that SQLite would have to write to are copied first.
"""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from gde.errors import RunFolderError
from gde.files import PLAN
from gde.store.trust import is_trusted

JOURNAL = "run.sqlite"
RESULT = "result.json"
MANIFEST = "manifest.json"
LOG = f"{JOURNAL}-wal"
ALONE = (PLAN, JOURNAL, LOG, MANIFEST, RESULT)
"""Files of the format."""
FOLDERS = ("activations", "probes")
"""Folders of the format, with arrays in them."""
ARRAYS = ".safetensors"
REFUSED = f"{JOURNAL}-journal"
"""A rollback journal, which gde never leaves behind. It may name files to delete."""


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

    Raises:
        RunFolderError: it is no plain file.
    """
    folder = journal.parent
    if os.access(folder, os.W_OK) and is_trusted(folder):
        yield journal, False
        return
    check(folder)
    log = folder / LOG
    if not (log.is_file() and log.stat().st_size):
        yield journal, True
        return
    with TemporaryDirectory(prefix="gde-") as place:
        yield copy_journal(journal, Path(place)), False


def copy_journal(journal: Path, place: Path) -> Path:
    """Copy a journal with its log to another folder."""
    for name in (LOG, JOURNAL):
        path = journal.with_name(name)
        if path.is_file():
            shutil.copyfile(path, place / name)
    return place / JOURNAL


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
