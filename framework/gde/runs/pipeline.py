"""The stages of a run, in the order in which they are called."""

import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from secrets import token_hex
from typing import Any

from gde.data.json import Json, Labels
from gde.data.trajectory import Trajectory, Turn
from gde.errors import GdeError, RunFailed
from gde.parts.executor import (
    Ask,
    KeepsWorkers,
    Output,
    WorksElsewhere,
    WorksFarAway,
)
from gde.parts.language_model import WhiteBox
from gde.parts.metric import Declared
from gde.request.catalogue import call_each
from gde.request.provenance import provenance
from gde.request.ready import Ready
from gde.request.versions import Versions, check_same, playing, versions
from gde.runs.sharing import Sharing, answer, shares
from gde.runs.stopping import Stop
from gde.stages.asking_elsewhere import AskedElsewhere, AskElsewhere
from gde.stages.context import Resources
from gde.stages.elsewhere import Elsewhere
from gde.stages.evidence import Recorded
from gde.stages.failing import pass_on, reason_of
from gde.stages.models import notes_of
from gde.stages.progress import Listeners, Watch, watching
from gde.stages.reuse import reuse_note
from gde.stages.rewarding import reward
from gde.stages.rollout import (
    count_episodes,
    digest,
    list_worlds,
    remarks,
)
from gde.stages.telling import telling
from gde.store import manifest
from gde.store.damage import decoding
from gde.store.facts import begin_sets
from gde.store.folder import RunFolder
from gde.store.journal import JUDGED, REMARKS, RESUMED, RETRIED, Journal
from gde.store.rewards import judged


