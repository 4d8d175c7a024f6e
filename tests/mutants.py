"""Mutation testing of the modules on which verdicts rest: `nox -s mutants`, or `python
tests/mutants.py [NAME ...]`.

Cosmic Ray changes one operator, number or branch of a module at a time in a copy of the
tree and runs the module's own tests. A mutant that no test notices survives. Each
target takes a random sample of its mutants, the same every time.
"""

import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkItem, WorkResult

ROOT = Path(__file__).parents[1]
TARGETS = ROOT / "tests" / "mutants.toml"
WANTED = 0.85
"""Share of mutants that must be killed, those listed as equivalent left out."""
SECONDS = 120
"""Time that the tests of one mutant may take; an endless loop counts as killed."""
NO_CHANGE = re.compile(
    r"ReplaceBinaryOperator_BitOr|RemoveDecorator|NumberReplacer_ignored|ReplaceTrueWithFalse_ignored"
)
"""Operators that only touch annotations (`int | None`) or that stop the module from
being imported.
"""


@dataclass(frozen=True)
class Target:
    """One module and the tests that should notice a change of it."""

    module: str
    tests: str
    sample: int
    equivalent: tuple[str, ...] = ()
    """Mutants that no test can notice, as `LINE TEXT: OPERATOR`, each with its reason
    in the TOML file.
    """


def main() -> int:
    """Test the named targets, or all; the exit code says whether enough mutants were
    killed.
    """
    wanted = sys.argv[1:]
    rows = tomllib.loads(TARGETS.read_text(encoding="utf-8"))["target"]
    targets = [
        Target(**{**row, "equivalent": tuple(row.get("equivalent", ()))})
        for row in rows
    ]
    chosen = [
        each
        for each in targets
        if not wanted or any(name in each.module for name in wanted)
    ]

    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        for part in ("framework", "plugins", "tests", "docs", "examples"):
            shutil.copytree(
                ROOT / part, tree / part, ignore=shutil.ignore_patterns("__pycache__")
            )
        shutil.copy(ROOT / "pyproject.toml", tree)

        killed = total = 0
        for target in chosen:
            dead, alive = run(target, tree, Path(folder))
            killed += dead
            total += dead + len(alive)
            print(f"{target.module}: {dead} of {dead + len(alive)} killed", flush=True)
            for line in alive:
                print(f"    survived: {line}", flush=True)

    share = killed / total if total else 1.0
    print(f"all: {killed} of {total} killed, {100 * share:.0f} %")
    return 0 if share >= WANTED else 1


def run(target: Target, tree: Path, folder: Path) -> tuple[int, list[str]]:
    """The number of killed mutants of a target, and the others in words."""
    config = folder / "target.toml"
    session = folder / "session.sqlite"
    session.unlink(missing_ok=True)
    command = f"{sys.executable} -m pytest -x -q -p no:cacheprovider --no-header {target.tests}"
    config.write_text(
        "[cosmic-ray]\n"
        f'module-path = "{target.module}"\n'
        f"timeout = {SECONDS}.0\n"
        "excluded-modules = []\n"
        f'test-command = "{command}"\n'
        "[cosmic-ray.distributor]\n"
        'name = "local"\n',
        encoding="utf-8",
    )
    environment = {
        "PYTHONPATH": f"{tree / 'framework'}:{tree / 'plugins'}",
        "OMP_NUM_THREADS": "1",
    }
    call = [sys.executable, "-m", "cosmic_ray.cli"]
    settings = {"cwd": tree, "env": {**os.environ, **environment}, "check": True}

    subprocess.run(
        [*call, "init", str(config), str(session)], **settings, capture_output=True
    )
    with use_db(str(session), WorkDB.Mode.open) as database:
        keep_sample(database, target)
    subprocess.run(
        [*call, "exec", str(config), str(session)], **settings, capture_output=True
    )
    with use_db(str(session), WorkDB.Mode.open) as database:
        return outcomes(database, target, tree)


def keep_sample(database: WorkDB, target: Target) -> None:
    """Mark all mutants as skipped but a random sample."""
    items = [
        item
        for item in database.work_items
        if not NO_CHANGE.search(item.mutations[0].operator_name)
    ]
    kept = {
        item.job_id
        for item in random.Random(target.module).sample(
            items, min(target.sample, len(items))
        )
    }
    for item in list(database.pending_work_items):
        if item.job_id not in kept:
            database.set_result(
                item.job_id, WorkResult(worker_outcome=WorkerOutcome.SKIPPED)
            )


def outcomes(database: WorkDB, target: Target, tree: Path) -> tuple[int, list[str]]:
    """How many mutants were killed, and which survived."""
    results = dict(database.results)
    killed = 0
    alive = []
    for item in database.work_items:
        result = results.get(item.job_id)
        if result is None or result.worker_outcome == WorkerOutcome.SKIPPED:
            continue
        if result.test_outcome == TestOutcome.SURVIVED:
            text = described(item, tree / target.module)
            if text not in target.equivalent:
                alive.append(text)
        else:
            killed += 1
    return killed, alive


def described(item: WorkItem, module: Path) -> str:
    """A mutant in words that stay the same when lines move."""
    (mutation,) = item.mutations
    row = mutation.start_pos[0]
    line = module.read_text(encoding="utf-8").splitlines()[row - 1].strip()
    operator = mutation.operator_name.removeprefix("core/")
    return f"{line}: {operator} {mutation.occurrence}"


if __name__ == "__main__":
    sys.exit(main())
