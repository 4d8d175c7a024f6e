"""Online code lengths and learning curves, against code that knows nothing of theirs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
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
from gde.stages.learning import Learned, Learning, code, numbers_of_worlds
from gde.stages.probing import averaged
from gde.stages.verdicts import results
from gde.store.journal import Journal
from gde.store.probes import read_reports, write_report

FIT = Fit(probe="p", variant="v", layer=0, position="pre")
MEANINGS = Measures(
    (
        Measure(name="p.right", title="Right", unit="share", headline=True),
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

    def capture(self, _: ModelInfo) -> CaptureRequest:
        raise NotImplementedError

    def labels(self, _: Trajectory) -> ProbeLabels:
        raise NotImplementedError

    def fit(self, _: str, train: ProbeDataset, __: np.random.Generator) -> Lookup:
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


def learn(
    train: ProbeDataset, probe: Remembers | None = None, seed: int = 7
) -> Learned:
    probe = probe or Remembers()
    rows = [(f"0/{i // 3}/0", i % 3) for i in range(len(train.groups))]
    return Learning(
        probe=probe,
        fit=FIT,
        train=train,
        rows=rows,
        test=dataset(10, 30, seed=1),
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


def test_the_code_is_that_of_what_was_not_yet_fitted() -> None:
    train = dataset(35, 30)
    learned = learn(train)
    # The order of the worlds, as it was coded.
    rows = [
        3 * int(episode.split("/")[1]) + turn for episode, turn in learned.coded.rows
    ]
    assert sorted(rows) == list(range(len(train.groups)))
    order = list(dict.fromkeys(train.groups[rows].tolist()))
    assert learned.coded.worlds == tuple(train.groups[rows].tolist())

    total = 0.0
    for before, size in ((0, 4), (4, 8), (8, 17), (17, 35)):
        seen = np.isin(train.groups, order[:before])
        known = {float(key) for key in train.inputs[seen, 0]}
        coming = np.isin(train.groups, order[before:size])
        guess = 1 / (seen.sum() + 1)
        for key in train.inputs[coming, 0].tolist():
            fitted = 0.9 if key in known else 0.5
            total -= log2((1 - guess) * fitted + guess * 0.5)

    found = values(learned)
    assert found["code.bit"] == pytest.approx(total / len(rows))
    assert found["compression.bit"] == pytest.approx(len(rows) / total)
    (scores,) = learned.coded.scores["code.bit"]
    assert scores.mean() == pytest.approx(total / len(rows), rel=1e-5)


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
    assert found["compression.label"] == pytest.approx(1)


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


def test_the_curve_is_the_score_after_each_fit() -> None:
    found = values(learn(dataset(35, 30)))
    points = [found[f"curve.right {size}"] for size in (4, 8, 17, 35)]
    assert all(point is not None for point in points)
    numbers = np.array(points, dtype=float)
    assert numbers[0] < numbers[-1] == 1.0
    assert found["curve.right"] == pytest.approx(numbers.mean())
    # No headline, no curve.
    assert not any("hidden" in name for name in found)


def test_fits_of_a_run_share_the_order_of_worlds() -> None:
    one, other = (learn(dataset(35, kinds)) for kinds in (4, 40))
    assert one.coded.rows == other.coded.rows


def test_the_worlds_of_the_first_fit_are_drawn_by_the_seed() -> None:
    train = dataset(8, 5)
    drawn = []
    for seed in range(60):
        coded = list(dict.fromkeys(learn(train, seed=seed).coded.worlds))
        drawn.append(frozenset(coded[:4]))
    # 70 sets are possible.
    assert len(set(drawn)) > 30
    times = Counter(world for worlds in drawn for world in worlds)
    assert len(times) == 8 and 20 <= min(times.values()) <= max(times.values()) <= 40


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
    assert found["compression.bit"].value == pytest.approx(1)
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


def test_every_fit_has_random_numbers_of_its_own() -> None:
    draws = []

    @dataclass
    class Drawing(Remembers):
        def fit(self, _: str, train: ProbeDataset, rng: np.random.Generator) -> Lookup:
            draws.append(rng.random())
            return super().fit(_, train, rng)

    learn(dataset(35, 30), Drawing())
    assert len(set(draws)) == 4


def report(learned: Learned, control: str = "none") -> ProbeReport:
    return ProbeReport(
        fit=replace(FIT, control=control),  # type: ignore[arg-type]
        measurements=tuple(learned.measurements),
        n_train=1,
        n_test=1,
        rows=(("0/0/0", 0),),
        decoded=np.zeros((1, 2), np.float32),
        coded=learned.coded,
    )


def test_code_lengths_are_tested_against_those_of_a_control() -> None:
    """On the coded worlds, which are other ones than the held-out."""
    ours = report(learn(dataset(35, 4)))
    shuffled = report(learn(dataset(35, 4000)), "shuffled")
    found = {
        (one.name, one.where["control"]): one
        for one in results([ours, shuffled], MEANINGS, seed=0)
        if not one.where.get("worlds")
    }
    one = found["p.code.bit", "shuffled"]
    verdict = one.verdict
    assert verdict is not None
    assert (verdict.outcome, verdict.worlds) == ("better", 35)
    own = found["p.code.bit", "none"].value
    assert own is not None and one.value is not None
    assert verdict.difference == pytest.approx(own - one.value, abs=1e-5)
    assert found["p.compression.bit", "none"].verdict is None


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
    assert again.scores == {}
    assert np.array_equal(
        again.coded.scores["code.bit"], stored.coded.scores["code.bit"]
    )