@dataclass
class Pipeline:
    """The stages of one run. Each goes on where it was stopped."""

    ready: Ready
    folder: RunFolder
    journal: Journal
    watch: Watch
    stop: Stop = field(default_factory=Stop)
    resources: Resources = field(init=False)

    def __post_init__(self) -> None:
        self.resources = Resources(self.ready, self.journal, self.folder.probes)
        self.resources.models.elsewhere = self._asked_elsewhere

    @property
    def plan_hash(self) -> str:
        """Of the plan that the run began with."""
        with decoding("facts"):
            return str(self.journal.noted("provenance", dict)["plan_hash"])

    @property
    def conditions(self) -> list[Labels]:
        """The swept values of each condition when the run began."""
        noted: list[Labels] | None = self.journal.noted("conditions", list)
        if noted is not None:
            with decoding("facts"):
                return [dict(labels) for labels in noted]
        return [condition.labels for condition in self.ready.conditions]

    def roll_out(self) -> None:
        """Play the episodes that are not finished, wherever the executor does.

        Raises:
            GdeError: the plan or its worlds are no longer those that the run began
                with.
            RunFailed: stopped from outside, a worker has died, or the executor has
                failed.
        """
        self.stop.check()
        ready = self.ready
        worlds = list_worlds(ready, self.resources)
        total = count_episodes(ready, worlds)
        origin = self.begin(total, digest(worlds))
        if remarked := remarks(ready, self.resources):
            self.journal.note(REMARKS, [*remarked])
        hook = ready.catalogue.plugins.manager.hook
        call_each(
            hook.gde_run_started, warnings.warn, plan=ready.plan, provenance=origin
        )

        executor: Any = self.resources.make(ready.executor)
        journal_path = self.folder.journal_path
        job = Sharing(journal_path, self.stop)
        with (
            self.journal.asking_alone(),
            watching(journal_path, total, self._listeners()),
        ):
            begin_sets(self.journal, telling(ready))
            parts = shares(ready, worlds, self.journal, executor.workers)
            asked = []
            if isinstance(executor, WorksFarAway):
                asked = [partial(answer, self.journal)]
            # Executors work while they are iterated over.
            for _ in self.spread(executor, job, parts, *asked):
                pass
        manifest.end(self.journal, "episodes")

    def spread(
        self,
        executor: Any,
        job: Callable[[Any], Output],
        items: Sequence[Any],
        *asked: Ask,
    ) -> Iterator[Output]:
        """Yield what the executor makes of a job's items, in any order.

        Raises:
            RunFailed: stopped from outside, a worker has died, or the executor has
                failed.
        """
        # A stop in this process does not reach workers elsewhere by itself.
        stopping: AbstractContextManager[Any] = nullcontext()
        if isinstance(executor, WorksElsewhere):
            stopping = self.stop.calling(executor.stop)
        with stopping:
            try:
                yield from executor.map(job, items, *asked)
            except (GdeError, GeneratorExit):
                raise
            except BaseException as error:
                pass_on(error)
                raise self._executor_failed(error) from error

    def elsewhere(self, name: str) -> Elsewhere:
        """A model of the run, for the workers of an executor."""
        return Elsewhere(
            ready=self.ready,
            name=name,
            identity=self.resources.models.info(name).versions,
            versions=versions((self.ready.models[name],)),
            token=token_hex(8),
        )

    def _asked_elsewhere(self, name: str) -> AskedElsewhere | None:
        """The model where the executor works; None for one that is asked from here."""
        executor = self.resources.make(self.ready.executor)
        model = self.resources.models.get(name)
        if (
            not isinstance(executor, KeepsWorkers)
            or executor.workers == 1
            or not isinstance(model, WhiteBox)
            or name not in self.ready.models
        ):
            return None
        job = AskElsewhere(where=self.elsewhere(name))
        return AskedElsewhere(model, executor, partial(self.spread, executor, job))

    def _executor_failed(self, error: BaseException) -> BaseException:
        """Blame the executor for a fault: faults of episodes never come here."""
        # If the folder was removed, that is the cause of the fault.
        if not self.folder.path.is_dir():
            return error

        entry = self.ready.executor.entry
        whose = f"executor {self.ready.executor.label!r} of {entry.distribution or entry.module}"
        return RunFailed(
            f"{whose} failed ({reason_of(error)}); finished work is kept; resume with `gde resume`"
        )

    def begin(self, total: int, worlds: str) -> Mapping[str, Json]:
        """Note the provenance of a new run, or check that of a resumed one.

        Args:
            total: the number of episodes.
            worlds: a digest of the lists of worlds.

        Raises:
            GdeError: the worlds are no longer those that the run began with, or a part
                that plays the episodes that are left has another version.
        """
        origin = {**provenance(self.ready), "worlds": worlds}
        known = self.journal.noted("provenance", dict)
        if known is None:
            manifest.begin(self.folder.path, "episodes")
            conditions = [dict(condition.labels) for condition in self.ready.conditions]
            self.journal.note("conditions", conditions)
            self.journal.note("episodes", total)
            self.journal.note("provenance", origin)
        elif known["worlds"] != worlds:
            raise GdeError(
                "the environment lists other worlds than when this run began: restore the source of the worlds"
                " (see env.grids in plan.toml), or start a new run"
            )
        elif len(self.journal.finished()) < total:
            self.check_versions("episodes", playing(self.ready))
            manifest.begin(self.folder.path, "episodes")
            self._note_resumed(known, origin)
        return origin

    def check_versions(
        self, made: str, here: Versions, by: Versions | None = None
    ) -> None:
        """Check that work goes on with the versions that it, or the run, began with.

        Raises:
            GdeError: a version is another one.
        """
        begun = self.journal.noted("provenance", dict) or {}
        with decoding("facts"):
            known = begun.get("parts", {}) if by is None else by
            check_same(made, known, here, begun.get("packages", {}))

    def _note_resumed(self, begun: Mapping[str, Json], now: Mapping[str, Json]) -> None:
        """Note the software that goes on with the run, where it is another one."""
        names = ("python", "packages", "commit")
        other = {name: now[name] for name in names if now[name] != begun.get(name)}
        known = self.journal.noted(RESUMED, list) or []
        if other and known[-1:] != [other]:
            self.journal.note(RESUMED, [*known, other])

    def _listeners(self) -> Listeners:
        hook = self.ready.catalogue.plugins.manager.hook

        def episode(trajectory: Trajectory, done: int, total: int) -> None:
            call_each(
                hook.gde_episode_finished,
                warnings.warn,
                trajectory=trajectory,
                done=done,
                total=total,
            )

        def turn(key: str, turn: Turn) -> None:
            call_each(hook.gde_turn_finished, warnings.warn, episode=key, turn=turn)

        # Nothing is read from the record for hooks that no plugin implements.
        hears_episodes = bool(hook.gde_episode_finished.get_hookimpls())
        hears_turns = bool(hook.gde_turn_finished.get_hookimpls())
        return Listeners(
            progress=self.watch,
            episode=episode if hears_episodes else None,
            turn=turn if hears_turns else None,
            prices=self.ready.how.prices,
        )

    def reward(self) -> None:
        """Have every reward model judge the episodes that it has not judged yet."""
        trajectories = Recorded(self.folder.journal_path)
        reach = self.resources.models.reach
        for chosen in self.ready.rewards:
            n_judged = len(judged(self.journal, chosen.label))
            if n_judged == len(trajectories):
                continue
            here = versions((chosen, *self.ready.models.values()))
            if n_judged:
                judged_by = self.journal.noted(JUDGED, dict) or {}
                self.check_versions("rewards", here, judged_by.get(chosen.label, {}))
            manifest.begin(self.folder.path, "rewards")
            self.journal.add_note(JUDGED, {chosen.label: {**here}})
            judging = reward(
                self.resources.shown(chosen),
                trajectories,
                self.ready.how.concurrency,
                self.journal,
                reach,
            )
            self.stop.run(judging)
        manifest.end(self.journal, "rewards")

    def origin(self) -> dict[str, Json]:
        """Give the provenance of the result: of the rollout and of the later stages."""
        found = {
            **provenance(self.ready, notes_of(self.journal)),
            "rolled_out_with": self.journal.noted("provenance"),
        }
        if remarked := self.journal.noted(REMARKS):
            found["remarks"] = remarked
        if resumed := self.journal.noted(RESUMED):
            found["resumed_with"] = resumed
        if retried := self.journal.noted(RETRIED):
            found["retried"] = retried
        return {**found, **reuse_note(self.journal, self.ready.how.cache)}

    def metrics(
        self, besides: Collection[str] = ()
    ) -> list[tuple[str, Callable[[], Declared]]]:
        """The metrics that can be made here and some besides, each with its maker.

        To make one may fail, and that is a failure of this metric alone.
        """
        return [
            (chosen.label, partial(self.resources.metric_of, chosen))
            for chosen in self.ready.metrics
            if not chosen.absent or chosen.label in besides
        ]

    def close(self) -> None:
        """Release the models and other resources."""
        self.resources.close()
