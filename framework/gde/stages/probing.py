"""From activations to probe reports: every probe is fitted beside its controls, on one
split of the worlds.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import compress, groupby
from threading import Lock

import numpy as np

from gde.data.activations import ActivationTable
from gde.data.arrays import Bools, Doubles, Floats, Indices
from gde.data.json import Labels
from gde.data.measure import Measures
from gde.data.probe import Fit, ProbeDataset, ProbeReport
from gde.data.result import TELL_APART, Measurement, repeated, with_unit
from gde.errors import GdeError, RunFailed
from gde.numerics.episodes import unmeasured
from gde.parts.probe import Probe, Readout, ScoresTurns, is_concurrent
from gde.seeding import generator
from gde.stages.controls import (
    EXCHANGES,
    averaged,
    exchanged,
    nothing,
    one_hot,
    told,
)
from gde.stages.failing import pass_on, reason_of, traceback_of
from gde.stages.fits import MODEL, of_seed, untrained_sources
from gde.stages.learning import Learned, Learning
from gde.stages.probe_data import ProbeData, Turns, conditions_of
from gde.stages.prompts import inputs_of, shown_in
from gde.store.activations import Row
from gde.store.probes import write_readout

AT_ONCE = 256
"""Turns that are read at once where no fit needs all."""
OF_REASONING = frozenset({"reasoning", "post"})
"""Positions of completions with reasoning."""


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """The outcome of one fit."""

    report: ProbeReport
    traceback: str = ""
    """Of an unexpected failure."""


class _Unread(Exception):
    """There is nothing to fit a probe to; its text is the reason."""

    def __init__(self, reason: str, absent: bool = False) -> None:
        super().__init__(reason)
        self.absent = absent
        """As of `ProbeReport`."""


@dataclass(kw_only=True)
class ProbeStage:
    """All probes of a run on one split of its worlds."""

    data: ProbeData
    conditions: Sequence[Labels]
    threads: int = 1
    """Fits at once, at most."""
    initialisations: Callable[[Probe], int] = lambda _: 1
    """Gives the random initialisations of the model that the control `untrained` of a
    probe is fitted to.
    """
    model: str = ""
    """The language model whose activations are read."""
    not_made: Mapping[str, str] = field(default_factory=dict)
    """Why a source of activations could not be recorded."""
    unread: str = ""
    """How many turns have no activations, and why; empty where all have."""
    unmarked: Mapping[str, str] = field(default_factory=dict)
    """Why turns lack positions that probes find themselves, by position."""
    learning: bool = False
    """Whether code lengths and learning curves are measured."""
    meanings: Measures = field(default_factory=Measures)
    """Of the probes' numbers: learning curves are those of headlines."""
    training: ProbeData | None = None
    """Another run, to whose training worlds the probes are fitted; None for this one."""
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
            if self.threads == 1 or not is_concurrent(probe):
                yield from map(self._fitted, pairs)
                continue
            # An iterator that is closed cancels the fits that have not begun.
            with ThreadPoolExecutor(self.threads, "gde-fit") as pool:
                yield from pool.map(self._fitted, pairs)

    def _fitted(self, work: tuple[Probe, Fit]) -> Fitted:
        fitted = self._tried(*work)
        report = replace(fitted.report, model=self.model, unread=self.unread)
        return replace(fitted, report=report)

    def _tried(self, probe: Probe, fit: Fit) -> Fitted:
        try:
            return Fitted(report=self._fit(probe, fit))
        except RunFailed:
            raise
        except _Unread as unread:
            return Fitted(report=_unmeasured(fit, str(unread), unread.absent))
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
        return averaged(
            [
                self._fit_to(probe, fit, source, draw)
                for draw, source in enumerate(sources)
            ]
        )

    def _read(self, probe: Probe, fit: Fit, source: str) -> tuple[Turns, Turns]:
        """The turns with those to train on, and those with the ones to test on.

        Raises:
            _Unread: there are none.
        """
        here = source
        if self.training is not None:
            here = of_seed(source, self.training.seed, self.data.seed)
        if here in self.not_made:
            raise _Unread(self.not_made[here])
        place = f"position {fit.position!r} of layer {fit.layer}"
        with self._reading:
            table = self.data.table(here, fit)
            if table is None:
                raise self._without_activations(fit, place)
            if _constant(table):
                raise _Unread(f"the activations at {place} are the same in every turn")
            trained = own = self.data.turns(probe, fit, table)
            if self.training is not None:
                elsewhere = self.training.table(source, fit)
                if elsewhere is None:
                    raise _Unread(
                        f"{self.training.folder.path} has no activations of {source!r} at {place}"
                    )
                trained = self.training.turns(probe, fit, elsewhere)
                own = own.apart_from(trained)

        if not trained.is_trained.any() or not own.is_tested.any():
            n_train = len(set(trained.groups[~trained.held_out]))
            n_test = len(set(own.groups[own.held_out]))
            raise _Unread(
                f"wanted worlds to train on and worlds to test on, got {n_train} and {n_test}"
            )
        return trained, own

    def _fit_to(self, probe: Probe, fit: Fit, source: str, draw: int) -> ProbeReport:
        trained, own = self._read(probe, fit, source)
        # Without another run they are the same turns.
        whole = self._given(fit, trained, trained)
        given = whole if own is trained else self._given(fit, own, trained)
        train = whole(np.flatnonzero(trained.is_trained))
        test = given(np.flatnonzero(own.is_tested))
        # Every use of chance has its own random numbers, so that none shifts another's.
        if fit.control == "shuffled":
            train = exchanged(
                train, generator(self.data.seed, "control", fit.name, draw)
            )
        readout = probe.fit(
            fit.variant, train, generator(self.data.seed, "fit", fit.name)
        )
        # Of several draws the first is kept.
        if not draw:
            write_readout(self.data.folder.probes, fit, readout.arrays())

        rng = generator(self.data.seed, "score", fit.name)
        measurements = list(probe.score(readout, test, rng))
        if fit.control == "none":
            tested = own.rows_of(own.is_tested)
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
                rows=trained.rows_of(trained.is_trained),
                test=test,
                readout=readout,
                seed=self.data.seed,
                meanings=self.meanings,
                # Those of another run say nothing of this one.
                codes=self.training is None,
            ).learn()
            measurements += learned.measurements

        # Metrics of beliefs read all turns, also those that do not count for the probe. Of
        # random weights, only some sources may have been read in all.
        shown = own.held_out if source == MODEL else own.is_tested
        parts = _parts(np.flatnonzero(shown))
        decoded = np.concatenate(
            [readout.predict(given(part).inputs) for part in parts]
        )
        scores = _scores(probe, decoded[own.counts[shown]], test) | learned.scores
        return ProbeReport(
            fit=fit,
            measurements=tuple(map(partial(self._with_unit, fit), measurements)),
            n_train=len(train.groups),
            n_test=len(test.groups),
            rows=tuple(own.rows_of(shown)),
            decoded=decoded,
            classes=own.classes,
            worlds=tuple(own.groups[shown].tolist()),
            scores=_spread(scores, own.counts[shown]),
            coded=learned.coded,
        )

    def _given(
        self, fit: Fit, turns: Turns, trained: Turns
    ) -> Callable[[Indices], ProbeDataset]:
        """Gives what a fit reads in some of the turns: activations, or what a control is
        told in their place, which is the same whatever turns it is trained on but for
        prompts.
        """
        known: Floats | None = None
        if fit.control == "conditions":
            known = one_hot(conditions_of(turns.rows))
        elif fit.control == "prompt":
            known = self._prompts(turns, trained)

        def given(chosen: Indices) -> ProbeDataset:
            data = turns.take(chosen)
            if fit.control == "no_activations":
                return told(data, nothing(data))
            return data if known is None else told(data, known[chosen])

        return given

    def _prompts(self, turns: Turns, trained: Turns) -> Floats:
        """(N, K) what the prompts of some turns show, of what those trained on share."""
        with self._reading:
            of_training = (self.training or self.data).prompts(trained.rows)
            own = of_training if turns is trained else self.data.prompts(turns.rows)
        return shown_in(own, inputs_of(list(compress(of_training, trained.is_trained))))

    def _with_unit(self, fit: Fit, one: Measurement) -> Measurement:
        return with_unit(one, self.meanings[f"{fit.probe}.{one.name}"])

    def _without_activations(self, fit: Fit, place: str) -> "_Unread":
        said = self.data.said
        all_turns = f"in {said.n_turns} of {said.n_turns} turns"
        if not said.n_turns or fit.position in said.positions:
            reason = f"no turn has activations at {place}"
            return _Unread(f"{reason}; {self.unread}" if self.unread else reason)
        if fit.position in self.unmarked:
            reasons = self.unmarked[fit.position]
            return _Unread(f"no position {fit.position!r} {all_turns}: {reasons}")
        if said.reasoned or fit.position not in OF_REASONING:
            return _Unread(f"no position {fit.position!r} {all_turns}")
        return _Unread(f"no reasoning {all_turns}", absent=True)

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

            rng = generator(self.data.seed, "score", fit.name, i)
            for measurement in probe.score(readout, test.take(is_here), rng):
                yield replace(measurement, where={**measurement.where, **labels})


