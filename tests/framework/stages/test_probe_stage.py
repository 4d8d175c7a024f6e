"""Fits of a probe on stored activations: which rows they are trained and scored on, and
what is said where nothing can be measured.
"""

import asyncio
import threading
from collections.abc import Mapping, Sequence, Set
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Barrier, Event, Timer

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import sem, t

from gde.data.activations import ActivationRecord, CaptureRequest
from gde.data.completion import Completion, ModelInfo
from gde.data.measure import Measure, Measures
from gde.data.observation import World
from gde.data.probe import (
    Control,
    Fit,
    Likelihoods,
    ProbeDataset,
    ProbeLabels,
    ProbeReport,
)
from gde.data.result import Measurement
from gde.data.trajectory import Decision, EpisodeKey, Trajectory
from gde.errors import GdeError, RunFailed
from gde.parts.probe import Readout
from gde.stages import probing
from gde.stages.controls import EXCHANGES, averaged
from gde.stages.fits import MODEL, UNTRAINED, untrained_sources
from gde.stages.probe_data import ProbeData, one_turn_of_each
from gde.stages.probing import Fitted, ProbeStage
from gde.stages.verdicts import results
from gde.store.activations import ActivationStore, Row
from gde.store.arrays import read_arrays
from gde.store.folder import RunFolder
from gde.store.journal import Journal
from gde.testing.samples import sample_evidence

WORLDS, TURNS, WIDTH = 10, 2, 2
TURN = next(one for one in sample_evidence(1).trajectories if one.turns).turns[0]
WHOLE = Fit(probe="p", variant="v", layer=1, position="pre")


