"""The last stages of a run: measure, store the result, report."""

import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from gde.data.evidence import Evidence
from gde.data.measure import Measure, Measures
from gde.data.probe import ProbeReport
from gde.data.result import Failure, Measurement, Result, RunStatus, Subject
from gde.errors import GdeError
from gde.offers import MetricOffer
from gde.parts.metric import RemarksTurns
from gde.request.catalogue import call_each
from gde.request.ready import Chosen, Ready
from gde.request.secrets import NOTED
from gde.runs.pipeline import Pipeline
from gde.runs.probing import measures_of_probes
from gde.stages.context import Resources
from gde.stages.deadlines import interrupting
from gde.stages.evidence import gather
from gde.stages.failing import pass_on, reason_of, traceback_of
from gde.stages.model_use import models_used
from gde.stages.scoring import score
from gde.stages.verdicts import results
from gde.store import manifest
from gde.store.folder import RunFolder
from gde.store.journal import REASON, RETRIED, Journal

EARLIER = "keeps its earlier numbers"


def conclude(
    run: Pipeline, earlier: Result | None = None, as_before: Collection[str] = ()
) -> Result:
    """Score by the metrics of the plan, store the result and render the reports.

    Args:
        run: its stages are done, or stopped.
        earlier: a result to which this one is added. Its numbers are kept if their
            metric is not asked now, or is not installed here.
        as_before: the metrics that are configured as in `earlier`. Their numbers are
            also kept if they fail now, e.g. because the weights that they ask are gone.
    """
    secrets = run.resources.secrets
    secrets.keep_out(run.journal.noted(NOTED, dict) or ())

    evidence = gather(run.folder, run.journal, lambda: run.ready)
    about = subject(run.ready, run.journal)
    measures = _measures(run.ready, earlier)
    meanings = Measures(measures)
    decoded = tuple(
        results(evidence.probe_reports, meanings, run.ready.plan.seed, run.conditions)
    )

    # Metrics may read what was measured before, so the kept numbers are given to them.
    kept = _kept(run, earlier) if earlier else []
    metrics = _metrics(run, earlier)
    measured, failed = score(
        metrics,
        evidence,
        run.conditions,
        tuple(kept),
        run.ready.how.part_seconds,
        run.watch,
    )

    remarked, speechless = _with_remarks(run, evidence)
    silent = {failure.subject for failure in failed}
    failed += tuple(one for one in speechless if one.subject not in silent)

    saved: list[Measurement] = []
    if earlier and earlier.subject == about:
        failing = {failure.subject for failure in failed}.intersection(as_before)
        probes = run.journal.probes()
        saved = _saved(earlier, failing, (*measured, *decoded), probes)

    measurements = (*kept, *measured, *saved, *decoded)
    failures = _failures(run, evidence)
    if earlier:
        failures += _kept_failures(run, earlier)
    failures += _with_note(failed, saved)
    scrubbed = secrets.scrubbed_failures(failures)

    result = Result(
        run=str(run.folder.path),
        status=_status(measurements, scrubbed, evidence),
        plan_hash=run.plan_hash,
        measurements=measurements,
        failures=scrubbed,
        provenance=_origin(run, earlier),
        subject=about,
        measures=measures,
        models=models_used(run.journal, run.ready.plan, run.ready.how.prices),
    )
    # The numbers are stored before the reports, which may fail.
    run.folder.write_result(result, run.journal)
    result = _with_report_failures(run, result, remarked)
    hook = run.ready.catalogue.plugins.manager.hook.gde_run_finished
    call_each(hook, warnings.warn, result=result)
    return result


def _origin(run: Pipeline, earlier: Result | None) -> dict[str, Any]:
    """The provenance; numbers that are kept keep the versions of their metrics."""
    origin: dict[str, Any] = run.origin()
    known = earlier.provenance.get("parts") if earlier else None
    if isinstance(known, dict):
        origin["parts"] = {**known, **origin["parts"]}
    return origin


def subject(ready: Ready, journal: Journal) -> Subject:
    """Say who was evaluated where, in how many episodes."""
    return Subject(
        agent=ready.plan.agent.label,
        environment=ready.plan.environment.label,
        model=ready.agent_model,
        retried=len(journal.noted(RETRIED, dict) or ()),
        unusable_classes=journal.unusable_classes(),
        **journal.counts(),
    )


