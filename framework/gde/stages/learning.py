"""How fast a probe learns: its online code length and its learning curve.

Fitted to enough worlds, a probe reads nearly anything, from random weights too. What a
model has learned to hold can be read after few. So the probe is fitted to the first 4,
8, 16 ... training worlds, in a random order that all fits of a run share. Each of these
fits is scored on the held-out worlds, which gives the learning curve, and predicts the
labels of the next training worlds. The bits that these take with its probabilities are
the online code (Voita and Titov 2020); the first worlds take those of a uniform guess.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from gde.data.json import Labels
from gde.data.measure import Measure, Measures
from gde.data.probe import CodedTurns, Fit, Likelihoods, ProbeDataset
from gde.data.result import Measurement
from gde.errors import GdeError
from gde.numerics.episodes import unmeasured
from gde.numerics.stats import cluster_mean, cluster_share
from gde.parts.probe import PredictsLabels, Probe, Readout, ScoresTurns
from gde.seeding import generator
from gde.store.activations import Row

FIRST = 4
"""Fewest worlds of a fit."""
CODE, COMPRESSION, CURVE = "code", "compression", "curve"
MEASURES = (
    Measure(
        f"{CODE}.*",
        "* code length",
        "bits",
        "less",
        headline=True,
        phrase="codes the * in {}",
    ),
    Measure(f"{COMPRESSION}.*", "* compression (uniform code / code)", better="more"),
    Measure(f"{CURVE}.*", "Learning curve, mean: *"),
)
"""The numbers of this module, which every probe may have."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Learned:
    """The numbers of a learning probe."""

    measurements: Sequence[Measurement]
    coded: CodedTurns = field(default_factory=CodedTurns)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Step:
    """A fit to the first worlds."""

    readout: Readout
    n_worlds: int
    n_turns: int


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
        try:
            steps = [self._step(size) for size in sizes[:-1]]
        except (GdeError, ValueError) as error:
            return _unmeasured(f"with fewer worlds: {error}")

        n_turns = len(self.train.groups)
        steps.append(_Step(readout=self.readout, n_worlds=n_worlds, n_turns=n_turns))
        measurements = [*self._curves(steps)]
        coded = CodedTurns()
        if isinstance(self.probe, PredictsLabels):
            measured, coded = self._code(self.probe, steps)
            measurements += measured
        return Learned(measurements=measurements, coded=coded)

    @property
    def _place(self) -> NDArray[np.intp]:
        """(N,) the place of each turn's world in the order of the run."""
        worlds, of_turns = np.unique(self.train.groups, return_inverse=True)
        order = generator(self.seed, "order of worlds").permutation(len(worlds))
        # The inverse of a permutation: the place of each world.
        place: NDArray[np.intp] = np.argsort(order)[of_turns]
        return place

    def _step(self, size: int) -> _Step:
        first = self.train.take(self._place < size)
        rng = generator(self.seed, "fit", self.fit.name, size)
        readout = self.probe.fit(self.fit.variant, first, rng)
        return _Step(readout=readout, n_worlds=size, n_turns=len(first.groups))

    def _curves(self, steps: Sequence[_Step]) -> Iterator[Measurement]:
        """The headlines on held-out worlds after each step, and their means over the
        steps.
        """
        if not isinstance(self.probe, ScoresTurns):
            return
        of_steps = []
        for step in steps:
            decoded = step.readout.predict(self.test.inputs)
            of_steps.append(self.probe.turn_scores(decoded, self.test))

        for name in of_steps[-1]:
            meaning = self.meanings[f"{self.fit.probe}.{name}"]
            # What a small fit cannot decode at all has no curve.
            if meaning.headline and all(name in scores for scores in of_steps):
                curve = np.array([scores[name] for scores in of_steps])
                yield self._mean(f"{CURVE}.{name}", curve.mean(axis=0), meaning.unit)
                for step, scores in zip(steps, curve, strict=True):
                    yield self._mean(
                        f"{CURVE}.{name}", scores, meaning.unit, step.n_worlds
                    )

    def _mean(
        self,
        name: str,
        scores: NDArray[np.float64],
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
        self, probe: PredictsLabels, steps: Sequence[_Step]
    ) -> tuple[list[Measurement], CodedTurns]:
        """The code length of every label, and the share of each turn in it."""
        place = self._place
        order = []
        bits: list[Mapping[str, NDArray[np.float64]]] = []
        uniform: list[Mapping[str, NDArray[np.float64]]] = []
        before = 0
        fitted: _Step | None = None
        for step in steps:
            coming = np.flatnonzero((place >= before) & (place < step.n_worlds))
            readout = fitted.readout if fitted else step.readout
            n_turns = fitted.n_turns if fitted else 0
            own = {}
            guessed = {}
            # All turns, so that what is known of them is the same for every fit.
            for name, one in probe.likelihoods(readout, self.train).items():
                own[name] = code(one, n_turns)[coming]
                guessed[name] = code(one, 0)[coming]
            bits.append(own)
            uniform.append(guessed)
            order.append(coming)
            before = step.n_worlds
            fitted = step

        coded = np.concatenate(order)
        worlds = self.train.groups[coded]
        measurements: list[Measurement] = []
        scores = {}
        for name in _in_all(bits):
            of_turns = _shares(np.concatenate([each[name] for each in bits]))
            of_guess = _shares(np.concatenate([each[name] for each in uniform]))
            if reason := _not_coded(of_turns, of_guess):
                measurements.append(_no_code(name, reason))
                continue
            scores[f"{CODE}.{name}"] = of_turns[None].astype(np.float32)
            measurements += self._lengths(name, of_turns, of_guess, worlds)
        return measurements, CodedTurns(
            rows=tuple(self.rows[row] for row in coded),
            worlds=tuple(worlds.tolist()),
            scores=scores,
        )

    def _lengths(
        self,
        name: str,
        of_turns: NDArray[np.float64],
        guessed: NDArray[np.float64],
        worlds: NDArray[np.str_],
    ) -> Iterator[Measurement]:
        counts = np.isfinite(of_turns)
        rng = generator(self.seed, CODE, self.fit.name, name)
        estimate = cluster_mean(of_turns[counts], worlds[counts], rng)
        yield estimate.measurement(f"{CODE}.{name}")
        compression = guessed[counts].mean() / of_turns[counts].mean()
        yield Measurement(
            name=f"{COMPRESSION}.{name}",
            value=float(compression),
            n=estimate.n,
        )


