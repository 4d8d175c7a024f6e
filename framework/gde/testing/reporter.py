"""The check of reporters (`gde.parts.reporter`)."""

from collections.abc import Callable
from contextlib import chdir
from dataclasses import replace
from pathlib import Path

from gde.data.evidence import Evidence
from gde.data.plan import Plan
from gde.data.result import Result
from gde.parts.reporter import Reporter
from gde.testing.promises import calling, promise, promise_equal, promise_protocol
from gde.testing.samples import sample_evidence, sample_plan, sample_result

RECORD = ("plan.toml", "run.sqlite", "result.json")


def check_reporter(make: Callable[[], Reporter], folder: Path) -> None:
    """Render a run and a failed run, and check every promise of `Reporter`.

    Args:
        make: gives the reporter.
        folder: an empty folder to work in.

    Raises:
        AssertionError: a promise is broken.
    """
    plan = sample_plan()
    result = sample_result()
    promise_protocol(make(), Reporter)
    _check_rendering(make(), folder / "good", plan, result, sample_evidence())

    failed = replace(result, status="failed", measurements=())
    _check_rendering(make(), folder / "failed", plan, failed, Evidence(trajectories=()))


def _check_rendering(
    reporter: Reporter, folder: Path, plan: Plan, result: Result, evidence: Evidence
) -> None:
    run = folder / "run"
    run.mkdir(parents=True)
    for name in RECORD:
        (run / name).write_text(name, encoding="utf-8")

    # Another working directory shows a reporter that writes to relative paths.
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    with chdir(elsewhere):
        page: Path = calling(
            lambda: reporter.render(plan, result, evidence, run),
            f"render must not raise on a run of status {result.status!r}",
        )

    promise(
        isinstance(page, Path),
        f"render must give the path of the file to open, got {page!r}",
    )
    promise(
        run.resolve() in page.resolve().parents,
        f"render must write inside the run folder, got {page}",
    )
    promise(
        page.is_file() and page.stat().st_size,
        f"render must give a file to open, got {page}",
    )
    outside = [path.name for path in elsewhere.iterdir()]
    promise(
        not outside,
        f"render must write inside the run folder only, it also wrote {', '.join(outside)}",
    )

    for name in RECORD:
        file = run / name
        kept = file.read_text(encoding="utf-8") if file.is_file() else "nothing"
        promise_equal(kept, name, f"render must not change the record, e.g. {name}")
