"""From activations to probe reports: every probe is fitted beside its controls, on one
split of the worlds.
"""

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import groupby
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from gde.data.activations import ActivationTable, CaptureRequest
from gde.data.grouping import grouped
from gde.data.json import Labels
from gde.data.measure import Measures
from gde.data.probe import (
    CONTROLS,
    Control,
    Fit,
    ProbeDataset,
    ProbeLabels,
    ProbeReport,
)
from gde.data.result import TELL_APART, Measurement, repeated, with_unit
from gde.data.trajectory import Trajectory
from gde.errors import GdeError, RunFailed
from gde.numerics.controls import over_initialisations
from gde.numerics.episodes import unmeasured
from gde.parts.probe import (
    Probe,
    Readout,
    ScoresTurns,
    input_form,
    is_concurrent,
    reads_one_turn,
)
from gde.seeding import generator
from gde.stages.alike_worlds import joined_clusters
from gde.stages.failing import pass_on, reason_of, traceback_of
from gde.stages.lanes import in_lanes
from gde.stages.learning import Learned, Learning
from gde.store.activations import ActivationStore, Row
from gde.store.folder import RunFolder
from gde.store.journal import Journal
from gde.store.probes import write_readout
from gde.store.replays import read_replays

TEST_SHARE = 0.3
Labelled = dict[str, ProbeLabels]
"""Episode to the labels of its turns."""
MODEL, UNTRAINED = "model", "untrained"
"""Sources of activations: the run's language model, and the same with random weights."""
EXCHANGES = 5
"""Fits to labels that are exchanged between worlds."""
OF_REASONING = frozenset({"reasoning", "post"})
"""Positions of completions with reasoning."""
OF_A_LAYER: tuple[Control, ...] = ("shuffled", "untrained")
"""Controls that differ from layer to layer; the others read no layer, so that one fit
of them will do.
"""


def n_test_worlds(n_worlds: int) -> int:
    """The number of worlds that no probe is fitted to."""
    return max(1, round(TEST_SHARE * n_worlds))


def list_fits(
    name: str, probe: Probe, request: CaptureRequest, sweeps: bool
) -> Iterator[Fit]:
    """List the fits of a probe: every variant at every layer and position, with its
    controls.

    The first layer has all controls, the others those that differ from layer to layer.
    Only a run that sweeps something has the control `conditions`. Fits to the same
    activations follow each other, so that a probe may prepare these once.
    """
    without = OF_A_LAYER if sweeps else (*OF_A_LAYER, "conditions")
    once = tuple(control for control in CONTROLS if control not in without)
    for layer in request.layers:
        controls: tuple[Control, ...] = ("none", *OF_A_LAYER)
        if layer == request.layers[0]:
            controls += once
        for position in request.positions:
            for control in controls:
                for variant in probe.variants:
                    yield Fit(
                        probe=name,
                        variant=variant,
                        layer=layer,
                        position=position,
                        control=control,
                    )


def shared_out(fits: Sequence[Fit], threads: int) -> list[int]:
    """Assign each fit to one of so many threads, evenly; fits to the same activations
    go to the same one.
    """
    n_fits_of = Counter((fit.position, *_source(fit)) for fit in fits)
    loads = [0] * threads
    thread_of: dict[tuple[str, str, int], int] = {}
    for activations, n_fits in n_fits_of.most_common():
        least_loaded = int(np.argmin(loads))
        thread_of[activations] = least_loaded
        loads[least_loaded] += n_fits
    return [thread_of[fit.position, *_source(fit)] for fit in fits]


def untrained_sources(initialisations: int) -> list[str]:
    """The sources of the model with random weights, one for each initialisation."""
    return [UNTRAINED, *(f"{UNTRAINED}-{i}" for i in range(1, initialisations))]


def of_weights(source: str, weights: str) -> str:
    """The source of local weights; without any, that of the agent's own model."""
    return f"{source}-{weights}" if weights else source


def _source(fit: Fit) -> tuple[str, int]:
    """The source and layer of the activations that a fit reads, or reads first."""
    return (UNTRAINED if fit.control == "untrained" else MODEL), fit.layer


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """The outcome of one fit."""

    report: ProbeReport
    traceback: str = ""
    """Of an unexpected failure."""


@dataclass(kw_only=True)
class _Said:
    """The positions of all turns that can be replayed."""

    n_turns: int = 0
    positions: set[str] = field(default_factory=set)
    reasoned: bool = False
    """Whether any of their completions has reasoning."""


