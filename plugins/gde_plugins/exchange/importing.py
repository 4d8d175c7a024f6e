"""The log of another program as a run, like any other."""

import asyncio
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path

from gde.data.observation import Observation, State, World
from gde.data.plan import Choice, Plan
from gde.data.result import Result
from gde.data.trajectory import Decision, EpisodeKey, Turn
from gde.errors import GdeError
from gde.request.catalogue import Catalogue
from gde.request.ready import untrusted
from gde.request.resolve import resolve
from gde.runs.conclusion import conclude
from gde.runs.pipeline import Pipeline
from gde.stages.progress import ignore
from gde.store.folder import RunFolder, free_name
from gde.store.journal import Journal

SCORES = "scores"
"""The metric that gives the logged scores, and the fact of the last state that holds
them.
"""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One question and its answer, as a log has them."""

    id: str
    """Equal for equal questions: samples of two logs with the same id are compared."""
    epoch: int = 0
    """Counts repeats of the question from 0."""
    asked: str = ""
    answer: str = ""
    scores: Mapping[str, float] = field(default_factory=dict)
    """Finite numbers by name."""
    failure: str = ""
    """Why there is no answer; empty if there is one."""


@dataclass(frozen=True, kw_only=True)
class Log:
    """The content of a log."""

    task: str
    model: str
    samples: tuple[Sample, ...]


def import_log(
    log: Log, out: Path | None = None, catalogue: Catalogue | None = None
) -> Result:
    """Write a log as a run.

    A sample becomes an episode of one turn in a world of its own. Its scores are
    numbers of the metric `scores`, and the first of them between 0 and 1 is its
    success.

    Raises:
        GdeError: there is no sample, two are the same, or `out` exists.
    """
    catalogue = catalogue or Catalogue.default()
    _check(log)
    ids = {sample.id for sample in log.samples}
    last_epoch = max(sample.epoch for sample in log.samples)
    plan = Plan(
        environment=Choice(name=_name(log.task)),
        agent=Choice(name=_name(log.model)),
        metrics=(SCORES,),
        episodes=len(ids),
        repeats=1 + last_epoch,
    )

    # Neither the task nor the model is a part that is installed here. A log may come
    # from anyone, so nobody trusts the run yet.
    ready = untrusted(resolve(plan, catalogue, absent=True))
    path = out or free_name("run")
    with (
        RunFolder.filled(ready.plan, path) as folder,
        folder.writing(is_new=True) as journal,
        closing(Pipeline(ready, folder, journal, ignore)) as run,
    ):
        run.begin(len(log.samples), "")
        asyncio.run(_write(log, journal))
        result = conclude(run)
    return replace(result, run=str(path))


def _check(log: Log) -> None:
    if not log.samples:
        raise GdeError(
            f"the log of {log.task}: wanted samples, got none; were they logged?"
        )

    seen = set()
    for sample in log.samples:
        key = (sample.id, sample.epoch)
        if key in seen:
            again = f"got {sample.id} in epoch {sample.epoch} again"
            raise GdeError(
                f"the log of {log.task}: wanted a sample once an epoch, {again}"
            )
        seen.add(key)

    for sample in log.samples:
        if not all(map(isfinite, sample.scores.values())):
            raise GdeError(
                f"the log of {log.task}: wanted finite scores, sample {sample.id} has others"
            )


def _name(text: str) -> str:
    """A name for a plan: without blanks, and without colons.

    Colons stand between a plugin and its part.
    """
    words = text.replace(":", "-").split()
    return "-".join(words) or "unnamed"


async def _write(log: Log, journal: Journal) -> None:
    worlds: dict[str, int] = {}
    for sample in log.samples:
        # Worlds are counted in the order in which the log first names them.
        number = worlds.setdefault(sample.id, len(worlds))
        key = EpisodeKey(condition=0, world=number, repeat=sample.epoch)
        world = World(id=f"{log.task} {sample.id}", facts={"view": sample.asked})
        await journal.begin(key, 0, world, {}, 1)
        if sample.failure:
            await journal.end(key, "failed", sample.failure, None)
            continue
        await journal.turn(key, _turn(sample))
        await journal.end(
            key, "terminated", "", State(facts={SCORES: dict(sample.scores)})
        )


def _turn(sample: Sample) -> Turn:
    shares = [value for value in sample.scores.values() if 0 <= value <= 1]
    success = shares[0] if shares else None
    if sample.answer:
        decision = Decision.act(sample.answer)
    else:
        decision = Decision.unusable("empty", "wanted an answer, got none")
    return Turn(
        index=0,
        observation=Observation(text=sample.asked),
        decision=decision,
        reward=success or 0.0,
        terminated=True,
        truncated=False,
        success=success,
    )
