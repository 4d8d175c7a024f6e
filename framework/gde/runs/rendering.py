"""The reports of a run, rendered from its result and its evidence."""

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from gde.data.evidence import Evidence
from gde.data.result import Failure, Result
from gde.errors import GdeError
from gde.request.ready import Ready
from gde.runs.pipeline import Pipeline
from gde.stages.context import Resources
from gde.stages.deadlines import interrupting
from gde.stages.evidence import gather
from gde.stages.failing import failure_of, pass_on
from gde.stages.scoring import remarked
from gde.store import manifest
from gde.store.folder import RunFolder


def render_all(
    run: Pipeline, result: Result, evidence: Evidence
) -> tuple[list[Path], list[Failure]]:
    """Render every report of the plan that can be made here; collect failures."""
    seconds = run.ready.how.part_seconds
    pages = []
    failures = []
    for chosen in run.ready.reporters:
        if chosen.absent:
            continue
        try:
            reporter: Any = run.resources.make(chosen)
            with interrupting(seconds, f"more than run.part_seconds={seconds}"):
                page = _rendered(run, chosen.label, reporter, result, evidence)
            pages.append(page)
        except BaseException as error:
            pass_on(error)
            failures.append(failure_of("report", chosen.label, error))
    return pages, failures


def render(run: Pipeline, result: Result) -> list[Path]:
    """Render the plan's reports and return the files to open.

    Reporters that are not installed are left out.

    Raises:
        GdeError: no reporter is installed.
    """
    installed = [chosen for chosen in run.ready.reporters if not chosen.absent]
    if run.ready.reporters and not installed:
        raise GdeError(run.ready.reporters[0].absent)

    # All reporters are made before the first renders, so that a missing package leaves
    # no half of the reports.
    reporters = []
    for chosen in installed:
        reporters.append((chosen.label, run.resources.make(chosen)))

    evidence = gather(run.folder, run.journal, lambda: run.ready)
    # The result tells already which metrics cannot speak.
    evidence, _ = remarked(evidence, run.metrics())
    manifest.begin(run.folder.path, "reports")
    pages = [
        _rendered(run, label, reporter, result, evidence)
        for label, reporter in reporters
    ]
    end_with(run, pages, "reports")
    return pages


def render_elsewhere(ready: Ready, folder: RunFolder, out: Path) -> list[Path]:
    """Render reports of a run into another folder; nothing is written to the run.

    Raises:
        GdeError: there is no result, or a report cannot be made.
    """
    result = folder.read_result()
    out.mkdir(parents=True, exist_ok=True)
    pages = []
    with (
        closing(folder.journal()) as journal,
        closing(Resources(ready)) as resources,
    ):
        evidence = gather(folder, journal, lambda: ready)
        for chosen in ready.reporters:
            reporter = resources.make(chosen)
            pages.append(reporter.render(ready.plan, result, evidence, out))
    return pages


def end_with(run: Pipeline, pages: Iterable[Path], *stages: str) -> None:
    """Note what stages have left, the reports' pages in the run folder with them."""
    inside = [page for page in pages if page.is_relative_to(run.folder.path)]
    manifest.end(run.journal, *stages, reports=inside)


def _rendered(
    run: Pipeline, label: str, reporter: Any, result: Result, evidence: Evidence
) -> Path:
    page = reporter.render(run.ready.plan, result, evidence, run.folder.path)
    if not (isinstance(page, Path) and page.is_file()):
        advice = "render(...) writes a file and returns its path"
        raise GdeError(
            f"reporter {label!r}: wanted the Path of a file that is there, got {page!r}; {advice}"
        )
    return page
