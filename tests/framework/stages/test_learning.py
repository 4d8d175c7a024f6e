"""Online code lengths and learning curves, against code that knows nothing of theirs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import log2
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from gde.data.activations import CaptureRequest
from gde.data.completion import ModelInfo
from gde.data.measure import Measure, Measures
from gde.data.probe import (
    CodedTurns,
    Fit,
    Likelihoods,
    ProbeDataset,
    ProbeLabels,
    ProbeReport,
)
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.parts.probe import orders_of
from gde.stages.controls import averaged, exchanged
from gde.stages.learning import (
    Learned,
    Learning,
    code,
    early_worlds,
    numbers_of_worlds,
)
from gde.stages.verdicts import results
from gde.store.journal import Journal
from gde.store.probes import read_reports, write_report
from gde.testing.plan_probe import PlanProbe

FIT = Fit(probe="p", variant="v", layer=0, position="pre")
MEANINGS = Measures(
    (
        Measure(name="p.right", title="Right", unit="share", headline=True),
        Measure(name="p.early.right", title="Early", better="more", headline=True),
        Measure(name="p.code.*", title="Code", better="less", headline=True),
    )
)
Labels = NDArray[np.int64]


@dataclass
class Lookup:
    """Knows a label by an input that it has seen with it, and guesses the others."""

    labels: dict[float, int]
    sure: float = 0.9

    def predict(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        decoded = np.full((len(inputs), 2), 0.5, np.float32)
        for row, (key,) in enumerate(inputs):
            if float(key) in self.labels:
                label = self.labels[float(key)]
                decoded[row] = 1 - self.sure
                decoded[row, label] = self.sure
        return decoded

    def arrays(self) -> Mapping[str, NDArray[np.float32]]:
        return {}


@dataclass
class Remembers:
    """A probe that is a table from inputs to labels."""

    variants: ClassVar[tuple[str, ...]] = ("v",)
    at_least: int = 1
    orders: int = 1
    shown: list[frozenset[str]] = field(default_factory=list)
    """The worlds of each fit, the first of which is that to all."""

    def capture(self, _: ModelInfo) -> CaptureRequest:
        raise NotImplementedError

    def labels(self, _: Trajectory) -> ProbeLabels:
        raise NotImplementedError

    def fit(self, _: str, train: ProbeDataset, __: np.random.Generator) -> Lookup:
        self.shown.append(frozenset(train.groups.tolist()))
        if len(train.labels) < self.at_least:
            raise ValueError("too few turns")
        pairs = zip(train.inputs[:, 0].tolist(), train.labels.tolist(), strict=True)
        return Lookup(dict(pairs))

    def load(self, _: str, __: Mapping[str, NDArray[np.float32]]) -> Lookup:
        raise NotImplementedError

    def score(
        self, readout: Lookup, test: ProbeDataset, _: np.random.Generator
    ) -> Sequence[Measurement]:
        raise NotImplementedError

    def turn_scores(
        self, decoded: NDArray[np.float32], test: ProbeDataset
    ) -> Mapping[str, NDArray[np.float64]]:
        right = decoded[np.arange(len(decoded)), test.labels.astype(int)] > 0.5
        return {"right": right.astype(float), "hidden": right.astype(float)}

    def likelihoods(
        self, readout: Lookup, turns: ProbeDataset
    ) -> Mapping[str, Likelihoods]:
        decoded = readout.predict(turns.inputs).astype(float)
        fitted = decoded[np.arange(len(decoded)), turns.labels.astype(int)][:, None]
        return {"bit": Likelihoods(fitted=fitted, uniform=np.full(fitted.shape, 0.5))}


def dataset(n_worlds: int, n_kinds: int, seed: int = 0) -> ProbeDataset:
    """Three turns a world; the input is one of so many kinds, which has one label."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(n_kinds, size=3 * n_worlds)
    return ProbeDataset(
        inputs=kinds[:, None].astype(np.float32),
        labels=kinds % 2,
        groups=np.repeat([f"w{seed}-{i}" for i in range(n_worlds)], 3),
    )


TEST = dataset(10, 30, seed=1)


def learn(
    train: ProbeDataset, probe: Remembers | None = None, seed: int = 7, fit: Fit = FIT
) -> Learned:
    probe = probe or Remembers()
    rows = [(f"0/{i // 3}/0", i % 3) for i in range(len(train.groups))]
    return Learning(
        probe=probe,
        fit=fit,
        train=train,
        rows=rows,
        test=TEST,
        readout=probe.fit("v", train, np.random.default_rng(0)),
        seed=seed,
        meanings=MEANINGS,
    ).learn()


