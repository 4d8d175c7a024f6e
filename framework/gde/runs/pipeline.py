"""The stages of a run, in the order in which they are called."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import (
    AbstractContextManager,
    ExitStack,
    closing,
    contextmanager,
    nullcontext,
)
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from hashlib import sha256
from typing import Any

from gde.data.activations import CaptureRequest
from gde.data.completion import ModelInfo
from gde.data.json import Json, Labels
from gde.data.measure import Measure, Measures
from gde.data.probe import Fit
from gde.data.trajectory import Trajectory, Turn
from gde.errors import GdeError, RunFailed
from gde.offers import ProbeOffer
from gde.parts.executor import WorksElsewhere, WorksFarAway
from gde.parts.language_model import WhiteBox
from gde.parts.probe import Probe
from gde.request.catalogue import call_each
from gde.request.planfile import plan_hash
from gde.request.provenance import provenance
from gde.request.ready import Chosen, Ready
from gde.request.versions import Versions, check_same, playing, versions
from gde.runs.sharing import DistantSharing, Sharing, answer, shares
from gde.runs.stopping import Stop
from gde.seeding import derive
from gde.stages import learning
from gde.stages.capturing import (
    Sequences,
    merge,
    record,
    record_bags,
    sequences,
)
from gde.stages.context import Resources
from gde.stages.evidence import Recorded
from gde.stages.failing import pass_on, reason_of
from gde.stages.lanes import cores
from gde.stages.models import notes_of
from gde.stages.probing import (
    BAGS,
    MODEL,
    ProbeStage,
    list_fits,
    of_weights,
    untrained_sources,
)
from gde.stages.progress import Listeners, Progress, Watch, watching
from gde.stages.replaying import check_weights, identity, retokenize
from gde.stages.reuse import reuse_note
from gde.stages.rewarding import reward
from gde.stages.rollout import count_episodes, digest, list_worlds
from gde.store import manifest
from gde.store.activations import ActivationStore
from gde.store.damage import decoding
from gde.store.folder import RunFolder
from gde.store.journal import JUDGED, RESUMED, RETRIED, Journal
from gde.store.probes import made_by, write_report
from gde.store.replays import read_replays, unread
from gde.store.rewards import judged


class _CannotInitialise(GdeError):
    """A control cannot be made, which must not cost the run."""


@dataclass
class Pipeline:
    """The stages of one run. Each goes on where it was stopped."""

    ready: Ready
    folder: RunFolder
    journal: Journal
    watch: Watch
    stop: Stop = field(default_factory=Stop)
    trusted: bool = True
    """Whether the user trusts the plan: else, parts make no worlds and ask nobody."""
    resources: Resources = field(init=False)

    def __post_init__(self) -> None:
        self.resources = Resources(
            self.ready, self.journal, self.folder.probes, trusted=self.trusted
        )

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
            with. RunFailed: stopped from outside, a worker has died, or the executor
            has failed.
        """
        self.stop.check()
        ready = self.ready
        worlds = list_worlds(ready, self.resources)
        total = count_episodes(ready, worlds)
        origin = self.begin(total, digest(worlds))
        hook = ready.catalogue.plugins.manager.hook
        call_each(
            hook.gde_run_started, warnings.warn, plan=ready.plan, provenance=origin
        )

        executor: Any = self.resources.make(ready.executor)
        journal_path = self.folder.journal_path
        job = Sharing(journal_path, self.stop)

        # A stop in this process does not reach workers elsewhere by itself.
        stopping: AbstractContextManager[Any] = nullcontext()
        if isinstance(executor, WorksElsewhere):
            stopping = self.stop.calling(executor.stop)

        with (
            self.journal.asking_alone(),
            stopping,
            watching(journal_path, total, self._listeners()),
        ):
            parts = shares(ready, worlds, self.journal, executor.workers)
            try:
                if isinstance(executor, WorksFarAway):
                    done = executor.map(
                        DistantSharing(job), parts, partial(answer, self.journal)
                    )
                else:
                    done = executor.map(job, parts)
                # Executors work while they are iterated over.
                for _ in done:
                    pass
            except GdeError:
                raise
            except BaseException as error:
                pass_on(error)
                raise self._executor_failed(error) from error
        manifest.end(self.journal, "episodes")

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
        origin = {**provenance(self.ready, {}), "worlds": worlds}
        known = self.journal.noted("provenance", dict)
        if known is None:
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
            self._check("episodes", playing(self.ready))
            manifest.begin(self.folder.path, "episodes")
            self._note_resumed(known, origin)
        return origin

    def _check(self, made: str, here: Versions, by: Versions | None = None) -> None:
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
        )

    def probe(self) -> None:
        """Capture missing activations for the probes, and fit the probes.

        Raises:
            GdeError: a probe's weights are not those of the agent's model.
        """
        reading: dict[str, list[Chosen]] = {}
        for chosen in self.ready.probes:
            reading.setdefault(self.ready.read_model(chosen), []).append(chosen)
        reading.pop("", None)
        for name, probes in reading.items():
            self._probe(name, probes)

    def _probe(self, name: str, chosen_probes: Sequence[Chosen]) -> None:
        """Capture and fit for the probes that read this model."""
        # A model with known layers is a white box; others have to be made to find out.
        models = self.resources.models
        info = models.info(name)
        if not info.n_layers and not isinstance(models.get(name), WhiteBox):
            return

        trajectories = Recorded(self.folder.journal_path)
        probes: list[Probe] = []
        requests: list[CaptureRequest] = []
        for chosen in chosen_probes:
            probe = self.resources.make(chosen)
            probes.append(probe)
            requests.append(probe.capture(info))
        request = merge(requests)
        read = self._read(name, info, chosen_probes[0].label, trajectories, request)
        not_made = self._capture(trajectories, request, read)
        manifest.end(self.journal, "activations")

        # If activations had to be recorded, the model was made anew, perhaps by other
        # software.
        info = models.info(name)
        sweeps = len(self.conditions) > 1
        work: list[tuple[Probe, Fit, str]] = []
        for chosen, probe, request in zip(chosen_probes, probes, requests, strict=True):
            for fit in list_fits(chosen.label, probe, request, sweeps):
                plan = self.ready.plan
                origin = _origin(
                    versions((chosen, self.ready.models[name])),
                    chosen.choice.config,
                    fit,
                    info,
                    trajectories,
                    plan.initialisations,
                    plan.learning,
                )
                work.append((probe, fit, origin))

        # Fits that depend on the same as those in the journal are kept.
        known = made_by(self.journal)
        wanted = []
        for probe, fit, origin in work:
            if known.get(fit.name) != origin:
                wanted.append((probe, fit))

        stage = ProbeStage(
            trajectories=trajectories,
            folder=self.folder,
            seed=self.ready.plan.seed,
            conditions=self.conditions,
            threads=min(cores(), self.ready.how.concurrency),
            initialisations=self.ready.plan.initialisations,
            model=name,
            weights=read.weights,
            not_made=not_made,
            unread=unread(self.journal, read.weights),
            learning=self.ready.plan.learning,
            meanings=Measures(tuple(measures_of_probes(self.ready))),
        )
        manifest.begin(self.folder.path, "probes")
        with closing(stage.fit(wanted)) as fits:
            for done, (_, fit, origin) in enumerate(work):
                self.stop.check()
                self.watch(Progress("probes", done, len(work), fit.name))
                if known.get(fit.name) != origin:
                    fitted = next(fits)
                    self.journal.keep_traceback(fitted.report.reason, fitted.traceback)
                    write_report(
                        self.journal, self.folder.probes, fitted.report, origin
                    )
        manifest.end(self.journal, "probes")
        self.watch(Progress("probes", len(work), len(work)))

    def _read(
        self,
        name: str,
        info: ModelInfo,
        whose: str,
        trajectories: Sequence[Trajectory],
        request: CaptureRequest,
    ) -> "_Read":
        """Prepare the reading of a model, for which a server's answers need tokens.

        Raises:
            GdeError: it has other weights than the agent's model.
        """
        answering = self.ready.agent_model
        if name == answering:
            return _Read(name=name)
        models = self.resources.models
        check_weights(f"{whose}.weights", info, models.info(answering))
        configs = {each.label: each.config for each in self.ready.plan.models}
        read = _Read(name=name, weights=identity(info, configs[name]))
        scored = retokenize(
            trajectories,
            answering,
            partial(models.white_box, name),
            read.weights,
            request,
            self.journal,
        )
        store = ActivationStore(self.folder.activations, self.journal)
        store.write(read.source(MODEL), scored)
        return read

    def _capture(
        self,
        trajectories: Sequence[Trajectory],
        request: CaptureRequest,
        read: "_Read",
    ) -> Mapping[str, str]:
        """Store the requested activations; make a model only if some are missing.

        Returns:
            Why there are no activations of a model with random weights, by source. It
            is a control, whose failure must not cost the run.
        """
        not_made: dict[str, str] = {}
        store = ActivationStore(self.folder.activations, self.journal)
        trained = partial(self._trained, read.name)
        controls = untrained_sources(self.ready.plan.initialisations)

        def replayable() -> Sequences:
            replays = partial(read_replays, self.journal, read.weights)
            return sequences(trajectories, self.ready.agent_model, replays)

        total = 2 + len(controls)
        self.watch(Progress("activations", 0, total))
        record(replayable(), trained, read.source(MODEL), request, store)
        self.watch(Progress("activations", 1, total))
        bags = read.source(BAGS)
        record_bags(replayable(), trained, bags, request.positions, store)
        for done, source in enumerate(controls, start=2):
            self.watch(Progress("activations", done, total))
            try:
                make = partial(self._untrained, read.name, source)
                with _made_once(make) as untrained:
                    record(replayable(), untrained, read.source(source), request, store)
            except _CannotInitialise as error:
                not_made[source] = str(error)
        self.watch(Progress("activations", total, total))
        return not_made

    def _trained(self, name: str) -> WhiteBox:
        """Make a model, which must be the one that answered.

        Raises:
            GdeError: its version is another one.
        """
        here = versions((self.ready.models[name],))
        # Activations may be added by later stages of gde.
        del here["gde"]
        self._check("episodes", here)
        return self.resources.models.white_box(name)

    def _untrained(self, name: str, source: str) -> WhiteBox:
        """Make a model with random weights.

        Raises:
            _CannotInitialise: the model has no way to initialise another.
        """
        model = self.resources.models.white_box(name)
        try:
            return model.untrained(derive(self.ready.plan.seed, source))
        except Exception as error:
            pass_on(error)
            reason = f"no model with random weights: {reason_of(error)}"
            raise _CannotInitialise(reason) from error

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
                self._check("rewards", here, judged_by.get(chosen.label, {}))
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
        if resumed := self.journal.noted(RESUMED):
            found["resumed_with"] = resumed
        if retried := self.journal.noted(RETRIED):
            found["retried"] = retried
        return {**found, **reuse_note(self.journal, self.ready.how.cache)}

    def close(self) -> None:
        """Release the models and other resources."""
        self.resources.close()


