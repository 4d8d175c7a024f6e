"""What another program has logged, as a run: so that it can be compared, reported and exported like any other."""

import asyncio
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path

from gde.data.observation import Observation, State, World
from gde.data.plan import Choice, Plan
from gde.data.result import Result
from gde.data.trajectory import Decision, EpisodeKey, Turn
from gde.errors import GdeError
from gde.request.catalogue import Catalogue
from gde.request.resolve import resolve
from gde.runs.conclusion import conclude
from gde.runs.pipeline import Pipeline
from gde.stages.progress import ignore
from gde.store.folder import RunFolder
from gde.store.journal import Journal
from gde.store.lock import only_writer

SCORES = "scores"
"""The metric that gives what was logged, and the fact of the last state that holds it."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One question and its answer, as a log has them."""

    id: str
    """Equal for equal questions: samples of two logs are compared where it is the same."""
    epoch: int = 0
    """Counts repeats of the question from 0."""
    asked: str = ""
    answer: str = ""
    scores: Mapping[str, float] = field(default_factory=dict)
    """Finite numbers by name."""
    failure: str = ""
    """Why there is no answer to be scored."""


@dataclass(frozen=True, kw_only=True)
class Log:
    """What is taken from a log."""

    task: str
    model: str
    samples: tuple[Sample, ...]


def import_log(log: Log, out: Path | None = None, catalogue: Catalogue | None = None) -> Result:
    """Write a log as a run: a sample is an episode of one turn in a world of its own, its scores are numbers of the
    metric `scores`, and the first of them that lies within 0 and 1 is its success.

    Raises:
        GdeError: there is no sample, two are the same, or `out` exists.
    """
    _check(log)
    plan = Plan(
        environment=Choice(name=_name(log.task)),
        agent=Choice(name=_name(log.model)),
        metrics=(Choice(name=SCORES),),
        episodes=len({sample.id for sample in log.samples}),
        repeats=1 + max(sample.epoch for sample in log.samples),
    )
    ready = resolve(plan, catalogue or Catalogue.default(), absent=True)
    folder = RunFolder.create(ready.plan, out)
    with (
        only_writer(folder.path),
        closing(folder.journal()) as journal,
        closing(Pipeline(ready, folder, journal, ignore)) as run,
    ):
        run.begin(len(log.samples), "")
        asyncio.run(_write(log, journal))
        return conclude(run)


def _check(log: Log) -> None:
    if not log.samples:
        raise GdeError(f"the log of {log.task}: wanted samples, got none; were they logged?")
    keys = [(sample.id, sample.epoch) for sample in log.samples]
    if len(set(keys)) < len(keys):
        name, epoch = max(keys, key=keys.count)
        raise GdeError(f"the log of {log.task}: wanted a sample once an epoch, got {name} in epoch {epoch} again")
    odd = [sample.id for sample in log.samples if not all(map(isfinite, sample.scores.values()))]
    if odd:
        raise GdeError(f"the log of {log.task}: wanted finite scores, sample {odd[0]} has others")


def _name(text: str) -> str:
    """A name of a plan, in which a colon would tell a plugin from its part."""
    return "-".join(text.replace(":", "-").split()) or "unnamed"


async def _write(log: Log, journal: Journal) -> None:
    worlds = {name: place for place, name in enumerate(dict.fromkeys(sample.id for sample in log.samples))}
    for sample in log.samples:
        key = EpisodeKey(condition=0, world=worlds[sample.id], repeat=sample.epoch)
        world = World(id=f"{log.task} {sample.id}", facts={"view": sample.asked})
        await journal.begin(key, 0, world, {}, 1)
        if sample.failure:
            await journal.end(key, "failed", sample.failure, None)
            continue
        await journal.turn(key, _turn(sample))
        await journal.end(key, "terminated", "", State(facts={SCORES: dict(sample.scores)}))


def _turn(sample: Sample) -> Turn:
    success = next((value for value in sample.scores.values() if 0 <= value <= 1), None)
    said = sample.answer
    return Turn(
        index=0,
        observation=Observation(text=sample.asked),
        decision=Decision.act(said) if said else Decision.unusable("empty", "wanted an answer, got none"),
        reward=success or 0.0,
        terminated=True,
        truncated=False,
        success=success,
    )