@dataclass(kw_only=True)
class ProbeStage:
    """All probes of a run on one split of its worlds."""

    trajectories: Sequence[Trajectory]
    folder: RunFolder
    seed: int
    conditions: Sequence[Labels]
    threads: int = 1
    """Fits at once, at most."""
    initialisations: Callable[[Probe], int] = lambda _: 1
    """Gives the random initialisations of the model that the control `untrained` of a
    probe is fitted to.
    """
    model: str = ""
    """The language model whose activations are read."""
    weights: str = ""
    """Identifies local weights, whose sources have names of their own; empty for the
    agent's own model.
    """
    not_made: Mapping[str, str] = field(default_factory=dict)
    """Why a source of activations could not be recorded."""
    unread: str = ""
    """How many turns have no activations, and why; empty where all have."""
    learning: bool = False
    """Whether code lengths and learning curves are measured."""
    meanings: Measures = field(default_factory=Measures)
    """Of the probes' numbers: learning curves are those of headlines."""
    _labelled: dict[int, Labelled] = field(default_factory=dict)
    """The labels of each probe (by its id), which all of its fits share."""
    _chosen: dict[tuple[int, str], set[Row]] = field(default_factory=dict)
    """The turns that count for probes of one turn, by layer and position."""
    _reading: Lock = field(default_factory=Lock)
    """Held while data is read, so that labels are made once and the journal has one
    reader.
    """

    def fit(self, work: Iterable[tuple[Probe, Fit]]) -> Generator[Fitted]:
        """Fit each fit on the training worlds and score it on the held-out ones, in
        order.

        A failure becomes the reason of its report. Where a probe allows it, several
        threads fit at once, but only to the activations of one layer, so that memory
        holds those of no other.
        """
        for _, layer in groupby(work, key=lambda each: (id(each[0]), each[1].layer)):
            pairs = list(layer)
            probe, _ = pairs[0]
            threads = self.threads if is_concurrent(probe) else 1
            lanes = shared_out([fit for _, fit in pairs], threads)
            yield from in_lanes(self._fitted, pairs, lanes)

    def _fitted(self, work: tuple[Probe, Fit]) -> Fitted:
        fitted = self._tried(*work)
        report = replace(fitted.report, model=self.model, unread=self.unread)
        return replace(fitted, report=report)

    def _tried(self, probe: Probe, fit: Fit) -> Fitted:
        try:
            return Fitted(report=self._fit(probe, fit))
        except RunFailed:
            raise
        except BaseException as error:
            pass_on(error)
            expected = isinstance(error, GdeError | ValueError)
            reason = str(error) if expected else reason_of(error)
            report = _unmeasured(fit, reason)
            return Fitted(report=report, traceback=traceback_of(error))

    def _fit(self, probe: Probe, fit: Fit) -> ProbeReport:
        sources = [MODEL]
        if fit.control == "untrained":
            sources = untrained_sources(self.initialisations(probe))
        elif fit.control == "shuffled":
            sources *= EXCHANGES
        reports = []
        for draw, source in enumerate(sources):
            one = self._fit_to(probe, fit, source, draw)
            if one.reason:
                return one
            reports.append(one)
        return averaged(reports)

    def _fit_to(self, probe: Probe, fit: Fit, source: str, draw: int) -> ProbeReport:
        if source in self.not_made:
            return _unmeasured(fit, self.not_made[source])
        place = f"position {fit.position!r} of layer {fit.layer}"
        with self._reading:
            table = self._table(source, fit)
            if table is None:
                return self._without_activations(fit, place)

        if _constant(table):
            reason = f"the activations at {place} are the same in every turn"
            return _unmeasured(fit, reason)

        with self._reading:
            dataset = self._dataset(probe, table)
            counts = self._counting(probe, fit, table.rows)
            held_out = self._held_out(dataset.groups)
        if held_out.all() or not held_out.any():
            n_train = len(set(dataset.groups[~held_out]))
            n_test = len(set(dataset.groups[held_out]))
            reason = f"wanted worlds to train on and worlds to test on, got {n_train} and {n_test}"
            return _unmeasured(fit, reason)

        dataset = told(dataset, fit.control, conditions_of(table.rows))
        train = dataset.take(~held_out & counts)
        test = dataset.take(held_out & counts)
        # Every use of chance has its own random numbers, so that none shifts another's.
        if fit.control == "shuffled":
            train = exchanged(train, generator(self.seed, "control", fit.name, draw))
        readout = probe.fit(fit.variant, train, generator(self.seed, "fit", fit.name))
        # Of several draws the first is kept.
        if not draw:
            write_readout(self.folder.probes, fit, readout.arrays())

        rng = generator(self.seed, "score", fit.name)
        measurements = list(probe.score(readout, test, rng))
        if fit.control == "none":
            tested = [table.rows[row] for row in np.flatnonzero(held_out & counts)]
            measurements += self._by_condition(probe, fit, readout, test, tested)
        again = repeated(measurements)
        if again:
            raise GdeError(f"the probe gives {again!r} twice: {TELL_APART}")

        learned = Learned(measurements=())
        if self.learning:
            learned = Learning(
                probe=probe,
                fit=fit,
                train=train,
                rows=[table.rows[row] for row in np.flatnonzero(~held_out & counts)],
                test=test,
                readout=readout,
                seed=self.seed,
                meanings=self.meanings,
            ).learn()
            measurements += learned.measurements

        # Metrics of beliefs read all turns, also those that do not count for the probe. Of
        # random weights, only some sources may have been read in all.
        shown = held_out if source == MODEL else held_out & counts
        every = dataset.take(shown)
        decoded = readout.predict(every.inputs)
        scores = _scores(probe, decoded[counts[shown]], test) | learned.scores
        return ProbeReport(
            fit=fit,
            measurements=tuple(map(partial(self._with_unit, fit), measurements)),
            n_train=len(train.groups),
            n_test=len(test.groups),
            rows=tuple(table.rows[row] for row in np.flatnonzero(shown)),
            decoded=decoded,
            classes=dataset.classes,
            worlds=tuple(every.groups.tolist()),
            scores=_spread(scores, counts[shown]),
            coded=learned.coded,
        )

    def _with_unit(self, fit: Fit, one: Measurement) -> Measurement:
        return with_unit(one, self.meanings[f"{fit.probe}.{one.name}"])

    def _without_activations(self, fit: Fit, place: str) -> ProbeReport:
        said = self._said
        all_turns = f"in {said.n_turns} of {said.n_turns} turns"
        if not said.n_turns or fit.position in said.positions:
            reason = f"no turn has activations at {place}"
            if self.unread:
                reason += f"; {self.unread}"
            return _unmeasured(fit, reason)
        if said.reasoned or fit.position not in OF_REASONING:
            return _unmeasured(fit, f"no position {fit.position!r} {all_turns}")
        return replace(_unmeasured(fit, f"no reasoning {all_turns}"), absent=True)

    @cached_property
    def _said(self) -> _Said:
        found = _Said()
        with closing(Journal.open(self.folder.journal_path, write=False)) as journal:
            for trajectory in self.trajectories:
                replays = read_replays(journal, self.weights, str(trajectory.key))
                for turn in trajectory.turns:
                    completion = turn.decision.completion
                    if completion is None:
                        continue
                    read = replays.get(turn.index)
                    positions = read.positions if read else completion.positions
                    if positions:
                        found.n_turns += 1
                        found.positions.update(positions)
                        found.reasoned |= bool(completion.reasoning)
        return found

    def _table(self, source: str, fit: Fit) -> ActivationTable | None:
        # Opened here, because a connection belongs to one thread.
        with closing(Journal.open(self.folder.journal_path, write=False)) as journal:
            store = ActivationStore(self.folder.activations, journal)
            own = of_weights(source, self.weights)
            return store.table(own, fit.layer, fit.position)

    def _counting(
        self, probe: Probe, fit: Fit, rows: Sequence[Row]
    ) -> NDArray[np.bool_]:
        """(N,) True for the turns that a probe is fitted to and scored on."""
        if not reads_one_turn(probe):
            return np.ones(len(rows), dtype=np.bool_)
        place = fit.layer, fit.position
        if place not in self._chosen:
            path = self.folder.journal_path
            with closing(Journal.open(path, write=False)) as journal:
                store = ActivationStore(self.folder.activations, journal)
                every = store.stored(of_weights(MODEL, self.weights), *place)
            self._chosen[place] = one_turn_of_each(every, self._worlds, self.seed)
        chosen = self._chosen[place]
        return np.array([row in chosen for row in rows], dtype=np.bool_)

    def _dataset(self, probe: Probe, table: ActivationTable) -> ProbeDataset:
        episodes = {episode for episode, _ in table.rows}
        labels = self._labels(probe, episodes)
        if input_form(probe) == "tokens":
            inputs = table.padded()
        else:
            inputs = table.concatenated()

        of_turns = [labels[episode].values[turn] for episode, turn in table.rows]
        worlds = [self._worlds[episode] for episode, _ in table.rows]
        return ProbeDataset(
            inputs=inputs,
            labels=np.stack(of_turns),
            groups=np.array(worlds),
            classes=dataset_classes(labels, episodes),
        )

    def _labels(self, probe: Probe, episodes: set[str]) -> Labelled:
        known = self._labelled.setdefault(id(probe), {})
        missing = episodes - known.keys()
        if not missing:
            # The trajectories need not be read.
            return known
        for trajectory in self.trajectories:
            episode = str(trajectory.key)
            if episode in missing:
                known[episode] = probe.labels(trajectory)
        return known

    @cached_property
    def _worlds(self) -> Mapping[str, str]:
        """The cluster of each episode, which no split parts."""
        return joined_clusters(self.trajectories)

    @cached_property
    def _test_worlds(self) -> NDArray[np.str_]:
        """The held-out worlds: drawn from all worlds of the run, hence the same for
        every fit.
        """
        worlds = np.unique(list(self._worlds.values()))
        shuffled = generator(self.seed, "split").permutation(worlds)
        chosen: NDArray[np.str_] = shuffled[: n_test_worlds(len(worlds))]
        return chosen

    def _held_out(self, groups: NDArray[np.str_]) -> NDArray[np.bool_]:
        """(N,) True for rows of test worlds."""
        return np.isin(groups, self._test_worlds)

    def _by_condition(
        self,
        probe: Probe,
        fit: Fit,
        readout: Readout,
        test: ProbeDataset,
        rows: Sequence[Row],
    ) -> Iterator[Measurement]:
        """The scores of a fit on each condition of a sweep alone."""
        if len(self.conditions) < 2:
            return
        conditions = conditions_of(rows)
        for i, labels in enumerate(self.conditions):
            is_here = conditions == i
            if not is_here.any():
                reason = "no world of this condition was held out; more episodes give every condition some"
                yield unmeasured("all", reason, labels)
                continue

            rng = generator(self.seed, "score", fit.name, i)
            for measurement in probe.score(readout, test.take(is_here), rng):
                yield replace(measurement, where={**measurement.where, **labels})


