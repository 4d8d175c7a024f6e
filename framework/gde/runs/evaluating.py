"""The main job: a plan through all stages to a result, in one go or after an interruption."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import TypeVar

from gde.data.plan import Plan
from gde.data.result import Result
from gde.request.catalogue import Catalogue
from gde.request.check import check
from gde.request.resolve import Ready, resolve
from gde.runs.conclusion import conclude
from gde.runs.pipeline import Pipeline, checked_hash
from gde.stages.context import Resources
from gde.stages.progress import Watch, ignore
from gde.stages.rollout import count_episodes, list_worlds
from gde.store.atomic import only_writer
from gde.store.folder import RunFolder

OutputT = TypeVar("OutputT")


def prepare(plan: Plan, catalogue: Catalogue | None = None) -> Ready:
    """A plan whose parts are known and fit together.

    Raises:
        GdeError: anything about the plan that can be refused before it runs.
    """
    ready = resolve(plan, catalogue or Catalogue.default())
    check(ready)
    return ready


@dataclass(frozen=True, kw_only=True)
class Dry:
    """What a plan would do."""

    plan: Plan
    """With every configuration complete."""
    episodes: int
    strata: int


def dry(plan: Plan, catalogue: Catalogue | None = None) -> Dry:
    """Everything that can be known of a run without running it.

    Raises:
        GdeError: the plan is refused.
    """
    ready = prepare(plan, catalogue)
    with closing(Resources(ready)) as resources:
        worlds = list_worlds(ready, resources)
    return Dry(plan=ready.plan, episodes=count_episodes(ready, worlds), strata=len(ready.strata))


def evaluate(
    plan: Plan, out: Path | str | None = None, catalogue: Catalogue | None = None, watch: Watch = ignore
) -> Result:
    """Run a plan in a new folder (`out`, or a new one under runs/) and give its result.

    Where an event loop is running, e.g. in a notebook, it works in a thread beside it and blocks all the same; `await
    aevaluate(...)` does not.

    Raises:
        GdeError: the plan is refused; nothing has been written.
        RunFailed: the run was stopped from outside, e.g. by a full disk; `resume` goes on.
    """
    return _beside_loops(lambda: _evaluate(plan, out, catalogue, watch))


async def aevaluate(
    plan: Plan, out: Path | str | None = None, catalogue: Catalogue | None = None, watch: Watch = ignore
) -> Result:
    """What `evaluate` does, in a thread of its own, for programs that have an event loop."""
    return await asyncio.to_thread(_evaluate, plan, out, catalogue, watch)


def resume(path: Path | str, catalogue: Catalogue | None = None, watch: Watch = ignore) -> Result:
    """Go on with an interrupted run: what was finished is kept, what was in flight is asked for again.

    Raises:
        GdeError: no run folder, its plan was edited, or can no longer be served.
    """
    folder = RunFolder.open(Path(path))
    return _beside_loops(lambda: _run(prepare(folder.plan(), catalogue), folder, watch))


def _evaluate(plan: Plan, out: Path | str | None, catalogue: Catalogue | None, watch: Watch) -> Result:
    ready = prepare(plan, catalogue)
    _warm(ready)
    return _run(ready, RunFolder.create(ready.plan, None if out is None else Path(out)), watch)


def _warm(ready: Ready) -> None:
    """Make what a wrong path or layer would show only later, so that a refused plan leaves nothing behind."""
    with closing(Resources(ready)) as resources:
        list_worlds(ready, resources)
        for chosen in (*ready.probes, *ready.rewards):
            resources.make(chosen)
        if ready.agent_model and not ready.agent.absent:
            info = resources.models.get(ready.agent_model).info
            for chosen in ready.probes:
                chosen.make(resources.context("probe", chosen.label)).capture(info)


def _run(ready: Ready, folder: RunFolder, watch: Watch) -> Result:
    with only_writer(folder.path), closing(folder.journal()) as journal:
        checked_hash(folder, journal)
        with closing(Pipeline(ready, folder, journal, watch)) as run:
            run.roll_out()
            run.probe()
            run.reward()
            return conclude(run)


def _beside_loops(work: Callable[[], OutputT]) -> OutputT:
    """The output of `work`, which runs event loops of its own: in a thread where one is running here."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    done: Future[OutputT] = Future()

    def deliver() -> None:
        try:
            done.set_result(work())
        except BaseException as error:
            done.set_exception(error)

    Thread(target=deliver, name="gde-evaluate", daemon=True).start()
    return done.result()
