"""A run as a folder of plan, journal, arrays, result and report.

It holds plan.toml, run.sqlite, activations/, probes/, result.json and report.html.
"""

import json
import os
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from secrets import token_hex
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import from_json

from gde.data.how import How
from gde.data.plan import Plan
from gde.data.probe import Fit
from gde.data.result import SCHEMA, Result
from gde.errors import RunFolderError
from gde.files import CONTEST, PLAN, cannot_make, new_folder, write_whole
from gde.request.howfile import how_of, read_settings
from gde.request.planfile import (
    Added,
    RecordedPlan,
    plan_hash,
    read_recorded,
    write_recorded,
)
from gde.store import manifest, received
from gde.store.damage import decoding
from gde.store.database import make
from gde.store.journal import Journal
from gde.store.lock import only_writer
from gde.store.trust import check_trusted, entry_of, is_trusted, trust_new
from gde.validating import marked

JOURNAL = received.JOURNAL
RESULT = received.RESULT
ODD = re.compile(r"[^\w.=+-]+")
"""Characters that the name of a folder had better not have."""
LONGEST = 80
"""The most characters of a label."""
STORED = TypeAdapter(Result)


@dataclass(frozen=True)
class RunFolder:
    """Paths of one run; opens and creates, computes nothing."""

    path: Path

    @classmethod
    def create(
        cls,
        plan: Plan,
        path: Path,
        how: How,
    ) -> "RunFolder":
        """A new folder with the plan and an empty journal, which the user trusts.

        Raises:
            ConfigError: `path` is an address.
            RunFolderError: it exists, or cannot be made; nothing is left behind.
        """
        with cls.filled(plan, path) as unfinished:
            trust_new(path, (unfinished.path / PLAN).read_bytes(), how)
        return cls(path)

    @classmethod
    @contextmanager
    def filled(cls, plan: Plan, path: Path) -> Iterator["RunFolder"]:
        """A new folder with the plan and an empty journal, to be filled.

        Raises:
            RunFolderError: as `create`.
        """
        with new_folder(path) as unfinished:
            try:
                make(unfinished / JOURNAL)
                recorded = RecordedPlan(id=token_hex(16), begun=plan)
                _write_plan(unfinished, recorded)
            except (OSError, sqlite3.Error) as error:
                raise cannot_make(path, error) from error
            yield cls(unfinished)

    @property
    def is_trusted(self) -> bool:
        """Whether the user trusts it with the plan that is in it."""
        return is_trusted(self.path)

    def copy_record(self, path: Path) -> None:
        """Copy everything but the reports to a new folder: another run with its own id."""
        path.mkdir(parents=True)
        received.copy_journal(self.journal_path, path)
        received.copy_files(self.path, path)
        manifest.copy(self.path, path)
        recorded = replace(self.recorded(), id=token_hex(16))
        _write_plan(path, recorded)

    @classmethod
    def open(cls, path: Path) -> "RunFolder":
        """The folder of an earlier run.

        Raises:
            RunFolderError: there is no such folder, it holds no run, or links.
        """
        # A file of others may name it, in any number of characters.
        try:
            is_folder = path.is_dir()
        except OSError as error:
            raise RunFolderError(f"{path}: {error.strerror}") from error
        if not is_folder:
            raise RunFolderError(
                f"no run folder {path}: give a folder that `gde eval` made"
            )
        if (path / CONTEST).is_file():
            raise RunFolderError(f"{path} is a contest: name one of its run folders")
        if not (path / PLAN).is_file():
            # The folder of a study or a profile holds one for each of its plans.
            inside = min(path.glob(f"*/{PLAN}"), default=None)
            if inside is not None:
                raise RunFolderError(
                    f"{path} holds several runs: name one, e.g. {inside.parent}"
                )
            raise RunFolderError(f"{path} is no run folder: wanted {PLAN} in it")
        received.check(path)
        return cls(path)

    @property
    def is_finished(self) -> bool:
        """Whether it has a result."""
        return (self.path / RESULT).is_file()

    @property
    def is_reported(self) -> bool:
        """Whether it has a result, and all reports of it: a kill may come between."""
        return self.is_finished and manifest.is_reported(self.path)

    @property
    def journal_path(self) -> Path:
        return self.path / JOURNAL

    @property
    def activations(self) -> Path:
        return self.path / "activations"

    @property
    def probes(self) -> Path:
        return self.path / "probes"

    def recorded(self) -> RecordedPlan:
        """The plan that the run began with, and what was added to it."""
        return read_recorded(self.path / PLAN)

    def plan(self) -> Plan:
        """The complete plan of the run, with what was added to it."""
        return self.recorded().plan

    def add(self, added: Added, how: How) -> None:
        """Write parts that were added to the plan of a run which the user trusts."""
        recorded = self.recorded()
        changed = replace(recorded, added={**recorded.added, **added})
        manifest.begin(self.path, "notes")
        # It may have been edited since the command began.
        check_trusted(self.path)
        text = write_recorded(changed)
        trust_new(self.path, text.encode(), how)
        write_whole(self.path / PLAN, text)

    def last_how(self) -> How:
        """How the user ran it last, or else as his settings say; whoever goes on with it
        goes on to the end.
        """
        entry = entry_of(self.path)
        how = entry.how if entry else read_settings().how
        return replace(how, stop_after=None)

    def journal(self) -> Journal:
        """The run's journal to be read, and closed by the caller.

        Raises:
            RunFolderError: it is damaged, or rows are missing.
        """
        journal = Journal.open(self.journal_path, write=False)
        try:
            manifest.check(journal, only=manifest.READ)
        except RunFolderError:
            journal.close()
            raise
        return journal

    @contextmanager
    def writing(self, *anew: str, is_new: bool = False) -> Iterator[Journal]:
        """The run's journal for a command that makes results, while no other does.

        Args:
            *anew: stages whose damaged results are deleted, to be made anew.
            is_new: whether this process has just made the folder, so that there is
                nothing to check.

        Raises:
            RunFolderError: the record is damaged, or plan.toml was changed after the
                run had begun.
        """
        with (
            only_writer(self.path),
            closing(Journal.open(self.journal_path)) as journal,
        ):
            if not is_new:
                self._make_sound(journal, anew)
            yield journal
            ended = manifest.TABLES.keys() - {"result", "reports"}
            manifest.end(journal, *ended)

    def _make_sound(self, journal: Journal, anew: Sequence[str]) -> None:
        """Check the record, and delete what is damaged and can be made anew."""
        # Facts of episodes follow from the rest of the record.
        anew = (*anew, "facts")
        # In order, so that the same fault is told whatever the hash seed.
        kept = [stage for stage in manifest.TABLES if stage not in anew]
        manifest.check(journal, *kept, only=(*manifest.READ, *manifest.COMPUTED))
        journal.check_structure()
        self.check_plan(journal)
        manifest.begin(self.path, "notes")
        manifest.renew(journal, *anew)
        journal.mend()

    @staticmethod
    @decoding("facts")
    def noted_how(journal: Journal) -> How:
        """The `How` that a run notes, as far as it is told.

        Raises:
            GdeError: the note is none that gde writes.
        """
        origin = journal.noted("provenance", dict)
        return how_of(marked(origin["how"]), "the journal") if origin else How()

    @decoding("facts")
    def check_plan(self, journal: Journal) -> None:
        """Check that plan.toml is the one that the run began with.

        Raises:
            RunFolderError: it is another.
        """
        begun = journal.noted("provenance", dict)
        now = plan_hash(self.recorded().begun)
        if begun is not None and begun["plan_hash"] != now:
            raise RunFolderError(
                f"{self.path}: plan.toml was changed after the run had begun (plan {begun['plan_hash']}, now {now}):"
                " restore it, or run the changed plan in a new folder with `gde eval`"
            )

    def write_result(self, result: Result, journal: Journal) -> None:
        """Store the result as JSON."""
        stored = json.loads(journal.secrets.scrubbed(json.dumps(result_json(result))))
        write_whole(self.path / RESULT, json.dumps(stored, indent=1) + "\n")

    def read_result(self) -> Result:
        """The stored result.

        Raises:
            RunFolderError: the run is not finished, or its result is from another
                version.
        """
        path = self.path / RESULT
        if not path.is_file():
            raise RunFolderError(
                f"{self.path} has no result yet: finish the run with `gde resume {self.path}`"
            )
        with closing(Journal.open(self.journal_path, write=False)) as journal:
            manifest.check_file(journal, "result", path)
        try:
            # Unlike json, it takes no text that could not be written again.
            stored = from_json(path.read_bytes())
            got = stored.pop("schema", None) if isinstance(stored, dict) else "no table"
            if got != SCHEMA:
                advice = f"make it anew with `gde rescore {self.path}`"
                raise RunFolderError(
                    f"{path}: wanted schema {SCHEMA}, got {got}: {advice}"
                )
            result = STORED.validate_python({**stored, "run": str(self.path)})
            for each in result.measurements:
                # The labels of a fit are text in the file, a layer's number too.
                Fit.of(each)
            return result
        except (ValueError, KeyError, OSError, RecursionError) as error:
            first = str(error).splitlines()[0]
            advice = f"make it again with `gde rescore {self.path}`"
            raise RunFolderError(f"{path} is damaged ({first}): {advice}") from error


