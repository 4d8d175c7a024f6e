"""The seal of a finished run: its files are those that gde left when the run ended.

It is a signature of their digests, which takes a second for gigabytes, where a look at
every row takes a minute.
"""

from contextlib import suppress
from hashlib import file_digest
from hmac import compare_digest
from pathlib import Path

from gde.errors import RunFailed
from gde.files import write_whole
from gde.store import head
from gde.store.ownership import signature
from gde.store.received import JOURNAL, LOG, PLAN, RESULT

NAME = ".sealed"
FILES = (PLAN, JOURNAL, head.NAME, RESULT)
"""What is sealed; the journal has digests of all other files."""


def seal(folder: Path) -> None:
    """Seal a run that has ended well and that no process writes to.

    A run without a seal costs time only. It has none while others read it, since a part
    of the journal then stays in its log.
    """
    if not _has_log(folder):
        with suppress(OSError, RunFailed):
            write_whole(folder / NAME, _signed(folder))


def is_sealed(folder: Path) -> bool:
    """Whether the files of a run are those that were sealed."""
    path = folder / NAME
    if path.is_symlink() or _has_log(folder):
        return False
    try:
        return compare_digest(path.read_bytes()[:100], _signed(folder).encode())
    except OSError:
        return False


def _has_log(folder: Path) -> bool:
    log = folder / LOG
    return log.exists() and log.stat().st_size > 0


def _signed(folder: Path) -> str:
    # A folder keeps its number when it is renamed, and no copy has it.
    lines = [str(folder.stat().st_ino)]
    for name in FILES:
        with (folder / name).open("rb") as file:
            lines.append(f"{name} {file_digest(file, 'sha256').hexdigest()}")
    return signature("\n".join(lines).encode())
