"""Commands other than runs that are killed from outside, in a process of their own."""

import json
import random
import shutil
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

from killing import CATALOGUE, SERVER

from gde import Plan, evaluate, report, resume
from gde.cli.main import main
from gde.data.json import Json
from gde.store import migration, schema
from gde_plugins.exchange.importing import import_log
from gde_plugins.exchange.lm_eval_logs import read_lm_eval

EARLIER = Path(__file__).parent / "store/earlier"
EXPORTED = {"csv": "out.csv", "jsonl": "out.jsonl", "parquet": "out.parquet"}
SAMPLES = 200
"""Samples of the imported log."""


def import_a_log(place: Path) -> None:
    import_log(read_lm_eval(place / "samples_sums.jsonl"), place / "out")


def export_a_run(form: str, place: Path) -> None:
    out = str(place / EXPORTED[form])
    sys.argv = ["gde", "export", str(place / "run"), "--format", form, "--out", out]
    main()


def bring_forward(place: Path) -> None:
    resume(place / "run", CATALOGUE)


def report_a_run(place: Path) -> None:
    report(place / "run", catalogue=CATALOGUE)


def earlier_run(place: Path, rng: random.Random) -> None:
    """A run of an earlier schema."""
    name = f"schema{rng.randint(migration.OLDEST, schema.VERSION - 1)}"
    (place / "run").mkdir()
    shutil.copyfile(EARLIER / f"{name}.toml", place / "run/plan.toml")
    with closing(sqlite3.connect(place / "run/run.sqlite")) as connection:
        connection.executescript((EARLIER / f"{name}.sql").read_text())
    if (EARLIER / f"{name}.head").exists():
        shutil.copyfile(EARLIER / f"{name}.head", place / "run/run.head")


def whole_run(place: Path, _: random.Random) -> None:
    request = Plan(
        environment="corridor", agent="scripted", metrics=["success"], episodes=40
    )
    evaluate(request, place / "run", CATALOGUE)


def log_to_import(place: Path, _: random.Random) -> None:
    lines = []
    for number in range(SAMPLES):
        lines.append(
            json.dumps({**SAMPLE, "doc_id": number, "doc_hash": f"{number:064x}"})
        )
    (place / "samples_sums.jsonl").write_text("\n".join(lines))


SAMPLE: dict[str, Json] = {
    "arguments": [["1 + 1?", {}]],
    "resps": [["2"]],
    "filtered_resps": ["2"],
    "filter": "none",
    "metrics": ["acc"],
    "acc": 1.0,
}
Work = Callable[[Path], None]
Given = Callable[[Path, random.Random], None]
WORKS: dict[str, tuple[Given, Work, str]] = {
    "import": (log_to_import, import_a_log, "out"),
    "export csv": (whole_run, partial(export_a_run, "csv"), EXPORTED["csv"]),
    "export jsonl": (whole_run, partial(export_a_run, "jsonl"), EXPORTED["jsonl"]),
    "export parquet": (
        whole_run,
        partial(export_a_run, "parquet"),
        EXPORTED["parquet"],
    ),
    "migration": (earlier_run, bring_forward, "run-copy"),
    "report": (whole_run, report_a_run, "run"),
}
"""What is given, what is done with it, and what that makes."""


def exit_code(work: Work, place: Path, seconds: float) -> int:
    """The exit code of some work that is killed after so many seconds."""
    process = SERVER.Process(target=work, args=(place,))
    process.start()
    process.join(seconds)
    process.kill()
    process.join()
    assert process.exitcode is not None
    return process.exitcode
