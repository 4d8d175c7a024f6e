"""The last stages of a run: measure, store the result, report."""

import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from gde.data.evidence import Evidence
from gde.data.measure import Measure
from gde.data.result import Failure, Measurement, Result, RunStatus, Subject
from gde.errors import GdeError
from gde.offers import MetricOffer, ProbeOffer
from gde.request.catalogue import call_each
from gde.request.planfile import plan_hash
from gde.request.resolve import Chosen, Ready
from gde.request.secrets import NOTED
from gde.runs.pipeline import Pipeline
from gde.stages.deadlines import interrupting
from gde.stages.evidence import gather
from gde.stages.failing import pass_on, reason_of, traceback_of
from gde.stages.probing import results
from gde.stages.scoring import score
from gde.store.journal import REASON, RETRIED, Journal

EARLIER = "its numbers are those that it measured before"


def conclude(run: Pipeline, earlier: Result | None = None, as_before: Collection[str] = ()) -> Result:
    """Score by the metrics of the plan, store the result and render the reports.

    Args:
        run: its stages are done, or stopped.
        earlier: a result to which this one is added. Its numbers are kept if their metric is not asked now, or is not
            installed here.
        as_before: the metrics that are configured as in `earlier`. Their numbers are also kept if they fail now, e.g.
            because the weights that they ask are gone.
    """
    run.resources.secrets.keep_out(run.journal.noted(NOTED) or ())
    evidence = gather(run.folder, run.journal, lambda: run.ready, run.keys_to)
    kept = tuple(_kept(run, earlier))
    measured, failed = score(
        _metrics(run, earlier), evidence, run.conditions, kept, run.ready.plan.part_seconds, run.watch
    )
    about = subject(run.ready, run.journal)
    decoded = tuple(results(evidence.probe_reports))

    saved: tuple[Measurement, ...] = ()
    if earlier and earlier.subject == about and _still_there(earlier, decoded, run.journal.probes()):
        saved = _saved(earlier, as_before, measured, failed)
    measurements = (*kept, *measured, *saved, *decoded)
    failures = (*_failures(run, evidence), *_kept_failures(run, earlier), *_said(failed, saved))
    failures = run.resources.secrets.scrubbed_failures(failures)

    result = Result(
        run=str(run.folder.path),
        status=_status(measurements, failures, evidence),
        plan_hash=plan_hash(run.folder.plan()),
        measurements=measurements,
        failures=failures,
        provenance=run.origin(),
        subject=about,
        measures=_measures(run.ready, earlier),
    )
    run.folder.write_result(result, run.journal)
    result = _with_report_failures(run, result, evidence)
    call_each(run.ready.catalogue.plugins.manager.hook.gde_run_finished, warnings.warn, result=result)
    return result


def subject(ready: Ready, journal: Journal) -> Subject:
    """Say who was evaluated where, in how many episodes."""
    return Subject(
        agent=ready.plan.agent.label,
        environment=ready.plan.environment.label,
        model=ready.agent_model,
        retried=len(journal.noted(RETRIED) or ()),
        **journal.counts(),
    )


def as_offered(metrics: Sequence[Chosen]) -> list[Chosen]:
    """Sort metrics plugin by plugin, as each lists them: the order in which readers are shown their numbers."""
    return sorted(metrics, key=lambda chosen: (chosen.entry.plugin, chosen.entry.place))


def render(run: Pipeline, result: Result) -> list[Path]:
    """Render the reports of the plan whose reporters are installed, and give the files to open.

    Raises:
        GdeError: no reporter is installed.
    """
    evidence = gather(run.folder, run.journal, lambda: run.ready, run.keys_to)
    chosen = [each for each in run.ready.reporters if not each.absent]
    if run.ready.reporters and not chosen:
        raise GdeError(run.ready.reporters[0].absent)
    reporters = [(each.label, run.resources.make(each)) for each in chosen]
    return [_rendered(run, label, reporter, result, evidence) for label, reporter in reporters]


def _rendered(run: Pipeline, label: str, reporter: Any, result: Result, evidence: Evidence) -> Path:
    page = reporter.render(run.ready.plan, result, evidence, run.folder.path)
    if not (isinstance(page, Path) and page.is_file()):
        advice = "render(...) writes a file and returns its path"
        raise GdeError(f"reporter {label!r}: wanted the Path of a file that is there, got {page!r}; {advice}")
    return page


def _metrics(run: Pipeline, earlier: Result | None) -> list[tuple[str, Any]]:
    """List the metrics to ask now. One that is not installed is left out if it said something earlier."""
    said: set[str] = set()
    if earlier:
        said.update(one.source for one in earlier.measurements)
        said.update(one.subject.split(" ")[0] for one in earlier.failures)
    asked = [chosen for chosen in run.ready.metrics if not (chosen.absent and chosen.label in said)]
    return [(chosen.label, partial(run.resources.metric, chosen)) for chosen in asked]


def _kept(run: Pipeline, earlier: Result | None) -> Iterator[Measurement]:
    if earlier is None:
        return
    anew = {chosen.label for chosen in (*run.ready.metrics, *run.ready.probes) if not chosen.absent}
    probes = run.journal.probes()
    for one in earlier.measurements:
        if one.source not in anew and one.source not in probes:
            yield one