class Echo:
    """Predicts its inputs."""

    def predict(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        return inputs

    def arrays(self) -> Mapping[str, NDArray[np.float32]]:
        return {"learned": np.array([1, 2, 3], np.float32)}


@dataclass
class Noting:
    """A probe of the number of each turn, which notes what it is given."""

    concurrent: bool = False
    one_turn: object = False
    inputs: str = "concatenated"
    unit: str = "turns"
    variants: Sequence[str] = ("v",)
    trained: list[ProbeDataset] = field(default_factory=list)
    tested: list[ProbeDataset] = field(default_factory=list)
    labelled: list[str] = field(default_factory=list)
    threads: set[int] = field(default_factory=set)
    draws: list[tuple[float, ...]] = field(default_factory=list)

    def capture(self, model: ModelInfo) -> CaptureRequest:
        return CaptureRequest(layers=(0, 1))

    def labels(self, trajectory: Trajectory) -> ProbeLabels:
        self.labelled.append(str(trajectory.key))
        values = [number(str(trajectory.key), i) for i in range(TURNS)]
        return ProbeLabels(values=np.array(values), classes=("no", "yes"))

    def fit(
        self, variant: str, train: ProbeDataset, rng: np.random.Generator
    ) -> Readout:
        self.threads.add(threading.get_ident())
        self.trained.append(train)
        self.draws.append((rng.random(),))
        return Echo()

    def load(self, variant: str, arrays: Mapping[str, NDArray[np.float32]]) -> Readout:
        return Echo()

    def score(
        self, readout: Readout, test: ProbeDataset, rng: np.random.Generator
    ) -> Sequence[Measurement]:
        self.tested.append(test)
        self.draws.append((rng.random(),))
        n = len(test.groups)
        found = Measurement(
            name="turns", value=float(n), unit=self.unit, n=n, where={"kind": "all"}
        )
        return (found,)


@dataclass
class Scoring(Noting):
    """One that scores a turn by its first activation, and measures the mean of them."""

    too_few: bool = False

    def turn_scores(
        self, decoded: NDArray[np.float32], test: ProbeDataset
    ) -> Mapping[str, NDArray[np.float64]]:
        scores = decoded[:, 0].astype(np.float64)
        return {"mean": scores[1:] if self.too_few else scores}

    def score(
        self, readout: Readout, test: ProbeDataset, rng: np.random.Generator
    ) -> Sequence[Measurement]:
        self.tested.append(test)
        mean = float(test.inputs[:, 0].mean())
        interval = (0.999 * mean, 1.001 * mean)
        return (Measurement(name="mean", value=mean, unit="", n=9, interval=interval),)


def number(episode: str, turn: int) -> int:
    """A number of its own for each turn."""
    condition, world, repeat = map(int, episode.split("/"))
    return 1000 * condition + 100 * repeat + 10 * world + turn


def episodes(*keys: tuple[int, int]) -> tuple[Trajectory, ...]:
    """Episodes of conditions and worlds; equal worlds are of one cluster."""
    made = []
    for condition, world in keys:
        place = World(id=f"w{condition}{world}", base=f"w{world}")
        turns = tuple(replace(TURN, index=i) for i in range(TURNS))
        made.append(
            Trajectory(
                key=EpisodeKey(condition=condition, world=world),
                seed=0,
                world=place,
                labels={},
                horizon=TURNS,
                turns=turns,
                ending="horizon",
            )
        )
    return tuple(made)


EVERY = episodes(*((0, world) for world in range(WORLDS)))


def stage(
    folder: Path, trajectories: Sequence[Trajectory] = EVERY, **options: object
) -> ProbeStage:
    """A stage on the episodes of a new folder, which has no activations yet."""
    with closing(Journal.create(folder / "run.sqlite")) as journal:
        for one in trajectories:
            begun = journal.begin(one.key, 0, one.world, {}, TURNS)
            asyncio.run(begun)
    settings = {"conditions": ({},), **options}
    of_data = {
        name: settings.pop(name) for name in ("seed", "weights") if name in settings
    }
    data = ProbeData(
        trajectories=trajectories, folder=RunFolder(folder), **{"seed": 3, **of_data}
    )  # type: ignore[arg-type]
    if "initialisations" in options:
        settings["initialisations"] = lambda _: options["initialisations"]
    return ProbeStage(data=data, **settings)  # type: ignore[arg-type]


def store(
    made: ProbeStage,
    source: str = MODEL,
    layer: int = 1,
    position: str = "pre",
    scale: float = 1.0,
    tokens: Sequence[int] = (1,),
    turns: int = TURNS,
    only: Set[Row] | None = None,
) -> None:
    """Store activations of every turn, or of some: its number times the scale; of so
    many tokens, by turns.
    """
    records = []
    for trajectory in made.data.trajectories:
        for turn in range(turns):
            episode = str(trajectory.key)
            if only is not None and (episode, turn) not in only:
                continue
            n_tokens = tokens[turn % len(tokens)]
            value = np.full((n_tokens, WIDTH), scale * number(episode, turn))
            values = {(layer, position): value.astype(np.float32)}
            records.append(((episode, turn), ActivationRecord(values=values)))
    with closing(Journal.open(made.data.folder.journal_path)) as journal:
        ActivationStore(made.data.folder.activations, journal).write(source, records)


def fitted(made: ProbeStage, probe: object, *fits: Fit) -> list[ProbeReport]:
    return [one.report for one in outcomes(made, probe, *fits)]


def outcomes(made: ProbeStage, probe: object, *fits: Fit) -> list[Fitted]:
    return list(made.fit((probe, fit) for fit in fits))  # type: ignore[misc]


def of(control: Control, **changes: object) -> Fit:
    return replace(WHOLE, control=control, **changes)  # type: ignore[arg-type]


def test_worlds_are_split_once_and_no_world_is_trained_and_tested_on(
    tmp_path: Path,
) -> None:
    made, probe = stage(tmp_path), Noting()
    store(made)
    store(made, layer=2)
    first, second = fitted(made, probe, WHOLE, replace(WHOLE, layer=2))
    held_out = set(probe.tested[0].groups)
    assert len(held_out) == 3  # a share of .3 of ten worlds
    assert set(probe.tested[1].groups) == held_out
    for train in probe.trained:
        assert set(train.groups) == {f"w{i}" for i in range(WORLDS)} - held_out
    assert (first.n_train, first.n_test) == (14, 6)
    assert (second.n_train, second.n_test) == (14, 6)


def test_another_seed_holds_out_other_worlds(tmp_path: Path) -> None:
    held_out = set()
    for seed in range(6):
        (tmp_path / str(seed)).mkdir()
        made, probe = stage(tmp_path / str(seed), seed=seed), Noting()
        store(made)
        fitted(made, probe, WHOLE)
        held_out.add(tuple(sorted(set(probe.tested[0].groups))))
    assert len(held_out) > 1


@pytest.mark.parametrize("at_once", [1, 4, 256])
def test_labels_and_decoded_values_stand_beside_their_own_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(probing, "AT_ONCE", at_once)
    made, probe = stage(tmp_path), Noting()
    store(made)
    (report,) = fitted(made, probe, WHOLE)
    for data in (*probe.trained, *probe.tested):
        assert data.inputs[:, 0].tolist() == data.labels.tolist()
    expected = [number(episode, turn) for episode, turn in report.rows]
    assert report.decoded[:, 0].tolist() == expected
    worlds = [f"w{episode.split('/')[1]}" for episode, _ in report.rows]
    assert worlds == probe.tested[0].groups.tolist()
    assert (report.classes, report.reason) == (("no", "yes"), "")
    assert [one.value for one in report.measurements] == [6.0]


def test_turns_are_decoded_a_part_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probing, "AT_ONCE", 4)
    sizes = []

    def predict(_: Echo, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        sizes.append(len(inputs))
        return inputs

    monkeypatch.setattr(Echo, "predict", predict)
    made = stage(tmp_path)
    store(made)
    fitted(made, Noting(), WHOLE)
    assert sizes == [4, 2]


def test_a_number_has_the_unit_that_its_probe_declares(tmp_path: Path) -> None:
    turns = Measure(name="p.turns", title="Turns", unit="held-out turns")
    made = stage(tmp_path, meanings=Measures((turns,)))
    store(made)
    (declared,) = fitted(made, Noting(unit=""), WHOLE)
    assert [one.unit for one in declared.measurements] == ["held-out turns"]
    (undeclared,) = fitted(made, Noting(), replace(WHOLE, probe="other"))
    assert [one.unit for one in undeclared.measurements] == ["turns"]
    (another,) = fitted(made, Noting(), WHOLE)
    assert not another.measurements
    assert "wanted the unit 'held-out turns'" in another.reason


def test_what_was_learned_is_stored_under_the_name_of_the_fit(tmp_path: Path) -> None:
    made = stage(tmp_path)
    store(made)
    fitted(made, Noting(), WHOLE)
    (file,) = made.data.folder.probes.glob(f"*{WHOLE.name}*")
    assert read_arrays(file)["learned"].tolist() == [1, 2, 3]


def test_each_control_reads_the_activations_of_its_definition(tmp_path: Path) -> None:
    made, probe = stage(tmp_path), Noting()
    store(made)
    store(made, UNTRAINED, scale=2)
    controls: tuple[Control, ...] = ("none", "no_activations", "untrained", "shuffled")
    reports = fitted(made, probe, *map(of, controls))
    assert [report.fit.control for report in reports] == [*controls]
    plain, *_ = probe.tested
    scales = (1, 0, 2, *[1] * EXCHANGES)
    for test, train, scale in zip(probe.tested, probe.trained, scales, strict=True):
        assert np.array_equal(test.inputs, scale * plain.inputs)
        # The labels of held-out turns are never exchanged.
        assert test.labels.tolist() == plain.labels.tolist()
        assert np.array_equal(train.inputs, scale * probe.trained[0].inputs)
    own = probe.trained[0].labels.tolist()
    for train in probe.trained[1:3]:
        assert train.labels.tolist() == own


def test_each_turn_is_told_its_own_condition(tmp_path: Path) -> None:
    keys = [(condition, world) for world in range(WORLDS) for condition in (0, 1)]
    made, probe = stage(tmp_path, episodes(*keys)), Noting()
    store(made)
    fitted(made, probe, of("conditions"))
    for data in (*probe.trained, *probe.tested):
        assert data.inputs.argmax(axis=1).tolist() == (data.labels // 1000).tolist()


def test_labels_are_exchanged_between_whole_worlds_five_times(tmp_path: Path) -> None:
    made, probe = stage(tmp_path), Noting()
    store(made)
    fitted(made, probe, WHOLE, of("shuffled"))
    first, *several = probe.trained
    exchanges = set()
    for train in several:
        assert train.groups.tolist() == first.groups.tolist()
        # The number of a turn is ten times that of its world, and its own.
        assert sorted(train.labels) == sorted(first.labels)
        given = {}
        for world, label in zip(train.groups, train.labels.tolist(), strict=True):
            given.setdefault(world, set()).add(label // 10)
        assert {len(others) for others in given.values()} == {1}
        others = tuple(other for each in given.values() for other in each)
        assert sorted(others) == sorted({*first.labels // 10})
        exchanges.add(others)
    assert len(several) == len(exchanges) == 5
    assert tuple(dict.fromkeys((first.labels // 10).tolist())) not in exchanges


@dataclass
class Constant:
    """Predicts the same everywhere."""

    label: float

    def predict(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.full((len(inputs), 1), self.label, np.float32)

    def arrays(self) -> Mapping[str, NDArray[np.float32]]:
        return {"learned": np.array([self.label], np.float32)}


@dataclass
class First(Noting):
    """Predicts the first label that it is trained on, which is the score of a turn."""

    fails_after: int = 99

    def fit(
        self, variant: str, train: ProbeDataset, rng: np.random.Generator
    ) -> Readout:
        if len(self.trained) == self.fails_after:
            raise ValueError("too many fits")
        self.trained.append(train)
        return Constant(float(train.labels[0]))

    def turn_scores(
        self, decoded: NDArray[np.float32], test: ProbeDataset
    ) -> Mapping[str, NDArray[np.float64]]:
        return {"first": decoded[:, 0].astype(np.float64)}

    def score(
        self, readout: Readout, test: ProbeDataset, rng: np.random.Generator
    ) -> Sequence[Measurement]:
        value = float(readout.predict(test.inputs).mean())
        return (Measurement(name="first", value=value, n=len(test.groups)),)


def test_exchanges_are_averaged(tmp_path: Path) -> None:
    made, probe = stage(tmp_path), First()
    store(made)
    (report,) = fitted(made, probe, of("shuffled"))
    labels = [float(train.labels[0]) for train in probe.trained]
    assert len(labels) == EXCHANGES and len(set(labels)) > 1
    (one,) = report.measurements
    assert one.value == pytest.approx(np.mean(labels))
    assert report.scores["first"].tolist() == [[label] * 6 for label in labels]
    decoded = [report.decoded, *report.further]
    assert [each.tolist() for each in decoded] == [[[label]] * 6 for label in labels]
    # What the first learned is kept.
    (file,) = made.data.folder.probes.glob("*")
    assert read_arrays(file)["learned"].tolist() == labels[:1]


def test_a_draw_that_fails_is_the_reason_of_its_control(tmp_path: Path) -> None:
    made, probe = stage(tmp_path), First(fails_after=3)
    store(made)
    (report,) = fitted(made, probe, of("shuffled"))
    assert (report.reason, report.measurements) == ("too many fits", ())


WORLD_OF = {str(one.key): one.world.cluster for one in EVERY}


def chosen_turns(seed: int = 3) -> set[Row]:
    """One turn of each world."""
    every = [(episode, turn) for episode in WORLD_OF for turn in range(TURNS)]
    return one_turn_of_each(every, WORLD_OF, seed)


@pytest.mark.parametrize("seed", [3, 4])
def test_one_turn_of_each_world_counts_the_same_for_all_fits(
    tmp_path: Path, seed: int
) -> None:
    made, probe = stage(tmp_path, seed=seed, initialisations=2), Scoring(one_turn=True)
    store(made)
    chosen = chosen_turns(seed)
    for source, scale in (("untrained", 2), ("untrained-1", 4)):
        store(made, source, scale=scale, only=chosen)
    controls: tuple[Control, ...] = ("none", "no_activations", "shuffled", "untrained")
    reports = fitted(made, probe, *map(of, controls))
    numbers = {number(*row) for row in chosen}
    for train, test in zip(probe.trained, probe.tested, strict=True):
        assert {*train.labels, *test.labels} == numbers
        assert len(train.labels) == len(set(train.groups)) == 7
        assert len(test.labels) == len(set(test.groups)) == 3

    scales = ([1], [0], [1] * EXCHANGES, [2, 4])
    for report, control, of_draws in zip(reports, controls, scales, strict=True):
        assert (report.n_train, report.n_test, report.reason) == (7, 3, "")
        # All held-out turns of the source are decoded, and the chosen ones are scored.
        n_rows = 3 if control == "untrained" else 6
        assert len(report.rows) == len(report.worlds) == len(report.decoded) == n_rows
        expected = [number(*row) if row in chosen else np.nan for row in report.rows]
        assert np.isfinite(expected).sum() == 3
        scores = report.scores["mean"]
        assert np.array_equal(scores, np.outer(of_draws, expected), equal_nan=True)
        (one,) = report.measurements
        assert one.value == pytest.approx(np.nanmean(scores))
        for row, world in zip(report.rows, report.worlds, strict=True):
            assert WORLD_OF[row[0]] == world
    decoded = reports[0].decoded[:, 0].tolist()
    assert decoded == [number(*row) for row in reports[0].rows]


def test_turns_are_chosen_by_the_seed() -> None:
    assert len({frozenset(chosen_turns(seed)) for seed in range(20)}) > 15


def test_a_verdict_on_one_turn_of_each_world_is_over_these_alone(
    tmp_path: Path,
) -> None:
    """Each of 40 worlds has two turns; 12 worlds are held out."""
    trajectories = episodes(*((0, world) for world in range(40)))
    mean = Measure(name="p.mean", title="Mean", better="more", headline=True)
    meanings = Measures((mean,))
    made = stage(tmp_path, trajectories, meanings=meanings)
    store(made)
    probe = Scoring(one_turn=True)
    reports = fitted(made, probe, WHOLE, of("no_activations"))
    _, other = results(reports, meanings, seed=0)
    verdict = other.verdict
    assert verdict is not None
    assert (verdict.outcome, verdict.worlds, verdict.draws) == ("better", 12, 1)
    assert verdict.difference == pytest.approx(probe.tested[0].labels.mean())


def test_a_sweep_counts_one_turn_of_each_world_in_each_condition(
    tmp_path: Path,
) -> None:
    swept = episodes(*((i, world) for world in range(30) for i in (0, 1)))
    made = stage(tmp_path, swept, conditions=CONDITIONS[:2])
    store(made)
    (report,) = fitted(made, Noting(one_turn=True), WHOLE)
    whole, small, large = (one.value for one in report.measurements)
    assert (whole, small, large) == (18, 9, 9)


@pytest.mark.parametrize("given", ["yes", 1, None])
def test_a_wrong_number_of_turns_is_refused_by_name(
    tmp_path: Path, given: object
) -> None:
    made = stage(tmp_path)
    store(made)
    (report,) = fitted(made, Noting(one_turn=given), WHOLE)
    assert report.reason == f"one_turn of Noting: wanted True or False, got {given!r}"


@pytest.mark.parametrize("given", [0, -1, 2.0, "five"])
def test_a_wrong_number_of_orders_is_refused_by_name(
    tmp_path: Path, given: object
) -> None:
    made = stage(tmp_path, episodes(*((0, i) for i in range(14))), learning=True)
    store(made)
    probe = Coding()
    probe.orders = given  # type: ignore[attr-defined]
    (report,) = fitted(made, probe, WHOLE)
    assert report.reason == f"orders of Coding: wanted a number above 0, got {given!r}"


def test_random_weights_are_averaged_over_their_initialisations(
    tmp_path: Path,
) -> None:
    made, probe = stage(tmp_path, initialisations=3), Scoring()
    sources = untrained_sources(3)
    assert sources == ["untrained", "untrained-1", "untrained-2"]
    for source, scale in zip(sources, (2, 3, 7), strict=True):
        store(made, source, scale=scale)
    (report,) = fitted(made, probe, of("untrained"))
    scales = [test.inputs[-1, 0] / test.labels[-1] for test in probe.tested]
    assert scales == pytest.approx([2, 3, 7])

    # `Scoring` scores a turn by its first activation.
    labels = probe.tested[0].labels
    assert report.scores["mean"] == pytest.approx(np.outer((2, 3, 7), labels))
    decoded = [each[-1, 0] / labels[-1] for each in (report.decoded, *report.further)]
    assert decoded == pytest.approx([2, 3, 7])
    (one,) = report.measurements
    assert one.value == pytest.approx(4 * labels.mean())
    assert one.interval is not None
    # Far wider than the interval of any single one, which is a thousandth of it.
    assert one.interval[1] - one.interval[0] > 5 * labels.mean()
    # Of a single one nothing is averaged.
    (alone,) = fitted(
        replace(made, initialisations=lambda _: 1), Scoring(), of("untrained")
    )
    assert alone.scores["mean"] == pytest.approx(2 * labels[None])


def of_initialisations(
    *values: float | None, unit: str = "share", width: float = 0.1
) -> Measurement:
    """The mean of a number over initialisations, each known to a width; None is left
    out.
    """
    reports = []
    for value in values:
        numbers = []
        if value is not None:
            interval = (max(value - width, 0.0), value + width)
            one = Measurement(name="m", value=value, unit=unit, n=9, interval=interval)
            numbers.append(one)
        report = ProbeReport(
            fit=of("untrained"),
            measurements=tuple(numbers),
            n_train=1,
            n_test=1,
            rows=(),
            decoded=np.zeros((0,), np.float32),
        )
        reports.append(report)
    (mean,) = averaged(reports).measurements
    return mean


def test_both_errors_of_several_initialisations_are_squared_and_added() -> None:
    values = (4.0, 5.0, 9.0)
    one = of_initialisations(*values, unit="cells", width=3.0)
    half = np.hypot(3, t.ppf(0.975, 2) * sem(values))
    # No distance is negative.
    assert one.interval == pytest.approx((max(6 - half, 0), 6 + half))
    one = of_initialisations(*values, unit="cells", width=0.1)
    half = np.hypot(0.1, t.ppf(0.975, 2) * sem(values))
    assert one.interval == pytest.approx((max(6 - half, 0), 6 + half))


def test_no_share_of_several_initialisations_lies_beyond_0_and_1() -> None:
    assert of_initialisations(0.1, 0.5, 0.9).interval == (0.0, 1.0)


def test_a_number_that_one_initialisation_lacks_has_a_reason() -> None:
    one = of_initialisations(0.1, 0.5, None)
    assert (one.value, one.interval) == (None, None)
    assert one.reason == "not measured for every draw"


@dataclass
class Coding(Noting):
    """A probe of which a code length and a learning curve can be measured."""

    def turn_scores(
        self, decoded: NDArray[np.float32], test: ProbeDataset
    ) -> Mapping[str, NDArray[np.float64]]:
        self.tested.append(test)
        return {"turns": np.ones(len(test.labels))}

    def likelihoods(
        self, readout: Readout, turns: ProbeDataset
    ) -> Mapping[str, Likelihoods]:
        half = np.full((len(turns.labels), 1), 0.5)
        return {"it": Likelihoods(fitted=half, uniform=half)}


def test_no_held_out_world_is_learned_from(tmp_path: Path) -> None:
    made = stage(tmp_path, episodes(*((0, i) for i in range(14))), learning=True)
    store(made)
    probe = Coding()
    (report,) = fitted(made, probe, WHOLE)
    held_out = set(report.worlds)
    assert len(probe.trained) == 2
    for train in probe.trained:
        assert not held_out & set(train.groups)
    for test in probe.tested:
        assert set(test.groups) == held_out

    # All training turns are coded, each beside its own world.
    assert len(report.coded.rows) == report.n_train
    for (episode, _), world in zip(report.coded.rows, report.coded.worlds, strict=True):
        assert world == f"w{episode.split('/')[1]}"
        assert world not in held_out


def test_scores_of_turns_are_one_each(tmp_path: Path) -> None:
    made = stage(tmp_path)
    store(made)
    (report,) = fitted(made, Scoring(too_few=True), WHOLE)
    assert "turn_scores: mean: wanted a score for each of 6 turns" in report.reason


def test_probes_of_tokens_get_them_padded_and_others_side_by_side(
    tmp_path: Path,
) -> None:
    made = stage(tmp_path)
    store(made, tokens=(1, 3))
    probe = Noting(inputs="tokens")
    fitted(made, probe, WHOLE)
    assert probe.tested[0].inputs.shape == (6, 3, WIDTH)
    (report,) = fitted(made, Noting(), WHOLE)
    assert "wanted equally many tokens at the position in every turn" in report.reason


def test_an_episode_is_labelled_once_for_all_fits_of_a_probe(tmp_path: Path) -> None:
    made, probe = stage(tmp_path), Noting()
    store(made)
    fitted(made, probe, WHOLE, of("shuffled"), of("no_activations"))
    assert sorted(probe.labelled) == sorted(str(one.key) for one in EVERY)


def test_episodes_without_activations_are_not_labelled(tmp_path: Path) -> None:
    made, probe = stage(tmp_path), Noting()
    store(replace(made, data=replace(made.data, trajectories=EVERY[:8])))
    (report,) = fitted(made, probe, WHOLE)
    assert sorted(probe.labelled) == sorted(str(one.key) for one in EVERY[:8])
    # The held-out worlds are drawn from all worlds of the run all the same.
    assert report.n_train + report.n_test == 8 * TURNS


def said(reasoning: str | None, *positions: str) -> tuple[Trajectory, ...]:
    """The episodes, whose answers have this reasoning and these positions."""
    completion = Completion(
        text="UP",
        reasoning=reasoning,
        finish="stop",
        positions=dict.fromkeys(positions, (0,)),
    )
    decision = Decision.act("UP", completion)
    return tuple(
        replace(
            one, turns=tuple(replace(turn, decision=decision) for turn in one.turns)
        )
        for one in EVERY
    )


@pytest.mark.parametrize(
    ("answers", "position", "reason", "absent"),
    [
        (EVERY, "pre", "no turn has activations at position 'pre' of layer 1", False),
        (
            said("hm", "pre", "post"),
            "post",
            "no turn has activations at position 'post' of layer 1",
            False,
        ),
        (said(None, "pre"), "post", "no reasoning in 20 of 20 turns", True),
        (said("", "pre"), "reasoning", "no reasoning in 20 of 20 turns", True),
        (said("hm", "pre"), "post", "no position 'post' in 20 of 20 turns", False),
        (said(None, "pre"), "psot", "no position 'psot' in 20 of 20 turns", False),
    ],
)
def test_a_place_without_activations_is_said_to_have_none(
    tmp_path: Path,
    answers: tuple[Trajectory, ...],
    position: str,
    reason: str,
    absent: bool,
) -> None:
    made = stage(tmp_path, answers)
    (report,) = fitted(made, Noting(), replace(WHOLE, position=position))
    assert (report.reason, report.absent) == (reason, absent)
    assert (report.measurements, report.n_train, report.n_test) == ((), 0, 0)
    assert (report.rows, report.decoded.shape) == ((), (0,))


def test_activations_that_never_differ_are_refused(tmp_path: Path) -> None:
    made = stage(tmp_path)
    store(made, scale=0)
    store(made, UNTRAINED, scale=0)
    for report in fitted(made, Noting(), WHOLE, of("shuffled"), of("untrained")):
        assert report.reason == (
            "the activations at position 'pre' of layer 1 are the same in every turn"
        )


def test_a_single_turn_is_not_said_to_repeat_itself(tmp_path: Path) -> None:
    made = stage(tmp_path, EVERY[:1])
    store(made, turns=1)
    (report,) = fitted(made, Noting(), WHOLE)
    assert report.reason.endswith("worlds to test on, got 0 and 1")


def test_two_equal_turns_are_enough_to_refuse(tmp_path: Path) -> None:
    made = stage(tmp_path, EVERY[:1])
    store(made, scale=0)
    (report,) = fitted(made, Noting(), WHOLE)
    assert report.reason.endswith("are the same in every turn")


def test_equal_activations_of_different_lengths_are_not_the_same(
    tmp_path: Path,
) -> None:
    made = stage(tmp_path)
    store(made, scale=0, tokens=(1, 3))
    (report,) = fitted(made, Noting(inputs="tokens"), WHOLE)
    assert (report.reason, report.n_test) == ("", 6)


def test_one_world_cannot_be_split(tmp_path: Path) -> None:
    made = stage(tmp_path, EVERY[:1])
    store(made)
    (report,) = fitted(made, Noting(), WHOLE)
    assert report.reason == (
        "wanted worlds to train on and worlds to test on, got 0 and 1"
    )


def test_of_two_worlds_one_is_held_out(tmp_path: Path) -> None:
    made = stage(tmp_path, EVERY[:2])
    store(made)
    (report,) = fitted(made, Noting(), WHOLE)
    assert (report.n_train, report.n_test) == (TURNS, TURNS)


def test_a_split_without_activations_of_held_out_worlds_is_refused(
    tmp_path: Path,
) -> None:
    made, probe = stage(tmp_path), Noting()
    store(made)
    fitted(made, probe, WHOLE)
    trained = set(probe.trained[0].groups)
    known = [one for one in EVERY if one.world.cluster in trained]
    store(replace(made, data=replace(made.data, trajectories=known)), layer=2)
    (report,) = fitted(made, probe, replace(WHOLE, layer=2))
    assert report.reason == (
        "wanted worlds to train on and worlds to test on, got 7 and 0"
    )


class Failing(Noting):
    error: BaseException = ValueError("no")

    def fit(
        self, variant: str, train: ProbeDataset, rng: np.random.Generator
    ) -> Readout:
        raise self.error


@pytest.mark.parametrize(
    ("error", "reason", "is_traced"),
    [
        (ValueError("no number"), "no number", True),
        (GdeError("no probe"), "no probe", False),
        (KeyError("lost"), "KeyError: 'lost'", True),
        (SystemExit(2), "SystemExit: 2", True),
    ],
)
def test_a_failed_fit_becomes_its_reason_and_costs_no_other(
    tmp_path: Path, error: BaseException, reason: str, is_traced: bool
) -> None:
    made, failing, probe = stage(tmp_path), Failing(), Noting()
    failing.error = error
    store(made)
    failed, other = made.fit([(failing, WHOLE), (probe, WHOLE)])
    assert failed.report.reason == reason
    assert ("Traceback" in failed.traceback) == is_traced
    assert (other.report.reason, other.traceback) == ("", "")


@pytest.mark.parametrize("error", [RunFailed("the disk is full"), KeyboardInterrupt()])
def test_what_ends_the_run_is_no_reason(tmp_path: Path, error: BaseException) -> None:
    made, failing = stage(tmp_path), Failing()
    failing.error = error
    store(made)
    with pytest.raises(type(error)):
        fitted(made, failing, WHOLE)


class Twice(Noting):
    def score(
        self, readout: Readout, test: ProbeDataset, rng: np.random.Generator
    ) -> Sequence[Measurement]:
        return [*super().score(readout, test, rng)] * 2


def test_a_measurement_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    made = stage(tmp_path)
    store(made)
    (report,) = fitted(made, Twice(), WHOLE)
    assert report.reason.startswith("the probe gives 'turns kind=all' twice: ")


CONDITIONS = ({"size": 7}, {"size": 9}, {"size": 11})


def test_a_sweep_is_broken_down_for_the_trained_fit_alone(tmp_path: Path) -> None:
    """Worlds 0 to 4 are played in two conditions; the third condition has no world that
    was held out.
    """
    swept = episodes(*((i, world) for world in range(WORLDS) for i in (0, 1)))
    made, probe = stage(tmp_path, swept, conditions=CONDITIONS), Noting()
    store(made)
    whole, shuffled = fitted(made, probe, WHOLE, of("shuffled"))
    assert [(one.name, one.value, one.where) for one in whole.measurements] == [
        ("turns", 12.0, {"kind": "all"}),
        ("turns", 6.0, {"kind": "all", "size": 7}),
        ("turns", 6.0, {"kind": "all", "size": 9}),
        ("all", None, {"size": 11}),
    ]
    missing = whole.measurements[-1]
    assert missing.reason.startswith("no world of this condition was held out")
    assert [one.where for one in shuffled.measurements] == [{"kind": "all"}]
    for condition, test in enumerate(probe.tested[1:3]):
        assert set(test.labels // 1000) == {condition}
    assert missing.n == 0


def test_without_a_sweep_there_is_no_breakdown(tmp_path: Path) -> None:
    made = stage(tmp_path, conditions=CONDITIONS[:1])
    store(made)
    (report,) = fitted(made, Noting(), WHOLE)
    assert [one.where for one in report.measurements] == [{"kind": "all"}]


def test_every_use_of_chance_has_random_numbers_of_its_own(tmp_path: Path) -> None:
    swept = episodes(*((i, world) for world in range(WORLDS) for i in (0, 1)))
    made, probe = stage(tmp_path, swept, conditions=CONDITIONS[:2]), Noting()
    store(made)
    fitted(made, probe, WHOLE, of("shuffled"), WHOLE)
    # Fit, score and two conditions; fit and score of each exchange; the first again.
    assert len(probe.draws) == 4 + 2 * EXCHANGES + 4
    assert len(set(probe.draws[:6])) == 6
    assert not set(probe.draws[4:-4]) & set(probe.draws[:4])
    assert probe.draws[-4:] == probe.draws[:4]


@dataclass
class Meeting(Noting):
    """One whose fits wait for each other."""

    concurrent: bool = True
    at_once: Barrier = field(default_factory=lambda: Barrier(2))

    def fit(
        self, variant: str, train: ProbeDataset, rng: np.random.Generator
    ) -> Readout:
        self.at_once.wait(30)
        return super().fit(variant, train, rng)


@dataclass
class Waiting(Noting):
    """One whose fits wait for an event, but for the first."""

    concurrent: bool = True
    going_on: Event = field(default_factory=Event)

    def fit(
        self, variant: str, train: ProbeDataset, rng: np.random.Generator
    ) -> Readout:
        assert variant == "a" or self.going_on.wait(30)
        return super().fit(variant, train, rng)


def test_threads_share_the_fits_of_a_probe_that_allows_it(tmp_path: Path) -> None:
    controls: tuple[Control, ...] = ("none", "untrained")
    for allowed, n_threads in ((True, 2), (False, 1)):
        folder = tmp_path / str(allowed)
        folder.mkdir()
        made, probe = stage(folder, threads=2), Meeting() if allowed else Noting()
        store(made)
        store(made, UNTRAINED, scale=2)
        reports = fitted(made, probe, *map(of, controls))
        assert [report.fit.control for report in reports] == [*controls]
        assert len(probe.threads) == n_threads


def test_a_stage_fits_in_one_thread_unless_told_otherwise(tmp_path: Path) -> None:
    made, probe = stage(tmp_path), Noting(concurrent=True)
    store(made)
    store(made, UNTRAINED, scale=2)
    fitted(made, probe, WHOLE, of("untrained"))
    assert probe.threads == {threading.get_ident()}


def test_a_stage_that_is_closed_ends_what_is_under_way_and_begins_nothing_else(
    tmp_path: Path,
) -> None:
    made, probe = stage(tmp_path, threads=2), Waiting()
    store(made)
    fits = made.fit([(probe, replace(WHOLE, variant=each)) for each in "abcdef"])
    next(fits)
    Timer(0.1, probe.going_on.set).start()
    fits.close()
    assert len(probe.trained) <= 3
    assert not [one for one in threading.enumerate() if one.name.startswith("gde-fit")]


def test_results_carry_the_names_and_labels_of_their_fits(tmp_path: Path) -> None:
    made = stage(tmp_path)
    store(made)
    reports = fitted(made, Noting(), WHOLE, replace(WHOLE, layer=5))
    measured, missing = results(reports, Measures(), seed=0)
    assert (measured.name, measured.value, measured.source) == ("p.turns", 6.0, "p")
    assert measured.where == {"kind": "all", **WHOLE.where}
    assert (missing.name, missing.value, missing.source) == ("p", None, "p")
    assert missing.where == replace(WHOLE, layer=5).where
    assert missing.reason == reports[1].reason
    assert missing.n == 0
