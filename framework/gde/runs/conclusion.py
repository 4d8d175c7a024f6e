"""The last stages of a run: measure, store the result, report."""

import logging
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from gde.data.evidence import Evidence
from gde.data.measure import Measure, Measures
from gde.data.model_use import ModelUse
from gde.data.result import Failure, Measurement, Result, RunStatus, Subject
from gde.request.catalogue import call_each
from gde.request.ready import Chosen, Ready
from gde.request.secrets import NOTED
from gde.runs.failures import failures_before
from gde.runs.pipeline import Pipeline
from gde.runs.probing import measures_of_probes
from gde.runs.rendering import end_with, render_all
from gde.stages.evidence import gather
from gde.stages.facts import know_facts
from gde.stages.model_use import mixtures, models_used
from gde.stages.scoring import remarked, score
from gde.stages.verdicts import results
from gde.store import manifest
from gde.store.journal import RETRIED, Journal

LOG = logging.getLogger(__name__)
EARLIER = "keeps its earlier numbers"


def conclude(
    run: Pipeline,
    earlier: Result | None = None,
    as_before: Collection[str] = (),
    anew: Collection[str] = (),
) -> Result:
    """Score by the metrics of the plan, store the result and render the reports.

    Args:
        run: its stages are done, or stopped.
        earlier: a result to which this one is added. Its numbers are kept if their
            metric is not asked now, or is not installed here.
        as_before: the metrics that are configured as in `earlier`. Their numbers are
            also kept if they fail now, e.g. because the weights that they ask are gone.
        anew: the metrics that are asked again for the facts of episodes.
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
    metrics = run.metrics(besides=_unsaid(run, earlier))
    seconds = run.ready.how.part_seconds
    factless = know_facts(evidence, metrics, run.journal, seconds, anew)
    measured, failed = score(
        metrics,
        evidence,
        run.conditions,
        tuple(kept),
        seconds,
        run.watch,
    )
    failed = (*factless, *failed)

    evidence, speechless = remarked(evidence, run.metrics())
    silent = {failure.subject for failure in failed}
    failed += tuple(one for one in speechless if one.subject not in silent)

    saved: list[Measurement] = []
    if earlier and earlier.subject == about:
        failing = {failure.subject for failure in failed}.intersection(as_before)
        probes = run.journal.probes()
        saved = _saved(earlier, failing, (*measured, *decoded), probes)

    failed = secrets.scrubbed_failures(failed)
    _warn(failed)
    measurements = (*kept, *measured, *saved, *decoded)
    failures = failures_before(run.journal, run.ready, evidence)
    if earlier:
        failures += _kept_failures(run, earlier)
    failures += _with_note(failed, saved)
    scrubbed = secrets.scrubbed_failures(failures)
    status = _status(measurements, scrubbed, evidence)

    models = models_used(run.journal, run.ready.plan, run.ready.how.prices)
    result = Result(
        run=str(run.folder.path),
        status=status,
        plan_hash=run.plan_hash,
        measurements=(*measurements, *_missing(failed, measurements)),
        failures=scrubbed,
        provenance=_origin(run, earlier, models),
        subject=about,
        measures=measures,
        models=models,
    )
    # The numbers are stored before the reports, which may fail.
    manifest.begin(run.folder.path, "result", "reports")
    run.folder.write_result(result, run.journal)
    pages, unrendered = render_all(run, result, evidence)
    if unrendered:
        failed = secrets.scrubbed_failures(unrendered)
        _warn(failed)
        status = "partial" if result.status == "ok" else result.status
        result = replace(result, status=status, failures=result.failures + failed)
        run.folder.write_result(result, run.journal)
    # Whoever goes on makes all reports again if one is missing.
    ended = ["result"] if unrendered else ["result", "reports"]
    end_with(run, pages, *ended)
    hook = run.ready.catalogue.plugins.manager.hook.gde_run_finished
    call_each(hook, warnings.warn, result=result)
    return result


def _origin(
    run: Pipeline, earlier: Result | None, models: Sequence[ModelUse]
) -> dict[str, Any]:
    """The provenance; numbers that are kept keep the versions of their metrics."""
    origin: dict[str, Any] = run.origin()
    origin["notice"] = " ".join(filter(None, [*mixtures(models), origin["notice"]]))
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


def _unsaid(run: Pipeline, earlier: Result | None) -> set[str]:
    """Tell the metrics of which no earlier result says anything.

    Of these, one that is not installed is asked too, which is a failure of it.
    """
    said: set[str] = set()
    if earlier:
        said.update(one.source for one in earlier.measurements)
        said.update(_first_word(one.subject) for one in earlier.failures)
    return {chosen.label for chosen in run.ready.metrics} - said


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
    saved = []
    for one in earlier.measurements:
        # It may have failed earlier too.
        failed_before = one.value is None and one.name == one.source
        if one.source in lost and one.identity not in known and not failed_before:
            saved.append(one)
    return saved


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


def _missing(
    failed: Sequence[Failure], measurements: Sequence[Measurement]
) -> Iterator[Measurement]:
    """Yield a number without a value for each metric that has failed without any."""
    measured = {one.source for one in measurements}
    names = {one.identity for one in measurements}
    for failure in failed:
        metric = _first_word(failure.subject)
        reason = failure.reason or "it failed"
        row = Measurement(name=metric, value=None, n=0, source=metric, reason=reason)
        if metric not in measured and row.identity not in names:
            measured.add(metric)
            yield row


def _warn(failed: Sequence[Failure]) -> None:
    for one in failed:
        LOG.warning("%s %s: %s", one.stage, one.subject, one.reason)


def _measures(ready: Ready, earlier: Result | None) -> tuple[Measure, ...]:
    measures = list(earlier.measures) if earlier else []
    measures += measures_of_probes(ready)
    for metric in as_offered(ready.metrics):
        measures += metric.entry.metric.measures
    return tuple({measure.name: measure for measure in measures}.values())


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
