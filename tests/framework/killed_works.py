"""Commands other than runs that are killed from outside, in a process of their own."""

import random
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from killing import CATALOGUE, SERVER

from gde import Plan, evaluate, report
from gde.cli.main import main
from gde_plugins.exchange.importing import Log, Sample, import_log

EXPORTED = {"csv": "out.csv", "jsonl": "out.jsonl", "parquet": "out.parquet"}
SAMPLES = 200
"""Samples of the imported log."""


def import_a_log(place: Path) -> None:
    samples = [
        Sample(id=str(number), asked="1 + 1?", answer="2", scores={"acc": 1.0})
        for number in range(SAMPLES)
    ]
    log = Log(task="sums", model="m", samples=tuple(samples))
    import_log(log, place / "out")


def export_a_run(form: str, place: Path) -> None:
    out = str(place / EXPORTED[form])
    sys.argv = ["gde", "export", str(place / "run"), "--format", form, "--out", out]
    main()


def report_a_run(place: Path) -> None:
    report(place / "run", catalogue=CATALOGUE)


def whole_run(place: Path, _: random.Random) -> None:
    request = Plan(
        environment="corridor", agent="scripted", metrics=["success"], episodes=40
    )
    evaluate(request, place / "run", CATALOGUE)


def nothing(_: Path, __: random.Random) -> None:
    """The log is made where it is imported."""


Work = Callable[[Path], None]
Given = Callable[[Path, random.Random], None]
WORKS: dict[str, tuple[Given, Work, str]] = {
    "import": (nothing, import_a_log, "out"),
    "export csv": (whole_run, partial(export_a_run, "csv"), EXPORTED["csv"]),
    "export jsonl": (whole_run, partial(export_a_run, "jsonl"), EXPORTED["jsonl"]),
    "export parquet": (
        whole_run,
        partial(export_a_run, "parquet"),
        EXPORTED["parquet"],
    ),
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
