"""The log of another program as a run, like any other."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gde.data.completion import ModelInfo
from gde.data.observation import Observation, State, World
from gde.data.plan import Choice, Plan
from gde.data.result import Result
from gde.data.trajectory import Decision, EpisodeKey, Trajectory, Turn
from gde.errors import GdeError
from gde.request.catalogue import Catalogue
from gde.request.check import lacking
from gde.request.names import model_names
from gde.request.ready import Ready, untrusted
from gde.request.resolve import resolve
from gde.runs.conclusion import conclude
from gde.runs.pipeline import Pipeline
from gde.stages.failing import reason_of
from gde.stages.models import NOTED
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


@dataclass(frozen=True, kw_only=True)
class Played:
    """Episodes of gde in another program's log."""

    plan: Plan
    """Of the run in which they were played."""
    models: Mapping[str, Mapping[str, Any]]
    """The notes of the models that answered, by name."""
    samples: tuple[Trajectory, ...]

    @property
    def task(self) -> str:
        """The environment."""
        return self.plan.environment.label


def import_log(
    log: Log | Played, out: Path | None = None, catalogue: Catalogue | None = None
) -> Result:
    """Write a log as a run.

    A sample becomes an episode of one turn in a world of its own. Its scores are
    numbers of the metric `scores`, and the first of them between 0 and 1 is its
    success. Episodes of gde become themselves, and are measured as in their plan, as
    far as that needs neither probes nor reward models.

    Raises:
        GdeError: there is no sample, two are the same, one is damaged, or `out` exists.
    """
    catalogue = catalogue or Catalogue.default()
    if isinstance(log, Played):
        return _import_played(log, out, catalogue)
    _check(log)
    ids = {sample.id for sample in log.samples}
    last_epoch = max(sample.epoch for sample in log.samples)
    plan = Plan(
        environment=Choice(name=_name(log.task)),
        agent=Choice(name=_name(log.model)),
        metrics=(Choice(name=SCORES),),
        episodes=len(ids),
        repeats=1 + last_epoch,
    )

    # Neither the task nor the model is a part that is installed here.
    ready = resolve(plan, catalogue, absent=True)
    return _written(ready, len(log.samples), partial(_write, log), out)


def _written(
    ready: Ready,
    n: int,
    write: Callable[[Journal], Coroutine[Any, Any, None]],
    out: Path | None,
) -> Result:
    """A run of so many episodes, which are written by a function."""
    path = out or free_name(Path("runs"), "run")
    with (
        RunFolder.filled(ready.plan, path) as folder,
        folder.writing() as journal,
        # A log may come from anyone, so nobody trusts the run yet.
        closing(Pipeline(untrusted(ready), folder, journal, ignore)) as run,
    ):
        run.begin(n, "")
        asyncio.run(write(journal))
        result = conclude(run)
    return replace(result, run=str(path))


def _import_played(log: Played, out: Path | None, catalogue: Catalogue) -> Result:
    _check_played(log)
    ready = resolve(_plan_of(log, catalogue), catalogue, absent=True)

    # What activations and rewards of the run have shown is not in the log.
    metrics = []
    for part, choice in zip(ready.metrics, ready.plan.metrics, strict=True):
        if not lacking(part, ready, ready.gives):
            metrics.append(choice)
    plan = replace(ready.plan, metrics=tuple(metrics))
    ready = resolve(plan, catalogue, absent=True)
    return _written(ready, len(log.samples), partial(_write_played, log), out)


def _plan_of(log: Played, catalogue: Catalogue) -> Plan:
    """The plan that says what was played by whom, and how it is measured.

    Files, addresses and limits of whoever made the log are no part of it.
    """
    plan = Plan(
        environment=log.plan.environment,
        agent=log.plan.agent,
        metrics=log.plan.metrics,
        episodes=log.plan.episodes,
        repeats=1 + max(one.key.repeat for one in log.samples),
        seed=log.plan.seed,
    )
    asked = _first_model(log)
    fields = model_names(resolve(plan, catalogue, absent=True).agent.config)
    if not asked or not fields:
        return plan

    # In a task of Inspect, its model is asked, whichever the agent names.
    config = {**plan.agent.config, next(iter(fields)): asked}
    return replace(plan, agent=replace(plan.agent, config=config))


def _first_model(log: Played) -> str:
    """The name of the model that decided the first turn; empty for none."""
    for trajectory in log.samples:
        for turn in trajectory.turns:
            if turn.decision.completion is not None:
                return turn.decision.completion.model
    return ""


def _check_played(log: Played) -> None:
    """Refuse episodes that a journal does not give back, before a run is made of them.

    Raises:
        GdeError: there is none, two are the same, or one is damaged.
    """
    if not log.samples:
        raise GdeError(
            f"the log of {log.task}: wanted samples, got none; were they logged?"
        )
    with (
        TemporaryDirectory(prefix="gde-") as folder,
        closing(Journal.create(Path(folder) / "run.sqlite")) as journal,
    ):
        # The log may hold anything in the place of anything.
        try:
            asyncio.run(_write_played(log, journal))
            again = {one.key: one for one in journal.trajectories()}
            is_whole = all(again.get(one.key) == one for one in log.samples)
        except Exception as error:
            raise GdeError(
                f"the log of {log.task}: wanted episodes of gde, got damaged ones ({reason_of(error)})"
            ) from error
        if not is_whole or len(again) != len(log.samples):
            raise GdeError(
                f"the log of {log.task}: wanted each episode of gde once, got damaged or repeated ones"
            )


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


async def _write_played(log: Played, journal: Journal) -> None:
    if log.models:
        notes = {name: asdict(ModelInfo(**one)) for name, one in log.models.items()}
        journal.add_note(NOTED, notes)
    for one in log.samples:
        await journal.begin(one.key, one.seed, one.world, one.labels, one.horizon)
        written = set()
        for turn in one.turns:
            completion = turn.decision.completion
            if completion is not None and completion.request not in written:
                await journal.call(str(one.key), turn.index, completion)
                written.add(completion.request)
            await journal.turn(one.key, turn)
        await journal.end(one.key, one.ending, one.failure, one.final_state)


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
