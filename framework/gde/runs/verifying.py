"""Verify that a run folder is as it was written."""

from contextlib import closing
from pathlib import Path

from gde.errors import GdeError
from gde.runs.pipeline import checked_hash
from gde.store import digests
from gde.store.arrays import read_arrays
from gde.store.folder import RESULT, RunFolder


def verify(path: Path | str) -> tuple[str, ...]:
    """List what is wrong with a run folder, one line each.

    Nothing in it is changed or run.

    Raises:
        GdeError: it is no run folder.
    """
    folder = RunFolder.open(Path(path))
    faults = _of_journal(folder)
    arrays = [
        *folder.activations.glob("*.safetensors"),
        *folder.probes.glob("*.safetensors"),
    ]
    for file in sorted(arrays):
        try:
            read_arrays(file)
        except GdeError as error:
            faults.append(str(error))
    if (folder.path / RESULT).is_file():
        try:
            folder.read_result()
        except GdeError as error:
            faults.append(str(error))
    return tuple(faults)


def _of_journal(folder: RunFolder) -> list[str]:
    try:
        with closing(folder.journal(write=False)) as journal:
            faults = journal.faults()
            if not faults:
                checked_hash(folder, journal)
                faults += digests.faults(journal, folder.path)
            return faults
    except GdeError as error:
        return [str(error)]
