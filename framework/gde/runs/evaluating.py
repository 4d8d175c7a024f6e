"""The main job: a plan through all stages to a result, also after a stop."""

import asyncio
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

from gde.before.preparing import prepare, prepare_new, warm
from gde.before.spending import Question, charge
from gde.data.how import How
from gde.data.plan import Plan
from gde.data.result import Result
from gde.errors import GdeError, RunFailed
from gde.files import PLAN
from gde.parts.awaiting import in_loop
from gde.request.catalogue import Catalogue
from gde.request.planfile import plan_hash
from gde.request.ready import Ready
from gde.runs.conclusion import conclude
from gde.runs.pipeline import Pipeline
from gde.runs.probing import fit_probes
from gde.runs.reopening import reopen
from gde.runs.stopping import Stop
from gde.stages.progress import Watch, ignore
from gde.store import manifest
from gde.store.folder import RunFolder, free_name
from gde.store.journal import Journal
from gde.store.trust import check_trusted, trust_new
from gde.validating import checked

LOG = logging.getLogger(__name__)
OutputT = TypeVar("OutputT")


@checked
def evaluate(
    plan: Plan,
    out: Path | str | None = None,
    catalogue: Catalogue | None = None,
    watch: Watch = ignore,
    *,
    how: How | None = None,
    strict: bool = False,
    questions: Sequence[Question] = (),
) -> Result:
    """Run a plan in a new folder (`out`, or one under runs/) and give its result.

    If an event loop is running, e.g. in a notebook, the run has a thread of its own,
    but the call still blocks; `await aevaluate(...)` does not. Without `how`, the run is
    done as the user's settings say. The questions of a preflight count against its
    limits.

    A part that fails is warned of at once by the logger `gde`. The result has the
    reasons, and the numbers of all other parts.

    Args:
        plan: what is measured.
        out: the run folder.
        catalogue: the parts that are offered.
        watch: receives the run's progress.
        how: the run is done.
        strict: whether the failure of a part raises, once the result is stored.
        questions: that a preflight has asked.

    Raises:
        GdeError: the plan is refused, and nothing has been written; or a part has
            failed, under `strict`.
        RunFailed: the run was stopped from outside, e.g. by a full disk; `resume` goes
            on.
        KeyboardInterrupt: it was interrupted; `resume` goes on.
    """
    ready = prepare_new(plan, catalogue, how)
    return _told(
        _beside_loops(lambda stop: _evaluate(ready, out, watch, stop, questions)),
        strict,
    )


@checked
async def aevaluate(
    plan: Plan,
    out: Path | str | None = None,
    catalogue: Catalogue | None = None,
    watch: Watch = ignore,
    *,
    how: How | None = None,
    strict: bool = False,
) -> Result:
    """Run a plan as `evaluate` does, without blocking the event loop.

    Cancelling it stops the run first. `resume` can then go on with the run.
    """
    stop = Stop()
    ready = prepare_new(plan, catalogue, how)
    work = asyncio.ensure_future(asyncio.to_thread(_evaluate, ready, out, watch, stop))
    try:
        return _told(await asyncio.shield(work), strict)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait([work])
        # Its exception says only that it was stopped; asyncio would complain that
        # nobody looked.
        work.exception()
        raise