def dataset_classes(labels: Labelled, episodes: set[str]) -> tuple[str, ...]:
    """The classes of the labels of all episodes.

    Raises:
        GdeError: the classes differ from episode to episode.
    """
    episode_with = {labels[episode].classes: episode for episode in sorted(episodes)}
    if len(episode_with) > 1:
        differing = []
        for classes, episode in episode_with.items():
            named = ", ".join(classes) or "none"
            differing.append(f"{named} in episode {episode}")
        raise GdeError(
            f"a probe's classes must be the same in all episodes of a run, got {'; '.join(differing)}"
        )
    (classes,) = episode_with
    return classes


def conditions_of(rows: Sequence[Row]) -> NDArray[np.intp]:
    """(N,) the condition of each turn, which the key of its episode begins with."""
    found = [int(episode.partition("/")[0]) for episode, _ in rows]
    return np.array(found, dtype=np.intp)


def one_turn_of_each(
    rows: Iterable[Row], worlds: Mapping[str, str], seed: int
) -> set[Row]:
    """A random turn of each world in each condition.

    Args:
        rows: all turns.
        worlds: the cluster of each episode.
        seed: of the run.
    """
    of_worlds = grouped(sorted(rows), lambda row: worlds[row[0]])
    chosen = set()
    for world, turns in of_worlds.items():
        rng = generator(seed, "turn", world)
        for own in grouped(turns, lambda row: row[0].partition("/")[0]).values():
            chosen.add(own[int(rng.integers(len(own)))])
    return chosen


