"""What decoded numbers stand for goes with them from the labels to the stored
report.
"""

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
    Control,
    Fit,
    ProbeDataset,
    ProbeLabels,
    ProbeReport,
)
from gde.errors import GdeError
from gde.stages.probing import OF_A_LAYER, controlled, dataset_classes, list_fits
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
    held_out = np.array([False, False, True, True])
    conditions = np.array([0, 2, 1, 0])

    def told(control: Control) -> NDArray[np.float32]:
        rng = np.random.default_rng(0)
        found = controlled(data, control, conditions, held_out, rng)
        assert np.array_equal(found.labels, data.labels)
        assert np.isnan(found.inputs[1:, 2]).all()
        return np.nan_to_num(found.inputs, nan=9.0)

    assert np.array_equal(told("coordinates") == 0, ~np.isnan(inputs))
    of_conditions = told("conditions")
    assert of_conditions[:, 0].tolist() == [[1, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]]
    assert np.array_equal(of_conditions[:, 1], of_conditions[:, 0])


def test_labels_are_shuffled_among_training_turns_alone() -> None:
    n, held_out = 40, np.arange(40) % 3 == 0
    inputs, groups = (
        np.zeros((n, 2), np.float32),
        np.array([f"world {i}" for i in range(n)]),
    )
    data = ProbeDataset(inputs=inputs, labels=np.arange(n), groups=groups)
    rng = np.random.default_rng(0)
    shuffled = controlled(data, "shuffled", np.zeros(n, np.intp), held_out, rng)
    assert np.array_equal(shuffled.labels[held_out], data.labels[held_out])
    trained = shuffled.labels[~held_out]
    assert np.array_equal(np.sort(trained), data.labels[~held_out])
    assert (trained != data.labels[~held_out]).mean() > 0.8
    assert shuffled.inputs is data.inputs and shuffled.groups is data.groups
