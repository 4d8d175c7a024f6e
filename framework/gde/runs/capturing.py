"""The activations that probes read: captured where the run's executor works, and stored
here.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import count, groupby, islice
from operator import attrgetter

from gde.data.activations import CaptureRequest
from gde.data.trajectory import Trajectory
from gde.parts.executor import WorksElsewhere
from gde.parts.language_model import WhiteBox
from gde.request.versions import versions
from gde.runs.pipeline import Pipeline
from gde.seeding import derive
from gde.stages.alike_worlds import joined_clusters
from gde.stages.capture_parts import (
    Capture,
    Captured,
    CaptureElsewhere,
    Part,
    in_order,
)
from gde.stages.capturing import (
    TURNS,
    Records,
    Sequences,
    Stored,
    lacking,
    new,
    rows_at,
    sequences,
    stored_in,
)
from gde.stages.fits import MODEL, of_seed, of_weights
from gde.stages.marking import Marking
from gde.stages.probe_data import one_turn_of_each
from gde.stages.progress import Progress
from gde.store.activations import ActivationStore, Row
from gde.store.replays import read_replays


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The model whose activations are read."""

    name: str
    weights: str = ""
    """Identifies them; empty for the agent's own model."""
    marking: Marking | None = None
    """Finds further positions in its tokens."""

    def source(self, name: str) -> str:
        """The source of its activations."""
        return of_weights(name, self.weights)


@dataclass(frozen=True, kw_only=True)
class _Source:
    """Weights whose activations are wanted."""

    name: str
    """Under which they are stored."""
    control: str = ""
    """The name of random weights in this run; empty for the trained ones."""
    seed: int | None = None
    """Draws random weights."""
    every: bool = True
    """Whether all turns are wanted, or one of each world."""
    stored: Stored


def capture(
    run: Pipeline,
    trajectories: Sequence[Trajectory],
    request: CaptureRequest,
    read: Reading,
    controls: Mapping[str, bool],
    seed: int,
) -> Mapping[str, str]:
    """Store the requested activations; make a model only if some are missing.

    Args:
        run: the run.
        trajectories: all of it.
        request: what the probes read.
        read: the model.
        controls: the sources with random weights, and whether all turns of them are
            read, or one of each world.
        seed: draws the random weights.

    Returns:
        Why there are no activations of a model with random weights, by source. It
        is a control, whose failure must not cost the run.
    """

    def replayable() -> Sequences:
        replays = partial(read_replays, run.journal, read.weights)
        return sequences(trajectories, run.ready.agent_model, replays, read.marking)

    chosen: set[Row] = set()
    if not all(controls.values()):
        worlds = joined_clusters(trajectories)
        for rows in rows_at(replayable(), request.positions).values():
            chosen |= one_turn_of_each(rows, worlds, run.ready.plan.seed)

    store = ActivationStore(run.folder.activations, run.journal)
    sources = _sources(run, read, request, controls, seed, store)
    parts = _parts(run, read, sources, replayable, chosen)
    reasons: dict[str, str] = {}

    def records(captured: Iterable[Captured]) -> Records:
        for each in captured:
            if each.reason:
                reasons[sources[each.source].control] = each.reason
            yield from each.records

    total = len(sources)
    run.watch(Progress("activations", 0, total))
    with closing(_captured(run, read, request, parts)) as captured:
        for name, of_source in groupby(captured, attrgetter("source")):
            run.watch(Progress("activations", [*sources].index(name), total))
            store.write(name, new(records(of_source), sources[name].stored))
    run.watch(Progress("activations", total, total))
    return reasons


def trained(run: Pipeline, name: str) -> WhiteBox:
    """Make a model, which must be the one that answered.

    Raises:
        GdeError: its version is another one.
    """
    _check_version(run, name)
    return run.resources.models.white_box(name)


def _sources(
    run: Pipeline,
    read: Reading,
    request: CaptureRequest,
    controls: Mapping[str, bool],
    seed: int,
    store: ActivationStore,
) -> Mapping[str, _Source]:
    """By name, the trained weights first."""
    own = read.source(MODEL)
    found = {own: _Source(name=own, stored=stored_in(store, own, request))}
    for drawn, every in controls.items():
        control = of_seed(drawn, seed, run.ready.plan.seed)
        name = read.source(control)
        found[name] = _Source(
            name=name,
            control=control,
            seed=derive(seed, drawn),
            every=every,
            stored=stored_in(store, name, request),
        )
    return found


def _parts(
    run: Pipeline,
    read: Reading,
    sources: Mapping[str, _Source],
    replayable: Callable[[], Sequences],
    chosen: set[Row],
) -> Iterator[Part]:
    """The turns that lack activations, source by source."""
    number = count()
    for source in sources.values():
        wanted = (each for each in replayable() if source.every or each[0] in chosen)
        left = lacking(wanted, source.stored)
        while turns := list(islice(left, TURNS)):
            if source.seed is None:
                _check_version(run, read.name)
            yield Part.of(next(number), source.name, source.seed, turns)


def _captured(
    run: Pipeline, read: Reading, request: CaptureRequest, parts: Iterator[Part]
) -> Generator[Captured]:
    """Replay parts where the executor works, or here where it works here."""
    executor = run.resources.make(run.ready.executor)
    if not isinstance(executor, WorksElsewhere) or executor.workers == 1:
        with closing(Capture(run.resources.models, read.name, request)) as capturing:
            yield from map(capturing, parts)
        return

    job = CaptureElsewhere(where=run.elsewhere(read.name), request=request)
    yield from in_order(run.spread(executor, job, [*parts]))


def _check_version(run: Pipeline, name: str) -> None:
    """Check that a model is made as it was when it answered.

    Raises:
        GdeError: its version is another one.
    """
    here = versions((run.ready.models[name],))
    # Activations may be added by later stages of gde.
    del here["gde"]
    run.check_versions("episodes", here)