def told(
    dataset: ProbeDataset, control: Control, conditions: NDArray[np.intp]
) -> ProbeDataset:
    """The data of a control that has no activations, or the condition of each turn
    (one-hot) in their place; that of others is unchanged.

    Args:
        dataset: N turns.
        control: which one.
        conditions: (N,) indices.
    """
    if control == "no_activations":
        shape = (len(dataset.inputs), dataset.inputs.shape[-1])
        return _told(dataset, np.zeros(shape, dtype=np.float32))
    if control == "conditions":
        # With an input for each, even a linear probe reads any function of the swept
        # values.
        one_hot = np.eye(conditions.max() + 1, dtype=np.float32)
        return _told(dataset, one_hot[conditions])
    return dataset


def exchanged(train: ProbeDataset, rng: np.random.Generator) -> ProbeDataset:
    """The training data with each world's labels in place of another's.

    Labels of one world are alike. They are exchanged together, so that a fit to them is
    as unsure as one to true labels, but in another order: a turn's number tells nothing
    of them. Turns without a label stay without one.
    """
    labels = train.labels.copy()
    of_turns = labels.reshape(len(labels), -1)
    labelled = np.flatnonzero(~np.isnan(of_turns).any(axis=1))
    worlds = grouped(labelled.tolist(), lambda row: str(train.groups[row]))
    others = rng.permutation(list(worlds))
    for own, other in zip(worlds.values(), others, strict=True):
        theirs = rng.permutation(worlds[str(other)])
        for i, row in enumerate(own):
            labels[row] = train.labels[theirs[i % len(theirs)]]
    return replace(train, labels=labels)


