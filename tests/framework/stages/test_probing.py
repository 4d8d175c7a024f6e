"""What decoded numbers stand for goes with them from the labels to the stored
report.
"""

from collections import Counter
from contextlib import closing
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from gde.data.activations import CaptureRequest
from gde.data.probe import (
    CONTROLS,
    Fit,
    ProbeDataset,
    ProbeLabels,
    ProbeReport,
)
from gde.errors import GdeError
from gde.stages.controls import exchanged, nothing, one_hot, told
from gde.stages.fits import OF_A_LAYER, list_fits
from gde.stages.probe_data import dataset_classes, one_turn_of_each
from gde.store.journal import Journal
from gde.store.probes import read_reports, write_report
from gde.testing.plan_probe import PlanProbe

LABELS = ProbeLabels(values=np.array([0, 1, 1]), classes=("free", "taken"))


def test_classes_are_those_of_all_episodes() -> None:
    assert dataset_classes(
        {"0/0/0": LABELS, "0/1/0": LABELS, "0/2/0": replace(LABELS, classes=())},
        {"0/0/0", "0/1/0"},
    ) == (
        "free",
        "taken",
    )


def test_classes_that_differ_are_named_with_their_episodes() -> None:
    labels = {"0/0/0": LABELS, "0/1/0": replace(LABELS, classes=("taken", "free"))}
    with pytest.raises(
        GdeError, match=r"free, taken in episode 0/0/0; taken, free in episode 0/1/0"
    ):
        dataset_classes(labels, {"0/0/0", "0/1/0"})


def test_a_dataset_keeps_its_classes_when_rows_are_taken() -> None:
    inputs, groups = np.zeros((3, 2), np.float32), np.array(["a", "b", "c"])
    dataset = ProbeDataset(
        inputs=inputs, labels=LABELS.values, groups=groups, classes=LABELS.classes
    )
    assert dataset.take(np.array([True, False, True])).classes == ("free", "taken")


def test_a_stored_report_knows_its_classes_and_all_that_was_decoded(
    tmp_path: Path,
) -> None:
    report = ProbeReport(
        fit=Fit(probe="p", variant="v", layer=0, position="pre"),
        measurements=(),
        n_train=1,
        n_test=1,
        rows=(("0/0/0", 0),),
        decoded=np.zeros((1, 2), np.float32),
        further=tuple(np.full((1, 2), i, np.float32) for i in range(1, 12)),
        classes=("free", "taken"),
    )
    with closing(Journal.create(tmp_path / "run.sqlite")) as journal:
        write_report(journal, tmp_path, report, "made")
        (again,) = read_reports(journal, tmp_path)
    assert again.classes == report.classes
    assert [each[0, 0] for each in again.further] == [*range(1, 12)]


def test_every_variant_at_every_position_has_all_controls() -> None:
    probe = PlanProbe(variants=("ridge", "mean"))
    request = CaptureRequest(layers=(0, 1), positions=("pre", "post"))
    found = list(list_fits("p", probe, request, sweeps=True))
    assert len(found) == len(set(found)) == 8 + 4 * 5 + 4 * 2
    measured = [fit for fit in found if fit.control == "none"]
    assert found[0] == measured[0] and len(measured) == 8
    for own in measured:
        controls = {
            fit.control for fit in found if replace(fit, control="none") == own
        } - {"none"}
        assert controls == set(CONTROLS if own.layer == 0 else OF_A_LAYER)


def test_fits_to_the_same_activations_follow_each_other() -> None:
    probe = PlanProbe(variants=("ridge", "mean"))
    request = CaptureRequest(layers=(0, 1), positions=("pre", "post"))
    found = list_fits("p", probe, request, sweeps=False)
    read = [
        (fit.layer, fit.position, "none" if fit.control == "shuffled" else fit.control)
        for fit in found
    ]
    runs = [place for place, _ in groupby(read)]
    assert len(runs) == len(set(runs)) == 2 * 4 + 2 * 2


def test_only_a_sweep_has_the_control_of_its_conditions() -> None:
    request = CaptureRequest(layers=(0, 1))
    alone, swept = (
        {fit.control for fit in list_fits("p", PlanProbe(), request, sweeps=sweeps)}
        for sweeps in (False, True)
    )
    assert swept - alone == {"conditions"}


def test_controls_without_activations_keep_the_number_of_tokens() -> None:
    inputs = np.ones((4, 3, 2), np.float32)
    inputs[1:, 2] = np.nan
    data = ProbeDataset(inputs=inputs, labels=np.arange(4), groups=np.array([*"abcd"]))
    conditions = np.array([0, 2, 1, 0])

    def known(given: NDArray[np.float32]) -> NDArray[np.float32]:
        found = told(data, given)
        assert np.array_equal(found.labels, data.labels)
        assert np.isnan(found.inputs[1:, 2]).all()
        return np.nan_to_num(found.inputs, nan=9.0)

    assert np.array_equal(known(nothing(data)) == 0, ~np.isnan(inputs))
    of_conditions = known(one_hot(conditions))
    assert of_conditions[:, 0].tolist() == [[1, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]]
    assert np.array_equal(of_conditions[:, 1], of_conditions[:, 0])