def values(learned: Learned) -> dict[str, float | None]:
    found = {}
    for one in learned.measurements:
        worlds = f" {one.where['worlds']}" if one.where else ""
        found[f"{one.name}{worlds}"] = one.value
    return found


@pytest.mark.parametrize(
    ("n", "sizes"),
    [(7, [7]), (8, [4, 8]), (17, [4, 8, 17]), (140, [4, 8, 17, 35, 70, 140])],
)
def test_fits_have_twice_as_many_worlds_each(n: int, sizes: list[int]) -> None:
    assert numbers_of_worlds(n) == sizes


def test_a_label_takes_finitely_many_bits() -> None:
    labels = Likelihoods(
        fitted=np.array([[0.0, 1.0, np.nan]]), uniform=np.full((1, 3), 1 / 8)
    )
    bits = code(labels, 9)
    assert bits[0, 0] == pytest.approx(log2(80))
    assert bits[0, 1] == pytest.approx(-log2(0.9 + 0.1 / 8))
    assert np.isnan(bits[0, 2])
    # Without a fit every label takes as many as a uniform guess.
    assert code(labels, 0)[0, :2] == pytest.approx(3)


def test_the_uniform_share_is_one_world_among_those_shown() -> None:
    """Of three worlds, however many turns they have, a quarter is a guess."""
    labels = Likelihoods(fitted=np.array([[0.5, 0.0]]), uniform=np.full((1, 2), 1 / 4))
    assert code(labels, 3)[0] == pytest.approx([-log2(7 / 16), 4])


def coded_by_hand(
    train: ProbeDataset, shown: Sequence[frozenset[str]]
) -> NDArray[np.float64]:
    """(N,) bits of each turn in one order, given the worlds shown to each small fit."""
    # The first worlds take those of a guess.
    bits = np.ones(len(train.groups))
    for known, more in pairwise([*shown, frozenset(train.groups.tolist())]):
        keys = set(train.inputs[np.isin(train.groups, [*known]), 0].tolist())
        guess = 1 / (len(known) + 1)
        for row, world in enumerate(train.groups.tolist()):
            if world in more - known:
                fitted = 0.9 if float(train.inputs[row, 0]) in keys else 0.5
                bits[row] = -log2((1 - guess) * fitted + guess / 2)
    return bits


def test_the_code_is_that_of_what_was_not_yet_fitted() -> None:
    """The mean over all orders, as that of each turn."""
    train = dataset(35, 30)
    for n_orders in (1, 3):
        probe = Remembers(orders=n_orders)
        learned = learn(train, probe)
        every, *small = probe.shown
        orders = [small[3 * i : 3 * i + 3] for i in range(n_orders)]
        for first, second, third in orders:
            assert [len(first), len(second), len(third)] == [4, 8, 17]
            assert first < second < third < every
        assert len({first for first, *_ in orders}) == n_orders

        bits = np.mean([coded_by_hand(train, shown) for shown in orders], axis=0)
        found = values(learned)
        assert found["code.bit"] == pytest.approx(bits.mean())
        assert found["guess.bit"] == pytest.approx(1)
        # Turns stand in the order of the data, whatever that of the worlds.
        (scores,) = learned.coded.scores["code.bit"]
        assert scores == pytest.approx(bits, rel=1e-5)
        assert learned.coded.worlds == tuple(train.groups.tolist())
        expected = [(f"0/{i // 3}/0", i % 3) for i in range(105)]
        assert [*learned.coded.rows] == expected


class Ranging(Remembers):
    """Guesses among the labels of the turns that it is asked for."""

    def fit(self, _: str, __: ProbeDataset, ___: np.random.Generator) -> Lookup:
        return Lookup({})

    def turn_scores(
        self, decoded: NDArray[np.float32], test: ProbeDataset
    ) -> Mapping[str, NDArray[np.float64]]:
        return {}

    def likelihoods(
        self, readout: Lookup, turns: ProbeDataset
    ) -> Mapping[str, Likelihoods]:
        range_ = int(turns.labels.max()) + 1
        nothing = np.full((len(turns.labels), 1), 1 / range_)
        return {"label": Likelihoods(fitted=nothing, uniform=nothing)}


