"""How fast a probe learns: its learning curve, and its online code length.

Fitted to enough worlds, a probe reads nearly anything, from random weights too. What a
model has learned to hold can be read after few. So the probe is fitted to the first 4,
8, 16 ... training worlds, in random orders that all fits of a run share. Each of these
fits is scored on the held-out worlds, which gives the learning curve, and predicts the
labels of the next training worlds. The bits that these take with its probabilities are
the online code (Voita and Titov 2020); the first worlds take those of a uniform guess.
Curves and codes are means over the orders.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np

from gde.data.arrays import Doubles, Indices
from gde.data.json import Labels
from gde.data.measure import Measure, Measures
from gde.data.probe import CodedTurns, Fit, Likelihoods, ProbeDataset
from gde.data.result import Measurement
from gde.errors import GdeError
from gde.numerics.episodes import unmeasured
from gde.numerics.stats import cluster_mean, cluster_share
from gde.parts.probe import (
    PredictsLabels,
    Probe,
    Readout,
    ScoresTurns,
    orders_of,
)
from gde.seeding import generator
from gde.store.activations import Row

FIRST = 4
"""Fewest worlds of a fit."""
EARLY_WORLDS = 16
"""Fewest training worlds of which a part is early."""
CODE, GUESS, CURVE, EARLY = "code", "guess", "curve", "early"
MEASURES = (
    Measure(f"{EARLY}.worlds", "Worlds shown to an early reader", "count"),
    Measure(f"{EARLY}.*", "* early"),
    Measure(f"{CODE}.*", "* code length", "bits", "less"),
    Measure(f"{GUESS}.*", "* code length of a guess", "bits"),
    Measure(f"{CURVE}.*", "Learning curve, mean: *"),
)
"""The numbers of this module, which every probe may have."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Learned:
    """The numbers of a learning probe."""

    measurements: Sequence[Measurement]
    scores: dict[str, Doubles] = field(default_factory=dict)
    """(N,) scores of the held-out turns by the measurement that is their mean."""
    coded: CodedTurns = field(default_factory=CodedTurns)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Step:
    """A fit to the first worlds of an order."""

    readout: Readout
    n_worlds: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Learning:
    """The data of one fit, and the fit to all of its training worlds."""

    probe: Probe
    fit: Fit
    train: ProbeDataset
    rows: Sequence[Row]
    """Of the training turns."""
    test: ProbeDataset
    readout: Readout
    seed: int
    meanings: Measures
    codes: bool = True
    """Whether the labels of the training turns are coded."""

    def learn(self) -> Learned:
        """Fit the probe to growing numbers of worlds; a failure is a reason."""
        if not isinstance(self.probe, PredictsLabels | ScoresTurns):
            return Learned(measurements=())
        n_worlds = len(np.unique(self.train.groups))
        sizes = numbers_of_worlds(n_worlds)
        if len(sizes) < 2:
            return _unmeasured(
                f"{n_worlds} training worlds; a code length needs {2 * FIRST}"
            )
        places = [self._places(i) for i in range(orders_of(self.probe))]
        try:
            orders = [self._steps(i, place, sizes) for i, place in enumerate(places)]
        except (GdeError, ValueError) as error:
            return _unmeasured(f"with fewer worlds: {error}")

        measurements: list[Measurement] = []
        scores: dict[str, Doubles] = {}
        if isinstance(self.probe, ScoresTurns):
            for name, curve in self._curves(self.probe, orders).items():
                measurements += self._curve(name, curve)
                if n_early := early_worlds(n_worlds):
                    early = f"{EARLY}.{name}"
                    scores[early] = curve[n_early]
                    unit = self._unit(name)
                    measurements.append(self._mean(early, scores[early], unit))
            if scores:
                shown = float(early_worlds(n_worlds))
                measurements.append(
                    Measurement(name=f"{EARLY}.worlds", value=shown, n=1)
                )
        coded = CodedTurns()
        if self.codes and isinstance(self.probe, PredictsLabels):
            measured, coded = self._code(self.probe, orders, places)
            measurements += measured
        return Learned(measurements=measurements, scores=scores, coded=coded)

    def _places(self, order: int) -> Indices:
        """(N,) the place of each turn's world in an order of the run."""
        worlds, of_turns = np.unique(self.train.groups, return_inverse=True)
        rng = generator(self.seed, "order of worlds", order)
        # The inverse of a permutation: the place of each world.
        place: Indices = np.argsort(rng.permutation(len(worlds)))[of_turns]
        return place

    def _steps(self, order: int, place: Indices, sizes: Sequence[int]) -> list[_Step]:
        steps = []
        for size in sizes[:-1]:
            first = self.train.take(place < size)
            rng = generator(self.seed, "fit", self.fit.name, order, size)
            readout = self.probe.fit(self.fit.variant, first, rng)
            steps.append(_Step(readout=readout, n_worlds=size))
        return [*steps, _Step(readout=self.readout, n_worlds=sizes[-1])]

    def _unit(self, name: str) -> str:
        return self.meanings[f"{self.fit.probe}.{name}"].unit

    def _curves(
        self, probe: ScoresTurns, orders: Sequence[Sequence[_Step]]
    ) -> Mapping[str, Mapping[int, Doubles]]:
        """The scores of held-out turns by headline and number of worlds, as means over
        the orders.
        """
        found: dict[str, dict[int, list[Doubles]]] = {}
        for step in chain.from_iterable(orders):
            decoded = step.readout.predict(self.test.inputs)
            for name, scores in probe.turn_scores(decoded, self.test).items():
                if self.meanings[f"{self.fit.probe}.{name}"].headline:
                    of_steps = found.setdefault(name, {})
                    of_steps.setdefault(step.n_worlds, []).append(scores)
        curves = {}
        for name, by_size in found.items():
            # What a small fit cannot decode at all has no curve.
            n_fits = sum(map(len, by_size.values()))
            if n_fits == sum(map(len, orders)):
                curves[name] = {
                    size: np.mean(scores, axis=0) for size, scores in by_size.items()
                }
        return curves

    def _curve(self, name: str, curve: Mapping[int, Doubles]) -> Iterator[Measurement]:
        """A headline after each step, and its mean over the steps."""
        unit = self._unit(name)
        mean = np.mean(list(curve.values()), axis=0)
        yield self._mean(f"{CURVE}.{name}", mean, unit)
        for size, scores in curve.items():
            yield self._mean(f"{CURVE}.{name}", scores, unit, size)

    def _mean(
        self,
        name: str,
        scores: Doubles,
        unit: str,
        n_worlds: int | None = None,
    ) -> Measurement:
        """The mean of the scores of held-out turns."""
        where: Labels = {} if n_worlds is None else {"worlds": n_worlds}
        counts = np.isfinite(scores)
        if not counts.any():
            reason = "no held-out turn counts"
            return unmeasured(name, reason, where, unit)
        values = scores[counts]
        rng = generator(self.seed, name, self.fit.name, n_worlds or "all")
        # A share has an interval even where all values are the same.
        is_share = values.min() >= 0 and values.max() <= 1
        estimated = cluster_share if is_share else cluster_mean
        estimate = estimated(values, self.test.groups[counts], rng)
        return replace(estimate.measurement(name, where), unit=unit)

    def _code(
        self,
        probe: PredictsLabels,
        orders: Sequence[Sequence[_Step]],
        places: Sequence[Indices],
    ) -> tuple[list[Measurement], CodedTurns]:
        """The code length of every label, and the share of each turn in it."""
        several = [
            self._bits(probe, steps, place)
            for steps, place in zip(orders, places, strict=True)
        ]
        # Its names are all that can be in the codes, and a guess depends on no fit.
        first = orders[0][0]
        guesses = {
            name: _shares(code(one, 0))
            for name, one in probe.likelihoods(first.readout, self.train).items()
        }
        measurements: list[Measurement] = []
        scores = {}
        for name in _in_all(several):
            of_turns = np.mean([bits[name] for bits in several], axis=0)
            guess = guesses[name]
            if reason := _not_coded(of_turns, guess):
                measurements.append(_no_code(name, reason))
                continue
            scores[f"{CODE}.{name}"] = of_turns[None].astype(np.float32)
            measurements += self._lengths(name, of_turns, guess)
        return measurements, CodedTurns(
            rows=tuple(self.rows),
            worlds=tuple(self.train.groups.tolist()),
            scores=scores,
        )

    def _bits(
        self,
        probe: PredictsLabels,
        steps: Sequence[_Step],
        place: Indices,
    ) -> Mapping[str, Doubles]:
        """(N,) bits of each training turn by label, in one order."""
        bits: list[Mapping[str, Doubles]] = []
        coming = []
        before = 0
        fitted = steps[0]
        for step in steps:
            turns = np.flatnonzero((place >= before) & (place < step.n_worlds))
            # All turns, so that what is known of them is the same for every fit.
            likelihoods = probe.likelihoods(fitted.readout, self.train)
            bits.append({n: code(one, before)[turns] for n, one in likelihoods.items()})
            coming.append(turns)
            before = step.n_worlds
            fitted = step
        order = np.argsort(np.concatenate(coming))
        return {
            name: _shares(np.concatenate([each[name] for each in bits])[order])
            for name in _in_all(bits)
        }

    def _lengths(
        self, name: str, of_turns: Doubles, guess: Doubles
    ) -> Iterator[Measurement]:
        counts = np.isfinite(of_turns)
        rng = generator(self.seed, CODE, self.fit.name, name)
        worlds = self.train.groups[counts]
        estimate = cluster_mean(of_turns[counts], worlds, rng)
        yield estimate.measurement(f"{CODE}.{name}")
        yield Measurement(
            name=f"{GUESS}.{name}", value=float(guess[counts].mean()), n=estimate.n
        )