def of_worlds(worlds: str, labels: object) -> ProbeDataset:
    """Training turns of worlds with names of one letter."""
    return ProbeDataset(
        inputs=np.zeros((len(worlds), 2), np.float32),
        labels=np.array(labels),
        groups=np.array([*worlds]),
    )


def test_labels_of_whole_worlds_are_exchanged_together() -> None:
    """The turns of a world get those of one other world, in any order, each as often as
    the others where it has fewer.
    """
    own = {"a": [10, 11, 12], "b": [20], "c": [30, 31]}
    orders: Counter[tuple[int, ...]] = Counter()
    data = of_worlds("acbaca", [10, 30, 20, 11, 31, 12])
    times: Counter[str] = Counter()
    for seed in range(120):
        found = exchanged(data, np.random.default_rng(seed))
        labels = {world: found.labels[data.groups == world].tolist() for world in own}
        others = {}
        for world, theirs in labels.items():
            (others[world],) = {"abc"[label // 10 - 1] for label in theirs}
            times_given = Counter(theirs).values()
            assert max(times_given) - min(times_given) <= 1
            if len(own[others[world]]) >= len(own[world]):
                assert len(times_given) == len(own[world])
        orders[tuple(labels["a"])] += 1
        assert sorted(others.values()) == [*"abc"]
        times["".join(others.values())] += 1
        assert found.inputs is data.inputs and found.groups is data.groups
    assert {(10, 11, 12), (12, 11, 10), (30, 31, 30), (31, 30, 31)} < orders.keys()
    # Each of the six exchanges is as likely.
    assert len(times) == 6 and min(times.values()) > 8
    assert data.labels.tolist() == [10, 30, 20, 11, 31, 12]


def test_turns_without_a_label_stay_without_one_and_give_none() -> None:
    data = of_worlds("aabbc", [np.nan, 1.0, 2.0, np.nan, np.nan])
    several = [exchanged(data, np.random.default_rng(i)).labels for i in range(20)]
    for labels in several:
        assert np.isnan(labels).tolist() == [True, False, False, True, True]
    assert {tuple(labels[1:3]) for labels in several} == {(1.0, 2.0), (2.0, 1.0)}

    # A label of which a part is not known is none, and is left as it is.
    partly = [[1.0, 1.0], [2.0, np.nan], [3.0, 3.0]]
    wide = of_worlds("abc", partly)
    drawn = set()
    for seed in range(20):
        first, second, third = exchanged(wide, np.random.default_rng(seed)).labels
        assert second[0] == 2 and np.isnan(second[1])
        drawn.add((*first, *third))
    assert drawn == {(1, 1, 3, 3), (3, 3, 1, 1)}


def test_without_any_label_there_is_nothing_to_exchange() -> None:
    data = of_worlds("ab", [np.nan, np.nan])
    assert np.isnan(exchanged(data, np.random.default_rng(0)).labels).all()


EPISODES = {"0/0/0": "a", "0/0/1": "a", "1/0/0": "a", "0/1/0": "b", "0/2/0": "c"}
"""Episodes and their worlds."""
ROWS = [(episode, turn) for episode in EPISODES for turn in range(3)]


def test_one_turn_of_each_world_is_drawn_by_the_seed() -> None:
    times = Counter()
    for seed in range(900):
        chosen = one_turn_of_each(ROWS, EPISODES, seed)
        # World a is in two conditions.
        places = sorted((EPISODES[episode], episode[0]) for episode, _ in chosen)
        assert places == [("a", "0"), ("a", "1"), ("b", "0"), ("c", "0")]
        times.update(chosen)
    # Its first condition has six turns, the other one and the other worlds three.
    assert len(times) == 15
    for (episode, _), n in times.items():
        repeated = EPISODES[episode] == "a" and episode[0] == "0"
        assert n == pytest.approx(150 if repeated else 300, rel=0.35)


def test_the_turn_of_a_world_depends_on_its_own_turns_alone() -> None:
    whole = one_turn_of_each(ROWS, EPISODES, 5)
    assert one_turn_of_each(reversed(ROWS), EPISODES, 5) == whole
    for world in "abc":
        own = [row for row in ROWS if EPISODES[row[0]] == world]
        assert one_turn_of_each(own, EPISODES, 5) < whole
    assert one_turn_of_each([], EPISODES, 5) == set()