def as_offered(metrics: Sequence[Chosen]) -> list[Chosen]:
    """Sort metrics as their plugins list them, which is the order of reports."""
    return sorted(metrics, key=lambda chosen: (chosen.entry.plugin, chosen.entry.place))


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
    evidence, _ = _with_remarks(run, evidence)
    manifest.begin(run.folder.path, "reports")
    pages = [
        _rendered(run, label, reporter, result, evidence)
        for label, reporter in reporters
    ]
    _end_reports(run, pages)
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
        closing(folder.journal(write=False)) as journal,
        closing(Resources(ready, trusted=folder.is_trusted)) as resources,
    ):
        evidence = gather(folder, journal, lambda: ready)
        for chosen in ready.reporters:
            reporter = resources.make(chosen)
            pages.append(reporter.render(ready.plan, result, evidence, out))
    return pages


def _end_reports(run: Pipeline, pages: Iterable[Path]) -> None:
    inside = [page for page in pages if page.is_relative_to(run.folder.path)]
    manifest.end(run.journal, "reports", reports=inside)


def _with_remarks(
    run: Pipeline, evidence: Evidence
) -> tuple[Evidence, Sequence[Failure]]:
    """Add what the metrics say of single turns, and give the failures to say it."""
    remarks: dict[tuple[str, int], str] = {}
    failures = []
    for chosen in run.ready.metrics:
        if chosen.absent:
            continue
        try:
            metric = run.resources.metric(chosen).metric
            if isinstance(metric, RemarksTurns):
                remarks.update(metric.remarks(evidence))
        except BaseException as error:
            pass_on(error)
            failures.append(_failure("metric", chosen.label, error))
    return replace(evidence, remarks=remarks), failures


def _failure(stage: str, subject: str, error: BaseException) -> Failure:
    return Failure(
        stage=stage,
        subject=subject,
        reason=reason_of(error),
        traceback=traceback_of(error),
    )


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


def _metrics(run: Pipeline, earlier: Result | None) -> list[tuple[str, Any]]:
    """List the metrics to compute now.

    A metric that is not installed is left out if it has an earlier result.
    """
    said: set[str] = set()
    if earlier:
        said.update(one.source for one in earlier.measurements)
        said.update(_first_word(one.subject) for one in earlier.failures)

    metrics = []
    for chosen in run.ready.metrics:
        keeps_earlier = chosen.absent and chosen.label in said
        if not keeps_earlier:
            # Made when it is asked: to make it may fail, and that is a failure of this
            # metric alone.
            metrics.append((chosen.label, partial(run.resources.metric, chosen)))
    return metrics


def _kept(run: Pipeline, earlier: Result) -> list[Measurement]:
    """List the earlier numbers that nothing measures anew."""
    measured_anew = set(run.journal.probes())
    for chosen in (*run.ready.metrics, *run.ready.probes):
        if not chosen.absent:
            measured_anew.add(chosen.label)
    return [one for one in earlier.measurements if one.source not in measured_anew]


def _kept_failures(run: Pipeline, earlier: Result) -> list[Failure]:
    """List the earlier failures of metrics that are not asked anew."""
    asked_anew = {chosen.label for chosen in run.ready.metrics if not chosen.absent}
    failures = [one for one in earlier.failures if one.stage == "metric"]
    return [one for one in failures if _first_word(one.subject) not in asked_anew]


def _first_word(subject: str) -> str:
    """The label of the metric in the subject of a failure, which may say more."""
    return subject.split(" ")[0]


def _saved(
    earlier: Result,
    failing: Collection[str],
    now: Sequence[Measurement],
    probes: Collection[str],
) -> list[Measurement]:
    """Give the earlier numbers of metrics that now fail without any number.

    They must be the same today: metrics read the results of probes.
    """
    known = {one.identity: one for one in now}
    for one in earlier.measurements:
        if one.source in probes and known.get(one.identity) != one:
            return []

    lost = set(failing).difference(one.source for one in now)
    saved = [one for one in earlier.measurements if one.source in lost]
    return [one for one in saved if one.identity not in known]