def _not_coded(of_turns: Doubles, guessed: Doubles) -> str:
    """Why labels have no code length; empty if they have one."""
    counts = np.isfinite(of_turns)
    if not counts.any():
        return "no turn has such a label"
    if not guessed[counts].any():
        return "only one label is possible, so there is nothing to code"
    return ""


def _in_all(several: Sequence[Mapping[str, Doubles]]) -> list[str]:
    """The names that all have: few turns may tell of fewer things."""
    first, *others = several
    return [name for name in first if all(name in each for each in others)]


def numbers_of_worlds(n_worlds: int) -> list[int]:
    """The numbers of worlds of all fits, each half of the next, the last one all."""
    sizes = [n_worlds]
    while sizes[0] // 2 >= FIRST:
        sizes.insert(0, sizes[0] // 2)
    return sizes


def early_worlds(n_worlds: int) -> int:
    """How many of the training worlds an early reader has been shown: one of the
    numbers of worlds that is a quarter of all, or a half of few; 0 for too few.
    """
    if n_worlds < EARLY_WORLDS:
        return 0
    return n_worlds // 4 if n_worlds >= 2 * EARLY_WORLDS else n_worlds // 2


def code(labels: Likelihoods, n_worlds: int) -> Doubles:
    """(N, L) bits of labels that a fit to so many worlds predicts.

    A share of 1 / (n_worlds + 1) of the probability is uniform, so that no label takes
    infinitely many bits: without fitted worlds all of it.
    """
    guess = 1 / (n_worlds + 1)
    mixed = (1 - guess) * labels.fitted + guess * labels.uniform
    bits: Doubles = -np.log2(mixed)
    return bits


def _shares(bits: Doubles) -> Doubles:
    """(N,) the share of each turn in the mean bits of a label, from bits (N, L).

    Their mean over turns is the mean over labels; NaN for a turn without labels.
    """
    is_label = np.isfinite(bits)
    n_labels = is_label.sum(axis=1)
    sums = np.where(is_label, bits, 0.0).sum(axis=1)
    n_turns = (n_labels > 0).sum()
    shares = sums * n_turns / max(n_labels.sum(), 1)
    return np.where(n_labels > 0, shares, np.nan)


def _no_code(name: str, reason: str) -> Measurement:
    return unmeasured(f"{CODE}.{name}", reason)


def _unmeasured(reason: str) -> Learned:
    return Learned(measurements=(_no_code("all", reason),))
