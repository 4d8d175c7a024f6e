"""What the stages of a run have left in its folder: manifest.json.

A stage that ends adds the rows and digests of its tables, and the SHA-256 of its files.
One that begins takes them out first: a killed run has nothing that does not fit.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from hashlib import file_digest, sha256
from os.path import isfile, islink
from pathlib import Path

from pydantic import TypeAdapter

from gde.errors import RunFolderError
from gde.files import PLAN, write_whole
from gde.store import digests, schema
from gde.store.damage import ADVICE
from gde.store.database import Database
from gde.store.received import ARRAYS, MANIFEST, RESULT

Entries = Mapping[str, Mapping[str, str]]
"""By stage: the tables and files that it has left."""
ENTRIES = TypeAdapter(dict[str, dict[str, str]])
TABLES: Mapping[str, tuple[str, ...]] = {
    "episodes": ("episodes", "turns"),
    "activations": ("activations", "replays"),
    "probes": ("probes",),
    "rewards": ("rewards", "judgements"),
    "facts": ("fact_sets", "episode_facts"),
    "result": (),
    "reports": (),
    "notes": ("facts", "calls", "requests", "interventions"),
}
"""By stage. What every stage writes belongs to the notes, which end with a command."""
READ = ("facts", "episodes", "rewards", "judgements", "probes")
"""Tables that are checked where a journal is opened. Turns and answers are checked with
their episodes, as these are read, and arrays likewise.
"""
COMPUTED = ("activations", "replays")
"""Tables that are checked, too, before anything is computed, as is every turn and
answer.
"""
FILES = {
    "activations": f"activations/*{ARRAYS}",
    "probes": f"probes/*{ARRAYS}",
    "result": RESULT,
    "notes": PLAN,
}
"""The pattern of a stage's files. Those of the reports are named by reporters."""
REMEDIES = {
    "activations": "make them anew with `gde probe {run}`",
    "probes": "make them anew with `gde probe {run}`",
    "rewards": "make them anew with `gde resume {run}`",
    "facts": "make them anew with `gde rescore {run}`",
    "result": "make it again with `gde rescore {run}`",
    "reports": "make it again with `gde report {run}`",
}
SELF = "manifest"
"""The entry with the digest of all others."""


def begin(folder: Path, *stages: str) -> None:
    """Take out what is about to be written.

    Raises:
        RunFolderError: the manifest is damaged.
    """
    known = _read(folder)
    left = {stage: known[stage] for stage in known if stage not in stages}
    if left != known:
        _write(folder, left)


def end(journal: Database, *stages: str, reports: Collection[Path] = ()) -> None:
    """Add what stages have left, unless it is there.

    Raises:
        RunFolderError: the manifest is damaged.
    """
    folder = journal.folder
    known = _read(folder)
    new: dict[str, dict[str, str]] = {
        stage: {} for stage in stages if stage not in known
    }
    if not new:
        return
    # After a power cut, the journal must not have less than the manifest says.
    journal.sync()
    for stage in new:
        files = reports if stage == "reports" else _files(folder, stage)
        names = sorted(file.relative_to(folder).as_posix() for file in files)
        new[stage] = {
            name: _now(journal, stage, name) for name in (*TABLES[stage], *names)
        }
    _write(folder, {**known, **new})


def is_reported(folder: Path) -> bool:
    """Whether all stages have ended, the reports with the last command."""
    return TABLES.keys() <= _read(folder).keys()


def faults(
    journal: Database, *stages: str, only: Collection[str] = ()
) -> Iterator[str]:
    """What stages have left and what is another now, one line each.

    Args:
        journal: of the run.
        stages: which; all, if none is given.
        only: names of tables and files to look at; empty for all.
    """
    folder = journal.folder
    while True:
        known = _read(folder)
        found = []
        for stage in stages or TABLES:
            for name, written in known.get(stage, {}).items():
                if name in (only or (name,)) and not _fits(
                    journal, stage, name, written
                ):
                    found.append(_told(folder, stage, name))
        # Another process may have begun to write meanwhile.
        if not found or _read(folder) == known:
            return iter(found)