def _with_note(
    failed: Sequence[Failure], saved: Sequence[Measurement]
) -> list[Failure]:
    """Give the failures; one whose numbers were saved says so."""
    saved_metrics = {one.source for one in saved}
    marked = []
    for failure in failed:
        reason = failure.reason
        if failure.subject in saved_metrics:
            reason = f"{reason} ({EARLIER})"
        marked.append(replace(failure, reason=reason))
    return marked


def _measures(ready: Ready, earlier: Result | None) -> tuple[Measure, ...]:
    measures = list(earlier.measures) if earlier else []
    measures += measures_of_probes(ready)
    for metric in as_offered(ready.metrics):
        offer = metric.entry.offer
        assert isinstance(offer, MetricOffer)
        measures += offer.measures
    return tuple({measure.name: measure for measure in measures}.values())


def _with_report_failures(run: Pipeline, result: Result, evidence: Evidence) -> Result:
    """Render the reports; record failures without losing the numbers."""
    seconds = run.ready.how.part_seconds
    failures: list[Failure] = []
    pages = []
    manifest.begin(run.folder.path, "reports")
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
            failures.append(_failure("report", chosen.label, error))
    if not failures:
        _end_reports(run, pages)
        return result

    scrubbed = run.resources.secrets.scrubbed_failures(failures)
    status: RunStatus = "partial" if result.status == "ok" else result.status
    result = replace(result, status=status, failures=(*result.failures, *scrubbed))
    run.folder.write_result(result, run.journal)
    return result


def _failures(run: Pipeline, evidence: Evidence) -> list[Failure]:
    """List what failed in the stages before the metrics."""
    found: list[Failure] = []
    for episode, reason in run.journal.failed_episodes():
        found.append(Failure(stage="rollout", subject=episode, reason=reason))
    if reason := unfinished(run.journal):
        found.append(Failure(stage="rollout", subject="run", reason=reason))

    for trace in evidence.reward_traces:
        if trace.failure:
            judged = f"{trace.model} on {trace.episode}"
            found.append(Failure(stage="reward", subject=judged, reason=trace.failure))

    for subject_of, reason in _failed_fits(evidence.probe_reports):
        found.append(Failure(stage="probe", subject=subject_of, reason=reason))
    fitted = run.journal.probes()
    for chosen in run.ready.probes:
        if not chosen.absent and chosen.label not in fitted:
            reason = "probe not fitted; resume with `gde resume`"
            found.append(Failure(stage="probe", subject=chosen.label, reason=reason))

    # The first failure with a reason has the traceback of all of them.
    tracebacks = run.journal.tracebacks()
    with_tracebacks = []
    for failure in found:
        traceback = tracebacks.pop(failure.reason[:REASON], "")
        with_tracebacks.append(replace(failure, traceback=traceback))
    return with_tracebacks


def _failed_fits(reports: Sequence[ProbeReport]) -> Iterator[tuple[str, str]]:
    """Yield fits without numbers, and probes that could not read every turn."""
    measured = {report.fit.probe for report in reports if not report.reason}
    unread: dict[str, str] = {}
    for report in reports:
        is_known = report.absent and report.fit.probe in measured
        if report.reason and not is_known:
            yield report.fit.name, report.reason
        elif report.unread:
            unread[report.fit.probe] = report.unread
    yield from unread.items()


def unfinished(journal: Journal) -> str:
    """Say whether episodes of the plan are left; empty if all are finished."""
    planned = journal.noted("episodes", int)
    ended = len(journal.finished())
    if planned is None or ended >= planned:
        return ""
    return f"{ended} of {planned} episodes are finished; resume with `gde resume`"


def _status(
    measurements: Sequence[Measurement], failures: Sequence[Failure], evidence: Evidence
) -> RunStatus:
    # Without failures, a result without numbers is fine: a metric may have nothing to
    # say of a run.
    if failures and not measurements:
        return "failed"
    # The subject "run" stands for episodes that were not played, which have not failed.
    rollouts = [one.subject for one in failures if one.stage == "rollout"]
    if len(rollouts) - rollouts.count("run") >= len(evidence.trajectories):
        return "failed"
    return "partial" if failures else "ok"


def worst_status(results: Iterable[Result]) -> RunStatus:
    """The worst status of several runs."""
    statuses = {result.status for result in results}
    if "failed" in statuses:
        return "failed"
    return "partial" if "partial" in statuses else "ok"