@dataclass(frozen=True, kw_only=True)
class _Read:
    """The model whose activations are read."""

    name: str
    weights: str = ""
    """Identifies them; empty for the agent's own model."""

    def source(self, name: str) -> str:
        """The source of its activations."""
        return of_weights(name, self.weights)


@contextmanager
def _made_once(make: Callable[[], WhiteBox]) -> Iterator[Callable[[], WhiteBox]]:
    """Make a model when it is first wanted, and close it before another is made."""
    with ExitStack() as stack:
        yield cache(lambda: stack.enter_context(closing(make())))


def measures_of_probes(ready: Ready) -> list[Measure]:
    """The meaning of all numbers of probes, which bear the probe's name."""
    measures = []
    for probe in ready.probes:
        offer = probe.entry.offer
        assert isinstance(offer, ProbeOffer)
        for measure in (*learning.MEASURES, *offer.measures):
            measures.append(measure.under(probe.label))
    return measures


def _origin(
    made_by: Versions,
    config: Any,
    fit: Fit,
    model: ModelInfo,
    trajectories: Recorded,
    initialisations: int,
    with_learning: bool,
) -> str:
    """Hash what a fit depends on."""
    parts = (
        dict(made_by),
        config,
        asdict(fit),
        model.name,
        dict(model.versions),
        trajectories.episodes,
        initialisations if fit.control == "untrained" else 1,
        with_learning,
    )
    return sha256(repr(parts).encode()).hexdigest()


@decoding("facts")
def checked_hash(folder: RunFolder, journal: Journal) -> str:
    """Give the hash of the run's plan.

    Raises:
        GdeError: plan.toml is no longer the one that the run began with.
    """
    now = plan_hash(folder.recorded().begun)
    begun = journal.noted("provenance", dict)
    if begun is None or begun["plan_hash"] == now:
        return now

    raise GdeError(
        f"{folder.path}: plan.toml was changed after the run had begun (plan {begun['plan_hash']}, now {now}):"
        " restore it, or run the changed plan in a new folder with `gde eval --plan`"
    )