def _kept_failures(run: Pipeline, earlier: Result | None) -> Iterator[Failure]:
    if earlier is None:
        return
    anew = {chosen.label for chosen in run.ready.metrics if not chosen.absent}
    for one in earlier.failures:
        if one.stage == "metric" and one.subject.split(" ")[0] not in anew:
            yield one


def _still_there(earlier: Result, decoded: Sequence[Measurement], probes: Collection[str]) -> bool:
    """Whether probes decode what they decoded then: metrics read what they have learned."""
    now = {one.identity: one for one in decoded}
    return all(now.get(one.identity) == one for one in earlier.measurements if one.source in probes)


def _saved(
    earlier: Result, as_before: Collection[str], measured: Sequence[Measurement], failed: Sequence[Failure]
) -> tuple[Measurement, ...]:
    """Give the earlier numbers of metrics that fail now and measure nothing."""
    failing = {one.subject for one in failed} & set(as_before)
    lost = failing - {one.source for one in measured}
    taken = {one.identity for one in measured}
    return tuple(one for one in earlier.measurements if one.source in lost and one.identity not in taken)


def _said(failed: Sequence[Failure], saved: Sequence[Measurement]) -> Iterator[Failure]:
    # A failure whose numbers were saved says so.
    kept = {one.source for one in saved}
    for one in failed:
        yield replace(one, reason=f"{one.reason} ({EARLIER})") if one.subject in kept else one


def _measures(ready: Ready, earlier: Result | None) -> tuple[Measure, ...]:
    found = {one.name: one for one in earlier.measures} if earlier else {}
    for probe in ready.probes:
        offer = probe.entry.offer
        assert isinstance(offer, ProbeOffer)
        for measure in offer.measures:
            # A probe's numbers bear its name.
            named = measure.under(probe.label)
            found[named.name] = named
    for metric in as_offered(ready.metrics):
        offer = metric.entry.offer
        assert isinstance(offer, MetricOffer)
        found.update({measure.name: measure for measure in offer.measures})
    return tuple(found.values())


def _with_report_failures(run: Pipeline, result: Result, evidence: Evidence) -> Result:
    """Render the reports. One that cannot be rendered is a failure of the run, not the loss of its numbers."""
    seconds = run.ready.plan.part_seconds
    failures: list[Failure] = []
    for chosen in run.ready.reporters:
        if chosen.absent:
            continue
        try:
            reporter: Any = run.resources.make(chosen)
            with interrupting(seconds, f"more than run.part_seconds={seconds}"):
                _rendered(run, chosen.label, reporter, result, evidence)
        except BaseException as error:
            pass_on(error)
            where = traceback_of(error)
            failures.append(Failure(stage="report", subject=chosen.label, reason=reason_of(error), traceback=where))
    if not failures:
        return result

    told = run.resources.secrets.scrubbed_failures(failures)
    status: RunStatus = "partial" if result.status == "ok" else result.status
    result = replace(result, status=status, failures=(*result.failures, *told))
    run.folder.write_result(result, run.journal)
    return result


def _failures(run: Pipeline, evidence: Evidence) -> list[Failure]:
    found: list[Failure] = []
    for episode, reason in run.journal.failed_episodes():
        found.append(Failure(stage="rollout", subject=episode, reason=reason))
    if reason := unfinished(run.journal):
        found.append(Failure(stage="rollout", subject="run", reason=reason))

    for trace in evidence.reward_traces:
        if trace.failure:
            judged = f"{trace.model} on {trace.episode}"
            found.append(Failure(stage="reward", subject=judged, reason=trace.failure))

    unmeasured = [report for report in evidence.probe_reports if report.reason]
    found += [Failure(stage="probe", subject=report.fit.name, reason=report.reason) for report in unmeasured]
    fitted = run.journal.probes()
    for chosen in run.ready.probes:
        if not chosen.absent and chosen.label not in fitted:
            reason = "it has not been fitted: go on with `gde resume`"
            found.append(Failure(stage="probe", subject=chosen.label, reason=reason))
    return _with_tracebacks(found, run.journal)


def _with_tracebacks(failures: Sequence[Failure], journal: Journal) -> list[Failure]:
    # The first failure with a reason has the traceback of all of them.
    known = journal.tracebacks()
    return [replace(one, traceback=known.pop(one.reason[:REASON], "")) for one in failures]


def unfinished(journal: Journal) -> str:
    """Say whether episodes of the plan are still to be played; empty if all are finished."""
    planned = journal.noted("episodes")
    ended = len(journal.finished())
    if planned is None or ended >= planned:
        return ""
    return f"{ended} of {planned} episodes are finished: go on with `gde resume`"


def _status(measurements: Sequence[Measurement], failures: Sequence[Failure], evidence: Evidence) -> RunStatus:
    # Without failures, a result without numbers is fine: a metric may have nothing to say of a run.
    nothing = not measurements and failures
    failed = sum(failure.stage == "rollout" and failure.subject != "run" for failure in failures)
    if nothing or failed >= len(evidence.trajectories):
        return "failed"
    return "partial" if failures else "ok"