@checked
def resume(
    path: Path | str,
    catalogue: Catalogue | None = None,
    watch: Watch = ignore,
    *,
    plan: Plan | None = None,
    how: How | None = None,
    retry_failed: bool = False,
) -> Result:
    """Resume an interrupted run; only unfinished turns are repeated.

    Args:
        path: the folder of the run.
        catalogue: the parts that are offered.
        watch: receives the run's progress.
        plan: the plan of the run, if it has objects, which no folder can hold.
        how: the run is done from now on; None for the way in which it was done last.
        retry_failed: whether failed episodes begin anew; the result's provenance says
            which and why.

    Raises:
        GdeError: no run folder, or one that the user does not trust; its plan is not
            `plan`, or can no longer be served.
    """
    folder, catalogue, recorded, how = reopen(path, catalogue, plan, how)
    if plan is not None:
        begun = plan_hash(folder.recorded().begun)
        given = prepare(plan, catalogue, how)
        got = plan_hash(given.plan)
        if got != begun:
            raise GdeError(
                f"{path}: wanted the plan that the run began with ({begun}), got another ({got})"
            )
        # The plan may say where its models are served; the folder does not.
        how = given.how
    ready = prepare(recorded, catalogue, how)
    # Its plan.toml may have been edited meanwhile.
    check_trusted(folder.path)
    trust_new(folder.path, (folder.path / PLAN).read_bytes(), ready.how)
    return _beside_loops(lambda stop: _resume(ready, folder, watch, stop, retry_failed))


def _evaluate(
    ready: Ready,
    out: Path | str | None,
    watch: Watch,
    stop: Stop,
    questions: Sequence[Question] = (),
) -> Result:
    warm(ready)
    path = Path(out or free_name(_label(ready)))
    folder = RunFolder.create(ready.plan, path, ready.how)
    with (
        _writing(folder, is_new=True) as journal,
        closing(Pipeline(ready, folder, journal, watch, stop)) as run,
    ):
        charge(journal, questions)
        return _complete(run)


def _resume(
    ready: Ready, folder: RunFolder, watch: Watch, stop: Stop, retry_failed: bool
) -> Result:
    if found := _finished(folder):
        return found
    with _writing(folder, "activations", "probes", "rewards") as journal:
        if retry_failed:
            journal.forget_failed()
        with closing(Pipeline(ready, folder, journal, watch, stop)) as run:
            return _complete(run)


def _finished(folder: RunFolder) -> Result | None:
    """The stored result, if all files are as they were when the run ended and nothing
    has failed; else None.
    """
    if not folder.is_reported:
        return None
    with closing(Journal.open(folder.journal_path, write=False)) as journal:
        if any(manifest.faults(journal)):
            return None
    result = folder.read_result()
    return result if result.status == "ok" else None


def _told(result: Result, strict: bool) -> Result:
    """A result, of which it is said, or raised, what is missing."""
    if result.missing:
        text = f"{result.run}: {result.status}, missing: {result.missing}"
        if strict:
            raise GdeError(text)
        LOG.warning("%s", text)
    return result


def _label(ready: Ready) -> str:
    """Name a run by its environment, agent and language model."""
    model = re.split(r"[/:]", ready.agent_model.rstrip("/"))[-1]
    return "-".join(filter(None, (ready.environment.label, ready.agent.label, model)))


@contextmanager
def _writing(folder: RunFolder, *anew: str, is_new: bool = False) -> Iterator[Journal]:
    """The journal of a run that nobody else writes to; errors name the run to resume."""
    try:
        with folder.writing(*anew, is_new=is_new) as journal:
            yield journal
    except (RunFailed, KeyboardInterrupt) as error:
        error.add_note(str(folder.path))
        raise
    except (GdeError, OSError) as error:
        # A removal may be under way, or something written since.
        if (folder.path / PLAN).is_file():
            raise
        raise RunFailed(
            f"{folder.path} was removed during the run; no result is left"
        ) from error


def _complete(run: Pipeline) -> Result:
    """Go through all stages, or the first."""
    run.roll_out()
    if run.ready.how.stop_after != "rollout":
        fit_probes(run)
        run.reward()
    return conclude(run)


def _beside_loops(work: Callable[[Stop], OutputT]) -> OutputT:
    """Run event loops of the work in another thread if this one has a loop."""
    stop = Stop()
    if not in_loop():
        return work(stop)
    with ThreadPoolExecutor(1, "gde-evaluate") as beside:
        running = beside.submit(work, stop)
        try:
            return running.result()
        except KeyboardInterrupt:
            stop.set()
            raise
