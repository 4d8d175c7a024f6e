"""The main job: a plan through all stages to a result, also after a stop."""

import asyncio
import re
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread
from typing import TypeVar

from gde.data.estimate import Estimate
from gde.data.plan import Plan
from gde.data.result import Result
from gde.errors import GdeError, MissingExtra, RunFailed
from gde.parts.executor import WorksElsewhere
from gde.request.amending import amended
from gde.request.catalogue import Catalogue
from gde.request.check import check
from gde.request.named_files import resolved
from gde.request.objects import with_objects
from gde.request.planfile import plan_hash
from gde.request.resolve import Ready, resolve, settable
from gde.runs.adding import current_plan
from gde.runs.conclusion import conclude
from gde.runs.estimating import count, estimates
from gde.runs.finished import finished_result
from gde.runs.pipeline import Pipeline, checked_hash
from gde.runs.spending import Question, charge
from gde.runs.stopping import Stop
from gde.stages.context import Resources
from gde.stages.progress import Watch, ignore
from gde.stages.replaying import check_weights
from gde.stages.rollout import list_worlds
from gde.store import manifest
from gde.store.folder import RunFolder
from gde.store.lock import only_writer

OutputT = TypeVar("OutputT")


def prepare(plan: Plan, catalogue: Catalogue | None = None) -> Ready:
    """Find the parts of a plan and check that they fit together.

    Raises:
        GdeError: anything about the plan that can be refused before it runs.
    """
    ready = resolve(plan, catalogue or Catalogue.default())
    check(ready)
    return ready


@dataclass(frozen=True, kw_only=True)
class Dry:
    """The size of a plan that was not run."""

    plan: Plan
    """The plan with every configuration complete."""
    episodes: int
    conditions: int
    estimates: tuple[Estimate, ...]
    """What each part would ask of language models."""


def dry(plan: Plan, catalogue: Catalogue | None = None, name: str = "run") -> Dry:
    """Find out everything about a run that can be known without running it.

    Args:
        plan: of the run.
        catalogue: the parts that are offered.
        name: of the plan, in the estimates.

    Raises:
        GdeError: the plan is refused.
    """
    ready = prepare(plan, catalogue)
    asked = count(ready)
    return Dry(
        plan=ready.plan,
        episodes=asked.episodes,
        conditions=len(ready.conditions),
        estimates=tuple(estimates(name, ready, asked)),
    )


def evaluate(
    plan: Plan,
    out: Path | str | None = None,
    catalogue: Catalogue | None = None,
    watch: Watch = ignore,
    *,
    questions: Sequence[Question] = (),
) -> Result:
    """Run a plan in a new folder (`out`, or one under runs/) and give its result.

    If an event loop is running, e.g. in a notebook, the run has a thread of its own,
    but the call still blocks; `await aevaluate(...)` does not. The questions of a
    preflight count against the plan's limits.

    Raises:
        GdeError: the plan is refused; nothing has been written. RunFailed: the run was
        stopped from outside, e.g. by a full disk; `resume` goes on. KeyboardInterrupt:
        it was interrupted; `resume` goes on.
    """
    return _beside_loops(
        lambda stop: _evaluate(plan, out, catalogue, watch, stop, questions)
    )


async def aevaluate(
    plan: Plan,
    out: Path | str | None = None,
    catalogue: Catalogue | None = None,
    watch: Watch = ignore,
) -> Result:
    """Run a plan as `evaluate` does, without blocking the event loop.

    Cancelling it stops the run first. `resume` can then go on with the run.
    """
    stop = Stop()
    work = asyncio.ensure_future(
        asyncio.to_thread(_evaluate, plan, out, catalogue, watch, stop)
    )
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait([work])
        # Its exception says only that it was stopped; asyncio would complain that
        # nobody looked.
        work.exception()
        raise


def resume(
    path: Path | str,
    catalogue: Catalogue | None = None,
    watch: Watch = ignore,
    *,
    plan: Plan | None = None,
    retry_failed: bool = False,
    keys_to: Collection[str] = (),
    reads: Collection[Path | str] = (),
    settings: Sequence[str] = (),
    executor: str = "",
    accept_code: bool = False,
) -> Result:
    """Resume an interrupted run; only unfinished turns are repeated.

    Args:
        path: the folder of the run. One that was not made here, or whose plan was
            edited, is copied first.
        catalogue: the parts that are offered.
        watch: receives the run's progress.
        plan: the plan of the run, if it has objects, which no folder can hold.
        retry_failed: whether failed episodes begin anew; the result's provenance says
            which and why.
        keys_to: the hosts that keys may be sent to, e.g. "api.openai.com": the folder
            may come from anyone. With `plan`, keys go to all hosts that it names,
            unless the folder was made elsewhere.
        reads: the files and folders that the plan of a run from elsewhere may name, now
            and later.
        settings: PART.FIELD=VALUE each, from now on: limits of the run, the executor's
            fields, timeouts and prices of models.
        executor: its name, from now on; empty for that of the plan.
        accept_code: whether other code may go on with the run than the code that began
            it. The result then also has the numbers of each.

    Raises:
        GdeError: no run folder, its plan was edited or is not `plan`, or can no longer
        be served; a setting could change a result; or the code is another one.
    """
    with RunFolder.to_write(Path(path)) as folder:
        is_callers = plan is not None and folder.reads is None
        hosts = None if is_callers else keys_to
        if reads:
            with only_writer(folder.path), closing(folder.journal()) as journal:
                journal.let_read(resolved(reads))
        if settings or executor:
            _amend(folder, settings, executor, catalogue)
        return _beside_loops(
            lambda stop: _resume(
                folder, plan, catalogue, watch, stop, retry_failed, hosts, accept_code
            )
        )