def _not_coded(of_turns: NDArray[np.float64], guessed: NDArray[np.float64]) -> str:
    """Why labels have no code length; empty if they have one."""
    counts = np.isfinite(of_turns)
    if not counts.any():
        return "no turn has such a label"
    if not guessed[counts].any():
        return "only one label is possible, so there is nothing to code"
    return ""


def _in_all(several: Sequence[Mapping[str, NDArray[np.float64]]]) -> list[str]:
    """The names that all have: few turns may tell of fewer things."""
    first, *others = several
    return [name for name in first if all(name in each for each in others)]


def numbers_of_worlds(n_worlds: int) -> list[int]:
    """The numbers of worlds of all fits, each half of the next, the last one all."""
    sizes = [n_worlds]
    while sizes[0] // 2 >= FIRST:
        sizes.insert(0, sizes[0] // 2)
    return sizes


def code(labels: Likelihoods, n_turns: int) -> NDArray[np.float64]:
    """(N, L) bits of labels that a fit to so many turns predicts.

    A share of 1 / (n_turns + 1) of the probability is uniform, so that no label takes
    infinitely many bits: without fitted turns all of it.
    """
    guess = 1 / (n_turns + 1)
    mixed = (1 - guess) * labels.fitted + guess * labels.uniform
    bits: NDArray[np.float64] = -np.log2(mixed)
    return bits


def _shares(bits: NDArray[np.float64]) -> NDArray[np.float64]:
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
