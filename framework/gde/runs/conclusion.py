"""From what the stages left to the result of a run: measured, judged, stored and reported."""

import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
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
        earlier: a result to which this one is added: what other metrics measured then is kept, and what those did
            that are not installed here.
        as_before: the metrics that are configured as they were then: what they measured is kept where they fail now,
            e.g. because the weights that they ask are gone.
    """
    run.resources.secrets.keep_out(run.journal.noted(NOTED) or ())
    evidence = gather(run.folder, run.journal, lambda: run.ready, run.keys_to)
    kept = (*_kept(run, earlier),)
    timing = run.ready.plan.part_seconds, run.watch
    measured, failed = score(_metrics(run, earlier), evidence, run.strata, kept, *timing)
    about, decoded = subject(run.ready, run.journal), (*results(evidence.probe_reports),)
    unchanged = earlier and earlier.subject == about and _still_there(earlier, decoded, run.journal.probes())
    saved = _saved(earlier, as_before, measured, failed) if earlier and unchanged else ()
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
    """Who was evaluated where, in how many episodes."""
    agent, environment = ready.plan.agent.label, ready.plan.environment.label
    retried = len(journal.noted(RETRIED) or ())
    return Subject(agent=agent, environment=environment, model=ready.agent_model, retried=retried, **journal.counts())


def as_offered(metrics: Sequence[Chosen]) -> list[Chosen]:
    """Plugin by plugin, in the order in which each lists them: that in which readers are shown what they measure."""
    return sorted(metrics, key=lambda chosen: (chosen.entry.plugin, chosen.entry.place))


def render(run: Pipeline, result: Result) -> list[Path]:
    """Render the reports of the plan, as far as their reporters are here. Gives the files to open.

    Raises:
        GdeError: none of them is.
    """
    evidence = gather(run.folder, run.journal, lambda: run.ready, run.keys_to)
    chosen = [each for each in run.ready.reporters if not each.absent]
    if run.ready.reporters and not chosen:
        raise GdeError(run.ready.reporters[0].absent)
    reporters = [(each.label, run.resources.make(each)) for each in chosen]
    return [_rendered(run, label, reporter, result, evidence) for label, reporter in reporters]


def _rendered(run: Pipeline, label: str, reporter: Any, result: Result, evidence: Evidence) -> Path:
    """The file that a reporter has written.

    Raises:
        GdeError: it gives none.
    """
    page = reporter.render(run.ready.plan, result, evidence, run.folder.path)
    if not (isinstance(page, Path) and page.is_file()):
        advice = "render(...) writes a file and returns its path"
        raise GdeError(f"reporter {label!r}: wanted the Path of a file that is there, got {page!r}; {advice}")
    return page


def _metrics(run: Pipeline, earlier: Result | None) -> list[tuple[str, Any]]:
    """Those that are asked now: of one that is not here, what it said earlier has to do."""
    said = {one.source for one in earlier.measurements} if earlier else set()
    said |= {one.subject.split(" ")[0] for one in earlier.failures} if earlier else set()
    asked = [chosen for chosen in run.ready.metrics if not (chosen.absent and chosen.label in said)]
    return [(chosen.label, partial(run.resources.metric, chosen)) for chosen in asked]


def _kept(run: Pipeline, earlier: Result | None) -> Iterator[Measurement]:
    anew = {chosen.label for chosen in (*run.ready.metrics, *run.ready.probes) if not chosen.absent}
    probes = run.journal.probes()
    for one in earlier.measurements if earlier else ():
        if one.source not in anew and one.source not in probes:
            yield one


def _kept_failures(run: Pipeline, earlier: Result | None) -> Iterator[Failure]:
    anew = {chosen.label for chosen in run.ready.metrics if not chosen.absent}
    for one in earlier.failures if earlier else ():
        if one.stage == "metric" and one.subject.split(" ")[0] not in anew:
            yield one


def _still_there(earlier: Result, decoded: Sequence[Measurement], probes: Collection[str]) -> bool:
    """Whether all that was decoded then is decoded now: metrics read what probes have learned."""
    now = {one.identity: one for one in decoded}
    return all(now.get(one.identity) == one for one in earlier.measurements if one.source in probes)


def _saved(
    earlier: Result, as_before: Collection[str], measured: Sequence[Measurement], failed: Sequence[Failure]
) -> tuple[Measurement, ...]:
    """What was measured earlier, of the same episodes, by metrics that measure nothing now."""
    lost = {one.subject for one in failed} & set(as_before) - {one.source for one in measured}
    taken = {one.identity for one in measured}
    return tuple(one for one in earlier.measurements if one.source in lost and one.identity not in taken)


def _said(failed: Sequence[Failure], saved: Sequence[Measurement]) -> Iterator[Failure]:
    """The failures, saying so where there are numbers all the same."""
    kept = {one.source for one in saved}
    for one in failed:
        yield replace(one, reason=f"{one.reason} ({EARLIER})") if one.subject in kept else one


def _measures(ready: Ready, earlier: Result | None) -> tuple[Measure, ...]:
    found = {one.name: one for one in (earlier.measures if earlier else ())}
    for chosen in (*ready.probes, *as_offered(ready.metrics)):
        found.update({one.name: one for one in _declared(chosen)})
    return tuple(found.values())


def _declared(chosen: Chosen) -> Iterable[Measure]:
    """A probe's numbers bear its name."""
    offer = chosen.entry.offer
    if isinstance(offer, ProbeOffer):
        return [one.under(chosen.label) for one in offer.measures]
    assert isinstance(offer, MetricOffer)
    return offer.measures