def _spread(scores: Mapping[str, Doubles], counts: Bools) -> Mapping[str, Floats]:
    """(1, N) scores of all held-out turns, NaN in those that do not count."""
    spread = {}
    for name, of_turns in scores.items():
        every = np.full((1, len(counts)), np.nan, dtype=np.float32)
        every[:, counts] = of_turns
        spread[name] = every
    return spread


def _scores(probe: Probe, decoded: Floats, test: ProbeDataset) -> dict[str, Doubles]:
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


def _constant(table: ActivationTable) -> bool:
    """Whether several turns have the same activations."""
    n_turns = len(table.lengths)
    if n_turns < 2 or (table.lengths != table.lengths[0]).any():
        return False
    every = np.arange(n_turns)
    first = table.concatenated(every[:1])
    return all((table.concatenated(part) == first).all() for part in _parts(every))


def _parts(turns: Indices) -> list[Indices]:
    """Turns in parts, of which memory holds one at a time."""
    return np.split(turns, range(AT_ONCE, len(turns), AT_ONCE))


def _unmeasured(fit: Fit, reason: str, absent: bool = False) -> ProbeReport:
    nothing = np.zeros((0,), dtype=np.float32)
    return ProbeReport(
        fit=fit,
        measurements=(),
        n_train=0,
        n_test=0,
        rows=(),
        decoded=nothing,
        reason=reason,
        absent=absent,
    )