def _spread(
    scores: Mapping[str, NDArray[np.float64]], counts: NDArray[np.bool_]
) -> Mapping[str, NDArray[np.float32]]:
    """(1, N) scores of all held-out turns, NaN in those that do not count."""
    spread = {}
    for name, of_turns in scores.items():
        every = np.full((1, len(counts)), np.nan, dtype=np.float32)
        every[:, counts] = of_turns
        spread[name] = every
    return spread


def _told(dataset: ProbeDataset, known: NDArray[np.float32]) -> ProbeDataset:
    """The dataset with what is known of each turn (N, K) in place of activations."""
    if dataset.inputs.ndim == 2:
        return replace(dataset, inputs=known)

    # The number of tokens is known without any activations.
    n_tokens = dataset.inputs.shape[1]
    tokens = np.repeat(known[:, None], n_tokens, axis=1)
    tokens[np.isnan(dataset.inputs[:, :, 0])] = np.nan
    return replace(dataset, inputs=tokens)


def _scores(
    probe: Probe, decoded: NDArray[np.float32], test: ProbeDataset
) -> dict[str, NDArray[np.float64]]:
    """(N,) scores of the turns by the measurement that is their mean."""
    if not isinstance(probe, ScoresTurns):
        return {}
    scores = {}
    for name, of_turns in probe.turn_scores(decoded, test).items():
        if of_turns.shape != (len(test.groups),):
            raise GdeError(
                f"turn_scores: {name}: wanted a score for each of {len(test.groups)} turns, got shape {of_turns.shape}"
            )
        scores[name] = of_turns
    return scores


def averaged(reports: Sequence[ProbeReport]) -> ProbeReport:
    """The report of several draws: their mean numbers, and what each of them decoded
    and scored.
    """
    first = reports[0]
    if len(reports) == 1:
        return first
    measurements = over_initialisations([each.measurements for each in reports])
    coded = [each.coded for each in reports]
    codes = _joined([each.scores for each in coded])
    return replace(
        first,
        measurements=tuple(measurements),
        further=tuple(each.decoded for each in reports[1:]),
        scores=_joined([each.scores for each in reports]),
        coded=replace(first.coded, scores=codes),
    )


def _joined(
    several: Sequence[Mapping[str, NDArray[np.float32]]],
) -> Mapping[str, NDArray[np.float32]]:
    """(K, N) scores of K draws, by the names that all of them have."""
    shared = {}
    for name in several[0]:
        if all(name in each for each in several):
            shared[name] = np.concatenate([each[name] for each in several])
    return shared


def _constant(table: ActivationTable) -> bool:
    """Whether several turns have the same activations."""
    n_turns = len(table.lengths)
    if n_turns < 2 or (table.lengths != table.lengths[0]).any():
        return False
    turns = table.values.reshape(n_turns, -1)
    return bool((turns == turns[0]).all())


def _unmeasured(fit: Fit, reason: str) -> ProbeReport:
    nothing = np.zeros((0,), dtype=np.float32)
    return ProbeReport(
        fit=fit,
        measurements=(),
        n_train=0,
        n_test=0,
        rows=(),
        decoded=nothing,
        reason=reason,
    )