def test_the_range_of_labels_is_that_of_all_turns() -> None:
    train = replace(dataset(35, 30), labels=np.arange(105) // 3)
    found = values(learn(train, Ranging()))
    assert found["code.label"] == pytest.approx(log2(35))
    assert found["guess.label"] == pytest.approx(log2(35))


def test_a_label_that_is_known_beforehand_has_no_code() -> None:
    train = replace(dataset(35, 30), labels=np.zeros(105, np.int64))
    learned = learn(train, Ranging())
    (one,) = learned.measurements
    assert one.name == "code.label"
    assert one.value is None and one.reason.startswith("only one label is possible")
    assert "code.label" not in learned.coded.scores


def test_what_can_be_looked_up_has_a_shorter_code_than_what_cannot() -> None:
    few, many = (values(learn(dataset(70, kinds)))["code.bit"] for kinds in (4, 400))
    assert few is not None and many is not None
    assert few < 0.5 < many


def right_by_hand(train: ProbeDataset, shown: frozenset[str]) -> NDArray[np.float64]:
    """(N,) whether each held-out turn has an input that was shown."""
    keys = train.inputs[np.isin(train.groups, [*shown]), 0]
    return np.isin(TEST.inputs[:, 0], keys).astype(float)


@pytest.mark.parametrize("n_orders", [1, 3])
def test_the_curve_is_the_score_after_each_fit(n_orders: int) -> None:
    train, probe = dataset(35, 30), Remembers(orders=n_orders)
    learned = learn(train, probe)
    found = values(learned)
    every, *small = probe.shown
    curve = {}
    for size in (4, 8, 17):
        orders = [shown for shown in small if len(shown) == size]
        assert len(orders) == n_orders
        of_orders = [right_by_hand(train, shown) for shown in orders]
        curve[size] = np.mean(of_orders, axis=0)
    curve[35] = right_by_hand(train, every)
    for size, scores in curve.items():
        assert found[f"curve.right {size}"] == pytest.approx(scores.mean())
    assert curve[4].mean() < curve[8].mean() < curve[35].mean() == 1.0
    points = [scores.mean() for scores in curve.values()]
    assert found["curve.right"] == pytest.approx(np.mean(points))

    # A quarter of 35 worlds are eight.
    assert found["early.right"] == pytest.approx(curve[8].mean())
    assert found["early.worlds"] == 8
    assert [*learned.scores] == ["early.right"]
    assert learned.scores["early.right"] == pytest.approx(curve[8])
    # No headline, no curve.
    assert not any("hidden" in name for name in found)


def test_what_any_fit_cannot_decode_has_no_curve_and_nothing_early() -> None:
    @dataclass
    class Lacking(Remembers):
        """One of six small fits decodes nothing."""

        calls: int = 0

        def turn_scores(
            self, decoded: NDArray[np.float32], test: ProbeDataset
        ) -> Mapping[str, NDArray[np.float64]]:
            self.calls += 1
            return {} if self.calls == 5 else super().turn_scores(decoded, test)

    learned = learn(dataset(35, 30), Lacking(orders=2))
    assert {*values(learned)} == {"code.bit", "guess.bit"}
    assert not learned.scores


@pytest.mark.parametrize(
    ("worlds", "early"), [(15, 0), (16, 8), (31, 15), (32, 8), (39, 9), (64, 16)]
)
def test_early_is_after_a_quarter_of_the_worlds_or_half_of_few(
    worlds: int, early: int
) -> None:
    assert early_worlds(worlds) == early
    learned = learn(dataset(worlds, 30))
    found = values(learned)
    if early:
        assert found["early.worlds"] == early
        assert found["early.right"] == found[f"curve.right {early}"]
    else:
        assert not learned.scores
        assert not any(name.startswith("early") for name in found)


def test_an_early_reader_has_a_point_of_the_curve_for_any_number_of_worlds() -> None:
    for n in range(16, 1000):
        assert early_worlds(n) in numbers_of_worlds(n)[:-1]


def shown_of(train: ProbeDataset, **options: object) -> list[frozenset[str]]:
    """The worlds of each small fit."""
    probe = Remembers(orders=3)
    learn(train, probe, **options)  # type: ignore[arg-type]
    return probe.shown[1:]


def test_fits_of_a_run_share_the_orders_of_worlds() -> None:
    one, other = dataset(35, 4), dataset(35, 40)
    shown = shown_of(one)
    assert shown_of(other) == shown
    assert shown_of(one, fit=replace(FIT, layer=3, control="shuffled")) == shown
    assert shown_of(one, seed=8) != shown
    # Without an attribute there is one order, the first of several.
    assert orders_of(PlanProbe()) == 1
    alone = Remembers()
    learn(one, alone)
    assert alone.shown[1:] == shown[:3]


def test_the_worlds_of_the_first_fit_are_drawn_by_the_seed() -> None:
    train = dataset(8, 5)
    drawn = []
    for seed in range(20):
        drawn += shown_of(train, seed=seed)
    assert {len(shown) for shown in drawn} == {4} and len(drawn) == 60
    # 70 sets are possible.
    assert len(set(drawn)) > 30
    times = Counter(world for worlds in drawn for world in worlds)
    assert len(times) == 8 and 20 <= min(times.values()) <= max(times.values()) <= 40


@pytest.mark.parametrize("given", [0, -2, 1.5, "five"])
def test_a_wrong_number_of_orders_is_refused_by_name(given: object) -> None:
    probe = Remembers(orders=given)  # type: ignore[arg-type]
    message = f"orders of Remembers: wanted a number above 0, got {given!r}"
    with pytest.raises(GdeError, match=message):
        learn(dataset(8, 5), probe)


@pytest.mark.parametrize(
    ("worlds", "at_least", "reason"),
    [(7, 1, "7 training worlds"), (20, 20, "too few turns")],
)
def test_what_cannot_be_learned_from_few_has_a_reason(
    worlds: int, at_least: int, reason: str
) -> None:
    learned = learn(dataset(worlds, 5), Remembers(at_least=at_least))
    (one,) = learned.measurements
    assert one.value is None and reason in one.reason
    assert learned.coded.rows == ()


@dataclass
class Sparse(Remembers):
    """Has no label in the first turn of a world, one in the second, two in the third."""

    def likelihoods(
        self, readout: Lookup, turns: ProbeDataset
    ) -> Mapping[str, Likelihoods]:
        whole = super().likelihoods(readout, turns)["bit"]
        turn = turns.inputs[:, 0].astype(int) % 3
        is_label = np.stack([turn > 0, turn > 1], axis=1)
        fitted = np.where(is_label, whole.fitted, np.nan)
        uniform = np.full(fitted.shape, 0.5)
        found = {"bit": Likelihoods(fitted=fitted, uniform=uniform)}
        # The last block is coded by a fit to 17 worlds.
        if len(readout.labels) < 51:
            found["rare"] = found["bit"]
        return found


def numbered(n_worlds: int) -> ProbeDataset:
    """Every turn has an input of its own, so that nothing can be looked up."""
    train = dataset(n_worlds, 2)
    inputs = np.arange(3 * n_worlds, dtype=np.float32)[:, None]
    return replace(train, inputs=inputs)


def test_every_label_counts_the_same_however_many_its_turn_has() -> None:
    learned = learn(numbered(35), Sparse())
    found = {one.name: one for one in learned.measurements if not one.where}
    # A label that is guessed takes one bit, whatever the fit.
    assert found["code.bit"].value == pytest.approx(1)
    assert found["guess.bit"].value == pytest.approx(1)
    assert found["code.bit"].n == 70

    (scores,) = learned.coded.scores["code.bit"]
    turns = np.array([turn for _, turn in learned.coded.rows])
    assert np.isnan(scores[turns == 0]).all()
    # Turns with two labels have twice the share; two turns have three labels.
    assert scores[turns == 1] == pytest.approx(2 / 3)
    assert scores[turns == 2] == pytest.approx(4 / 3)


def test_what_some_blocks_do_not_tell_of_has_no_code() -> None:
    learned = learn(numbered(35), Sparse())
    assert list(learned.coded.scores) == ["code.bit"]


def test_the_interval_of_a_code_is_over_worlds() -> None:
    learned = learn(dataset(35, 30))
    (one,) = (each for each in learned.measurements if each.name == "code.bit")
    assert (one.n, one.clusters) == (105, 35)


def test_held_out_turns_that_do_not_count_are_left_out_of_the_curve() -> None:
    @dataclass
    class Undecided(Remembers):
        def turn_scores(
            self, decoded: NDArray[np.float32], test: ProbeDataset
        ) -> Mapping[str, NDArray[np.float64]]:
            right = super().turn_scores(decoded, test)["right"]
            counts = np.arange(len(right)) % 3 > 0
            return {"right": np.where(counts, right, np.nan)}

    train = dataset(70, 30)
    learned = learn(train, Undecided())
    found = {one.where.get("worlds"): one for one in learned.measurements}
    whole = found[70]
    assert (whole.value, whole.n, whole.clusters) == (1, 20, 10)
    # A share has an interval where no turn is wrong, too.
    assert whole.interval is not None and whole.interval[0] < 1
    early = learned.scores["early.right"]
    assert np.isnan(early).tolist() == [i % 3 == 0 for i in range(30)]
    (one,) = (each for each in learned.measurements if each.name == "early.right")
    assert one.value == pytest.approx(np.nanmean(early))
    assert (one.n, one.clusters) == (20, 10)


def test_every_fit_has_random_numbers_of_its_own() -> None:
    draws = []

    @dataclass
    class Drawing(Remembers):
        def fit(self, _: str, train: ProbeDataset, rng: np.random.Generator) -> Lookup:
            draws.append(rng.random())
            return super().fit(_, train, rng)

    learn(dataset(35, 30), Drawing(orders=2))
    assert len(set(draws)) == len(draws) == 1 + 2 * 3


def report(learned: Learned, control: str = "none") -> ProbeReport:
    scores = {}
    for name, of_turns in learned.scores.items():
        scores[name] = of_turns[None].astype(np.float32)
    return ProbeReport(
        fit=replace(FIT, control=control),  # type: ignore[arg-type]
        measurements=tuple(learned.measurements),
        n_train=1,
        n_test=30,
        rows=tuple((f"0/{i // 3}/1", i % 3) for i in range(30)),
        decoded=np.zeros((30, 2), np.float32),
        worlds=tuple(TEST.groups.tolist()),
        scores=scores,
        coded=learned.coded,
    )


def test_codes_and_early_scores_are_tested_against_those_of_a_control() -> None:
    """Codes on the coded worlds, which are other ones than the held-out."""
    train = dataset(35, 4)
    ours = report(learn(train))
    exchanges = []
    for i in range(5):
        unlike = exchanged(train, np.random.default_rng(i))
        exchanges.append(report(learn(unlike), "shuffled"))
    control = averaged(exchanges)
    found = {
        (one.name, one.where["control"]): one
        for one in results([ours, control], MEANINGS, seed=0)
        if not one.where.get("worlds")
    }
    for name, worlds in (("p.code.bit", 35), ("p.early.right", 10)):
        one, own = found[name, "shuffled"], found[name, "none"]
        verdict = one.verdict
        assert verdict is not None
        assert (verdict.worlds, verdict.draws, verdict.assumes) == (worlds, 5, "normal")
        assert own.value is not None and one.value is not None
        assert verdict.difference == pytest.approx(own.value - one.value, abs=1e-5)
    code_of = found["p.code.bit", "shuffled"].verdict
    assert code_of is not None
    assert (code_of.outcome, code_of.outside) == ("better", True)
    for name in ("p.guess.bit", "p.early.worlds", "p.curve.right"):
        assert found[name, "none"].verdict is None


def test_initialisations_keep_their_code_lengths_apart() -> None:
    several = [report(learn(dataset(35, kinds)), "untrained") for kinds in (4, 10, 20)]
    joined = averaged(several)
    assert joined.coded.scores["code.bit"].shape == (3, 105)
    means = [one.coded.scores["code.bit"].mean() for one in several]
    (mean,) = (one.value for one in joined.measurements if one.name == "code.bit")
    assert mean == pytest.approx(np.mean(means), rel=1e-5)


def test_coded_turns_are_stored(tmp_path: Path) -> None:
    stored = report(learn(dataset(35, 4)))
    with closing(Journal.create(tmp_path / "run.sqlite")) as journal:
        write_report(journal, tmp_path, stored, "made")
        (again,) = read_reports(journal, tmp_path)
    assert isinstance(again.coded, CodedTurns)
    assert again.coded.rows == stored.coded.rows
    assert again.coded.worlds == stored.coded.worlds
    assert again.scores.keys() == {"early.right"}
    assert np.array_equal(again.scores["early.right"], stored.scores["early.right"])
    assert np.array_equal(
        again.coded.scores["code.bit"], stored.coded.scores["code.bit"]
    )