def _evaluate(
    plan: Plan,
    out: Path | str | None,
    catalogue: Catalogue | None,
    watch: Watch,
    stop: Stop,
    questions: Sequence[Question] = (),
) -> Result:
    ready = prepare(plan, catalogue)
    warm(ready)
    folder = RunFolder.create(
        ready.plan, None if out is None else Path(out), label=_label(ready)
    )
    charge(folder, questions)
    return _run(ready, folder, watch, stop)


def _resume(
    folder: RunFolder,
    plan: Plan | None,
    catalogue: Catalogue | None,
    watch: Watch,
    stop: Stop,
    retry_failed: bool,
    keys_to: Collection[str] | None,
    accept_code: bool,
) -> Result:
    with closing(folder.journal(write=False)) as journal:
        recorded = current_plan(folder, journal)
    if plan is not None:
        known = plan_hash(folder.plan())
        got = plan_hash(prepare(plan, catalogue).plan)
        if got != known:
            raise GdeError(
                f"{folder.path}: wanted the plan that the run began with ({known}), got another ({got})"
            )
        recorded = with_objects(recorded, plan)
    ready = prepare(recorded, catalogue)
    return finished_result(ready, folder) or _run(
        ready, folder, watch, stop, retry_failed, keys_to, accept_code
    )


def _amend(
    folder: RunFolder,
    settings: Sequence[str],
    executor: str,
    catalogue: Catalogue | None,
) -> None:
    """Change what the run's plan says about anything but results."""
    with only_writer(folder.path):
        plan = amended(folder.plan(), settings, executor)
        # Values are checked, and get their types, where the plan is resolved.
        ready = resolve(plan, catalogue or Catalogue.default(), absent=True)
        models = {choice.label: choice for choice in ready.plan.models}
        complete = [models.get(choice.label, choice) for choice in plan.models]
        folder.write_plan(
            replace(plan, executor=ready.plan.executor, models=tuple(complete))
        )


def _label(ready: Ready) -> str:
    """Name a run by its environment, agent and language model."""
    model = re.split(r"[/:]", ready.agent_model.rstrip("/"))[-1]
    return "-".join(filter(None, (ready.environment.label, ready.agent.label, model)))


def warm(ready: Ready) -> None:
    """Make the parts that may fail, before anything is written."""
    with closing(Resources(ready)) as resources:
        resources.models.reuse.open()
        executor = resources.make(ready.executor)
        if isinstance(executor, WorksElsewhere):
            executor.check(ready)
        list_worlds(ready, resources)
        for chosen in ready.rewards:
            resources.make(chosen)
        _warm_judges(ready, resources)
        probes = [(chosen, resources.make(chosen)) for chosen in ready.probes]
        if ready.agent_model and not ready.agent.absent:
            answering = resources.models.get(ready.agent_model).info
            for chosen, probe in probes:
                info = resources.models.get(ready.read_model(chosen)).info
                check_weights(f"{chosen.label}.weights", info, answering)
                probe.capture(info)


def _warm_judges(ready: Ready, resources: Resources) -> None:
    for name, chosen in ready.judges.items():
        if chosen in ready.rewards:
            continue
        try:
            resources.make(chosen)
        except MissingExtra:
            raise
        except GdeError as error:
            raise settable(error, name) from error


def _run(
    ready: Ready,
    folder: RunFolder,
    watch: Watch,
    stop: Stop,
    retry_failed: bool = False,
    keys_to: Collection[str] | None = None,
    accept_code: bool = False,
) -> Result:
    try:
        with only_writer(folder.path), folder.writing() as journal:
            checked_hash(folder, journal)
            manifest.renew(journal, "activations", "probes", "rewards")
            if retry_failed:
                journal.forget_failed()
            run = Pipeline(ready, folder, journal, watch, stop, keys_to, accept_code)
            with closing(run):
                return _complete(run)
    except (RunFailed, KeyboardInterrupt) as error:
        # The message of the command line says which run to resume.
        error.add_note(str(folder.path))
        raise
    except (GdeError, OSError) as error:
        if folder.path.is_dir():
            raise
        raise RunFailed(
            f"{folder.path} was removed during the run; no result is left"
        ) from error


def _complete(run: Pipeline) -> Result:
    """Go through all stages."""
    run.roll_out()
    run.probe()
    run.reward()
    return conclude(run)


def _beside_loops(work: Callable[[Stop], OutputT]) -> OutputT:
    """Run event loops of the work in another thread if this one has a loop."""
    stop = Stop()
    if not _in_loop():
        return work(stop)
    done: Future[OutputT] = Future()

    def deliver() -> None:
        try:
            done.set_result(work(stop))
        except BaseException as error:
            done.set_exception(error)

    thread = Thread(target=deliver, name="gde-evaluate", daemon=True)
    thread.start()
    try:
        return done.result()
    except KeyboardInterrupt:
        stop.set()
        thread.join()
        raise


def _in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