def _with_report_failures(run: Pipeline, result: Result, evidence: Evidence) -> Result:
    """A report that cannot be rendered is a failure of the run, not the loss of its numbers."""
    failures, seconds = [], run.ready.plan.part_seconds
    for chosen in (each for each in run.ready.reporters if not each.absent):
        try:
            reporter: Any = run.resources.make(chosen)
            with interrupting(seconds, f"more than run.part_seconds={seconds}"):
                _rendered(run, chosen.label, reporter, result, evidence)
        except BaseException as error:
            pass_on(error)
            told = {"reason": reason_of(error), "traceback": traceback_of(error)}
            failures.append(Failure(stage="report", subject=chosen.label, **told))
    if not failures:
        return result
    failures = [*run.resources.secrets.scrubbed_failures(failures)]
    status: RunStatus = "partial" if result.status == "ok" else result.status
    result = replace(result, status=status, failures=(*result.failures, *failures))
    run.folder.write_result(result, run.journal)
    return result


def _failures(run: Pipeline, evidence: Evidence) -> list[Failure]:
    episodes = [
        Failure(stage="rollout", subject=episode, reason=reason) for episode, reason in run.journal.failed_episodes()
    ]
    if reason := unfinished(run.journal):
        episodes.append(Failure(stage="rollout", subject="run", reason=reason))
    rewards = [
        Failure(stage="reward", subject=f"{trace.model} on {trace.episode}", reason=trace.failure)
        for trace in evidence.reward_traces
        if trace.failure
    ]
    probes = [
        Failure(stage="probe", subject=report.arm.name, reason=report.reason)
        for report in evidence.probe_reports
        if report.reason
    ]
    fitted = run.journal.probes()
    unfitted = [
        Failure(stage="probe", subject=chosen.label, reason="it has not been fitted: go on with `gde resume`")
        for chosen in run.ready.probes
        if not chosen.absent and chosen.label not in fitted
    ]
    return _with_tracebacks([*episodes, *rewards, *probes, *unfitted], run.journal)


def _with_tracebacks(failures: Sequence[Failure], journal: Journal) -> list[Failure]:
    """The first failure with a reason says where it was raised, for all of them."""
    known = journal.tracebacks()
    return [replace(one, traceback=known.pop(one.reason[:REASON], "")) for one in failures]


def unfinished(journal: Journal) -> str:
    """Whether episodes of the plan are still to be run; empty where all are finished."""
    planned, ended = journal.noted("episodes"), len(journal.finished())
    if planned is None or ended >= planned:
        return ""
    return f"{ended} of {planned} episodes are finished: go on with `gde resume`"


def _status(measurements: Sequence[Measurement], failures: Sequence[Failure], evidence: Evidence) -> RunStatus:
    nothing = not measurements and failures  # a metric may have nothing to say of a run
    failed = sum(failure.stage == "rollout" and failure.subject != "run" for failure in failures)
    if nothing or failed >= len(evidence.trajectories):
        return "failed"
    return "partial" if failures else "ok"