def result_json(result: Result) -> dict[str, Any]:
    """The object that `gde eval --json` prints and result.json holds."""
    return {"schema": SCHEMA, **asdict(result)}


def free_name(label: str) -> Path:
    """A free folder in runs/ by the day and a label, with a number if needed."""
    stem = f"{datetime.now(UTC).date()}-{ODD.sub('-', label).strip('-.')[:LONGEST]}"
    path = Path("runs") / stem
    numbers = count(2)
    while os.path.lexists(path):
        path = path.with_name(f"{stem}-{next(numbers)}")
    return path


def runs_beside(file: Path, names: Sequence[object]) -> dict[str, Path]:
    """The run folders of the names that a file lists, each in the file's own folder.

    Raises:
        RunFolderError: a name is none of a folder there, or stands twice, or is a link.
    """
    found: dict[str, Path] = {}
    for name in names:
        run = file.parent / str(name)
        if run.name != name or name == ".." or name in found:
            raise RunFolderError(
                f"{file}: wanted the names of folders beside it, each once, got {name!r}"
            )
        if os.path.islink(run):  # noqa: PTH114  # a Path raises for a long name
            raise RunFolderError(f"{run} is a link: runs lie beside {file.name}")
        found[name] = run
    return found


def _write_plan(folder: Path, recorded: RecordedPlan) -> None:
    (folder / PLAN).write_text(write_recorded(recorded), encoding="utf-8")