def check(journal: Database, *stages: str, only: Collection[str] = ()) -> None:
    """Check that there is no fault.

    Raises:
        RunFolderError: there is one.
    """
    for fault in faults(journal, *stages, only=only):
        raise RunFolderError(fault)


def check_file(journal: Database, stage: str, file: Path) -> None:
    """Check a file, which a stranger may have named.

    Raises:
        RunFolderError: it is no plain file of the folder, or not what the stage left.
    """
    _check_plain(journal.folder, file)
    check(journal, stage, only=[file.relative_to(journal.folder).as_posix()])


def renew(journal: Database, *stages: str) -> None:
    """Delete what stages have left if it does not fit, so that they make it anew."""
    for stage in stages:
        if any(faults(journal, stage)):
            begin(journal.folder, stage)
            journal.write([(f"DELETE FROM {table}", ()) for table in TABLES[stage]])
            for file in _files(journal.folder, stage):
                file.unlink()


def copy(folder: Path, place: Path) -> None:
    """Copy the manifest to a copy of the record, without the plan and reports."""
    known = _read(folder)
    kept = {stage: known[stage] for stage in known.keys() - {"notes", "reports"}}
    _write(place, kept)


def _files(folder: Path, stage: str) -> list[Path]:
    return [*folder.glob(FILES[stage])] if stage in FILES else []


def _read(folder: Path) -> Entries:
    path = folder / MANIFEST
    if not path.exists():
        return {}
    try:
        entries = ENTRIES.validate_json(path.read_bytes())
        if entries.pop(SELF, None) != _signed(entries):
            raise ValueError("digest mismatch")
    except (OSError, ValueError) as error:
        said = str(error).splitlines()[0]
        raise RunFolderError(
            f"{path} is damaged ({said}): delete it, then `gde resume {folder}` makes another"
        ) from error
    return entries


def _write(folder: Path, entries: Entries) -> None:
    signed = {**entries, SELF: _signed(entries)}
    write_whole(folder / MANIFEST, json.dumps(signed, indent=1, sort_keys=True) + "\n")


def _signed(entries: Entries) -> Mapping[str, str]:
    text = json.dumps(entries, sort_keys=True)
    return {"digest": sha256(text.encode()).hexdigest()}


def _fits(journal: Database, stage: str, name: str, written: str) -> bool:
    try:
        return _now(journal, stage, name) == written
    except (OSError, RunFolderError):
        return False


def _now(journal: Database, stage: str, name: str) -> str:
    """The entry of a table or file as it is now."""
    if name in TABLES[stage]:
        return _table(journal, name)
    file = journal.folder / name
    _check_plain(journal.folder, file)
    with file.open("rb") as content:
        return file_digest(content, "sha256").hexdigest()


def _table(journal: Database, name: str) -> str:
    table = schema.tables()[name]
    # Those digests stand for their rows.
    has_digests = digests.COLUMN in table.columns
    what = digests.COLUMN if has_digests else "*"
    order = ", ".join(table.key or ("rowid",))
    n = 0
    total = sha256()
    for row in journal.each(f"SELECT {what} FROM {name} ORDER BY {order}"):
        total.update(ascii(tuple(row)).encode())
        n += 1
    return f"{n} rows, {total.hexdigest()}"


def _told(folder: Path, stage: str, name: str) -> str:
    what = f"run.sqlite: {name}" if name in TABLES[stage] else str(folder / name)
    remedy = REMEDIES.get(stage, "restore the folder from a copy")
    return f"{what} is not as gde wrote it: {remedy.format(run=folder)}"


def _check_plain(folder: Path, file: Path) -> None:
    """Check that it is a file below the folder, and not behind a link.

    Raises:
        RunFolderError: it is not.
    """
    inside = file.parts[len(folder.parts) :]
    is_below = file.is_relative_to(folder) and ".." not in inside
    links = [*filter(islink, [file, *file.parents][: len(inside)])]
    # A Path raises where the name is too long.
    if not is_below or links or not isfile(file):  # noqa: PTH113
        raise RunFolderError(f"{file}: wanted a plain file in {folder}; {ADVICE}")
