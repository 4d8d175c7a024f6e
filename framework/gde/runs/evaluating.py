"""The main job: a plan through all stages to a result. Each stage reads what the one before left in the folder."""

import asyncio
import warnings
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from gde.request.catalogue import Catalogue
from gde.request.check import check
from gde.data.evidence import Evidence
from gde.data.json import Json
from gde.data.plan import Choice, Plan
from gde.data.probe import ProbeReport
from gde.data.result import Failure, Measurement, Result, RunStatus
from gde.data.trajectory import EpisodeKey, Trajectory
from gde.errors import GdeError
from gde.stages.evidence import gather
from gde.parts.language_model import WhiteBox
from gde.parts.probe import Probe
from gde.request.planfile import plan_hash
from gde.request.plugins import call_each
from gde.stages.probing import BAGS, MODEL, UNTRAINED, ProbeStage, arms, results
from gde.request.provenance import listed_worlds, provenance
from gde.stages.capturing import merge, record, record_bags
from gde.request.resolve import Ready, resolve
from gde.stages.rewarding import reward, write_traces
from gde.stages.rollout import episode_keys, roll_out
from gde.stages.scoring import score
from gde.seeding import derive
from gde.store.activations import ActivationStore
from gde.store.folder import JOURNAL, RunFolder
from gde.store.journal import Journal
from gde.store.probes import write_reports
from gde.stages.progress import Progress, Watch, ignore, watching


def prepare(plan: Plan, catalogue: Catalogue | None = None) -> Ready:
    """A plan whose parts are known and fit together.

    Raises:
        GdeError: anything about the plan that can be refused before it runs.
    """
    ready = resolve(plan, catalogue or Catalogue.default())
    check(ready)
    return ready


def evaluate(plan: Plan, out: Path | None = None, catalogue: Catalogue | None = None, watch: Watch = ignore) -> Result:
    """Run a plan in a new folder (`out`, or a new one under runs/) and give its result.

    Raises:
        GdeError: the plan is refused; nothing has been written.
        RunFailed: the run was stopped from outside, e.g. by a full disk; `resume` goes on.
    """
    ready = prepare(plan, catalogue)
    _warm(ready)
    return _run(ready, RunFolder.create(ready.plan, out), watch)


def resume(path: Path, catalogue: Catalogue | None = None, watch: Watch = ignore) -> Result:
    """Go on with an interrupted run: what was finished is kept, what was in flight is asked for again.

    Raises:
        GdeError: no run folder, or its plan can no longer be served.
    """
    folder = RunFolder.open(path)
    return _run(prepare(folder.plan(), catalogue), folder, watch)


def rescore(path: Path, metrics: Sequence[Choice] = (), catalogue: Catalogue | None = None) -> Result:
    """Compute the metrics of a finished run again, the given ones or the plan's; nothing is asked of the agent."""
    folder = RunFolder.open(path)
    plan = folder.plan()
    ready = prepare(replace(plan, metrics=tuple(metrics)) if metrics else plan, catalogue)
    with closing(folder.journal()) as journal:
        return _Stages(ready, folder, journal, ignore).conclude()


def probe(
    path: Path, probes: Sequence[Choice] = (), catalogue: Catalogue | None = None, watch: Watch = ignore
) -> Result:
    """Probe a finished run again, with the given probes or the plan's, replaying its tokens where needed."""
    folder = RunFolder.open(path)
    plan = folder.plan()
    ready = prepare(replace(plan, probes=tuple(probes)) if probes else plan, catalogue)
    with closing(folder.journal()) as journal:
        stages = _Stages(ready, folder, journal, watch)
        try:
            stages.probe()
            return stages.conclude()
        finally:
            ready.close()


def report(path: Path, reporters: Sequence[Choice] = (), catalogue: Catalogue | None = None) -> list[Path]:
    """Render the reports of a finished run again. Gives the files to open."""
    folder = RunFolder.open(path)
    plan = folder.plan()
    ready = prepare(replace(plan, reporters=tuple(reporters)) if reporters else plan, catalogue)
    with closing(folder.journal()) as journal:
        stages = _Stages(ready, folder, journal, ignore)
        return stages.render(folder.read_result())


def roll_out_share(path: Path, job: tuple[Ready, Sequence[EpisodeKey]]) -> None:
    """Run a share of the episodes; the unit of work of an executor."""
    ready, keys = job
    with closing(Journal.open(path)) as journal:
        asyncio.run(roll_out(ready, keys, journal))


def _warm(ready: Ready) -> None:
    """Load what a wrong path or layer would show only later, so that a refused plan leaves nothing behind."""
    _ = ready.worlds
    if ready.probes and ready.model is not None:
        for chosen in ready.probes:
            chosen.make().capture(ready.model.info)
    elif ready.executor.make().workers == 1:
        _ = ready.model


def _run(ready: Ready, folder: RunFolder, watch: Watch) -> Result:
    try:
        with closing(folder.journal()) as journal:
            stages = _Stages(ready, folder, journal, watch)
            stages.roll_out()
            stages.probe()
            stages.reward()
            return stages.conclude()
    finally:
        ready.close()


