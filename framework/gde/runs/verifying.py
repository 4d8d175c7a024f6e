"""Verify that a run folder is as it was written."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from gde.errors import GdeError
from gde.store import digests, manifest
from gde.store.folder import RunFolder
from gde.store.journal import Journal


def verify(path: Path | str) -> tuple[str, ...]:
    """List what is wrong with a run folder, one line each.

    Nothing in it is changed or run.

    Raises:
        GdeError: it is no run folder.
    """
    folder = RunFolder.open(Path(path))
    found: list[str] = []
    try:
        with closing(Journal.open(folder.journal_path, write=False)) as journal:
            found.extend(_faults(folder, journal))
    except GdeError as error:
        found.append(str(error))
    return tuple(found)


def _faults(folder: RunFolder, journal: Journal) -> Iterator[str]:
    yield from manifest.faults(journal)
    journal.check_structure()
    for scope in dict.fromkeys(scope for _, scope, _ in journal.damaged()):
        yield str(digests.damaged(scope))
    folder.check_plan(journal)
    if folder.is_finished:
        folder.read_result()
