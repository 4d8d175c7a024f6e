"""A run as a folder: plan.toml, run.sqlite, activations/, probes/, result.json, report.html."""

import json
import shutil
import sqlite3
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gde.data.measure import Measure
from gde.data.plan import Plan
from gde.data.result import SCHEMA, Failure, Measurement, Result, Subject
from gde.errors import RunFailed, RunFolderError
from gde.request.planfile import plan_hash, read_plan, write_plan
from gde.store.journal import Journal, Statement
from gde.store.rows import to_json

PLAN, JOURNAL, RESULT = "plan.toml", "run.sqlite", "result.json"


@dataclass(frozen=True)
class RunFolder:
    """Paths of one run; opens and creates, computes nothing."""

    path: Path

    @classmethod
    def create(cls, plan: Plan, out: Path | None, parent: Path = Path("runs")) -> "RunFolder":
        """A new folder with the plan and an empty journal.

        Raises:
            RunFolderError: `out` exists, or cannot be made; nothing is left behind.
        """
        path = out or free_name(parent, plan_hash(plan)[:6])
        if path.exists():
            raise RunFolderError(f"{path} exists: name another folder with --out, or go on with `gde resume {path}`")
        try:
            path.mkdir(parents=True)
            Journal.create(path / JOURNAL).close()
            (path / PLAN).write_text(write_plan(plan), encoding="utf-8")
        except (OSError, sqlite3.Error) as error:
            shutil.rmtree(path, ignore_errors=True)
            reason = error.strerror if isinstance(error, OSError) else error
            raise RunFolderError(f"cannot make the run folder {path}: {reason}") from error
        return cls(path)

    @classmethod
    def open(cls, path: Path) -> "RunFolder":
        """The folder of an earlier run.

        Raises:
            RunFolderError: there is no such folder, or it holds no run.
        """
        if not path.is_dir():
            raise RunFolderError(f"no run folder {path}: wanted the folder that `gde eval` made")
        if not (path / PLAN).is_file():
            raise RunFolderError(f"{path} is no run folder: wanted {PLAN} in it")
        return cls(path)

    @property
    def journal_path(self) -> Path:
        return self.path / JOURNAL

    @property
    def activations(self) -> Path:
        return self.path / "activations"

    @property
    def probes(self) -> Path:
        return self.path / "probes"

    def plan(self) -> Plan:
        """The complete plan of the run."""
        return read_plan(self.path / PLAN)

    def journal(self) -> Journal:
        """The run's journal, to be closed by the caller."""
        return Journal.open(self.journal_path)

    def write_result(self, result: Result, journal: Journal) -> None:
        """Store the result as JSON and as tables."""
        statements: list[Statement] = [("DELETE FROM measurements", ()), ("DELETE FROM failures", ())]
        statements += [_measurement_row(measurement) for measurement in result.measurements]
        statements += [
            ("INSERT INTO failures VALUES (?, ?, ?)", (failure.stage, failure.subject, failure.reason))
            for failure in result.failures
        ]
        journal.write(statements)
        unfinished = self.path / f"{RESULT}.unfinished"
        try:
            unfinished.write_text(json.dumps(result_json(result), indent=1) + "\n", encoding="utf-8")
            unfinished.replace(self.path / RESULT)
        except OSError as error:
            raise RunFailed(f"cannot write {self.path / RESULT}: {error.strerror}") from error

    def read_result(self) -> Result:
        """The stored result.

        Raises:
            RunFolderError: the run is not finished, or its result is from another version.
        """
        path = self.path / RESULT
        if not path.is_file():
            raise RunFolderError(f"{self.path} has no result yet: finish it with `gde resume {self.path}`")
        stored = json.loads(path.read_text(encoding="utf-8"))
        if stored.get("schema") != SCHEMA:
            raise RunFolderError(f"{path}: wanted schema {SCHEMA}, got {stored.get('schema')}")
        return Result(
            run=stored["run"],
            status=stored["status"],
            plan_hash=stored["plan_hash"],
            measurements=tuple(_read_measurement(each) for each in stored["measurements"]),
            failures=tuple(Failure(**each) for each in stored["failures"]),
            provenance=stored["provenance"],
            subject=Subject(**stored.get("subject", {})),
            measures=tuple(Measure(**each) for each in stored["measures"]),
        )


def result_json(result: Result) -> dict[str, Any]:
    """The object that `gde eval --json` prints and result.json holds."""
    return {"schema": SCHEMA, **asdict(result)}


def _read_measurement(stored: dict[str, Any]) -> Measurement:
    interval = stored["interval"]
    return Measurement(**{**stored, "interval": None if interval is None else (interval[0], interval[1])})


def _measurement_row(measurement: Measurement) -> Statement:
    low, high = measurement.interval or (None, None)
    place = to_json(dict(measurement.where))
    values = (measurement.value, measurement.unit, measurement.n, low, high, measurement.reason, measurement.source)
    return "INSERT INTO measurements VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (measurement.name, place, *values)


def free_name(parent: Path, label: str) -> Path:
    """A folder that is not there yet, named by the moment and a label."""
    stem = f"{datetime.now(UTC).strftime('%Y%m%d-%H%M%S')}-{label}"
    names = [parent / stem, *(parent / f"{stem}-{i}" for i in range(2, 100))]
    return next(name for name in names if not name.exists())