@dataclass(frozen=True)
class _Stages:
    """The stages of one run, in the order in which they are called."""

    ready: Ready
    folder: RunFolder
    journal: Journal
    watch: Watch

    def roll_out(self) -> None:
        ready, path = self.ready, self.folder.path / JOURNAL
        keys, hook = episode_keys(ready), ready.plugins.manager.hook
        origin = {**provenance(ready, None), "worlds": listed_worlds(ready)}
        self._begin(origin)
        call_each(hook.gde_run_started, warnings.warn, plan=ready.plan, provenance=origin)
        executor = ready.executor.make()
        shares = [(ready, keys[i :: executor.workers]) for i in range(executor.workers)]

        def finished(trajectory: Trajectory, done: int, total: int) -> None:
            call_each(hook.gde_episode_finished, warnings.warn, trajectory=trajectory, done=done, total=total)

        with watching(path, len(keys), self.watch, finished):
            for _ in executor.map(partial(roll_out_share, path), [share for share in shares if share[1]]):
                pass

    def _begin(self, origin: Mapping[str, Json]) -> None:
        """Note what the run is rolled out with or, on resuming, that its worlds are still there."""
        known = self.journal.noted("provenance")
        if known is None:
            self.journal.note("provenance", origin)
        elif known.get("worlds", "") != origin["worlds"]:
            raise GdeError(
                "the environment lists other worlds than when this run began: bring back what they were read from"
                " (env.grids in plan.toml says which file), or begin a new run"
            )

    def probe(self) -> None:
        """Record what the probes ask for, and fit them with their controls."""
        model = self.ready.model if self.ready.probes else None
        if not isinstance(model, WhiteBox):
            return
        trajectories, store = tuple(self.journal.trajectories()), ActivationStore(self.folder.activations, self.journal)
        probes: list[tuple[str, Probe]] = [(chosen.name, chosen.make()) for chosen in self.ready.probes]
        requests = [probe.capture(model.info) for _, probe in probes]
        request = merge(requests)
        self.watch(Progress("activations", 0, 3))
        record(trajectories, model, MODEL, request, store)
        self.watch(Progress("activations", 1, 3))
        record_bags(trajectories, model, BAGS, request.marks, store)
        self.watch(Progress("activations", 2, 3))
        untrained = model.untrained(derive(self.ready.plan.seed, "untrained"))
        record(trajectories, untrained, UNTRAINED, request, store)
        untrained.close()
        self.watch(Progress("activations", 3, 3))
        stage = ProbeStage(
            trajectories=trajectories,
            activations=store,
            folder=self.folder.probes,
            seed=self.ready.plan.seed,
            strata=[stratum.labels for stratum in self.ready.strata],
        )
        work = [
            (probe, arm)
            for (name, probe), request in zip(probes, requests, strict=True)
            for arm in arms(name, probe, request)
        ]
        reports: list[ProbeReport] = []
        for probe, arm in work:
            reports.append(stage.fit(probe, arm))
            self.watch(Progress("probes", len(reports), len(work)))
        write_reports(self.folder.probes, reports)

    def reward(self) -> None:
        trajectories = tuple(self.journal.trajectories())
        traces = [
            trace
            for chosen in self.ready.rewards
            for trace in asyncio.run(reward(chosen.name, chosen.make(), trajectories, self.ready.plan.concurrency))
        ]
        write_traces(traces, self.journal)

    def conclude(self) -> Result:
        """Score, store the result and render the reports."""
        ready = self.ready
        evidence = gather(self.folder, self.journal, lambda: ready.strata)
        metrics = [(chosen.name, chosen.make()) for chosen in ready.metrics]
        measured, failed = score(metrics, evidence, [stratum.labels for stratum in ready.strata])
        measurements = (*measured, *results(evidence.probe_reports))
        failures = (*_failures(evidence), *failed)
        result = Result(
            run=str(self.folder.path),
            status=_status(measurements, failures, evidence),
            plan_hash=plan_hash(ready.plan),
            measurements=measurements,
            failures=failures,
            provenance={
                **provenance(ready, self.journal.noted("model")),
                "rolled_out_with": self.journal.noted("provenance"),
            },
        )
        self.folder.write_result(result, self.journal)
        result = self._with_report_failures(result, evidence)
        call_each(ready.plugins.manager.hook.gde_run_finished, warnings.warn, result=result)
        return result

    def _with_report_failures(self, result: Result, evidence: Evidence) -> Result:
        """A report that cannot be rendered is a failure of the run, not the loss of its numbers."""
        failures = []
        for chosen in self.ready.reporters:
            try:
                chosen.make().render(self.ready.plan, result, evidence, self.folder.path)
            except Exception as error:
                failures.append(Failure(stage="report", subject=chosen.name, reason=f"{type(error).__name__}: {error}"))
        if not failures:
            return result
        status: RunStatus = "partial" if result.status == "ok" else result.status
        result = replace(result, status=status, failures=(*result.failures, *failures))
        self.folder.write_result(result, self.journal)
        return result

    def render(self, result: Result) -> list[Path]:
        evidence = gather(self.folder, self.journal, lambda: self.ready.strata)
        return [
            chosen.make().render(self.ready.plan, result, evidence, self.folder.path) for chosen in self.ready.reporters
        ]


def _failures(evidence: Evidence) -> list[Failure]:
    episodes = [
        Failure(stage="rollout", subject=str(trajectory.key), reason=trajectory.failure)
        for trajectory in evidence.trajectories
        if trajectory.ending == "failed"
    ]
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
    return [*episodes, *rewards, *probes]


def _status(measurements: Sequence[Measurement], failures: Sequence[Failure], evidence: Evidence) -> RunStatus:
    nothing = not measurements and failures  # a metric may have nothing to say of a run
    if nothing or all(trajectory.ending == "failed" for trajectory in evidence.trajectories):
        return "failed"
    return "partial" if failures else "ok"
