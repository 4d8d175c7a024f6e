"""The probe of rows and columns: what it finds, and what it says of it."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from gde.data.cell_map import KINDS, decoded_classes
from gde.data.probe import ProbeDataset
from gde.testing import check_probe
from gde_plugins.probes.config import PlacesConfig
from gde_plugins.probes.places.probe import PlacesProbe, PlacesReadout

Planted = Callable[[int, int], ProbeDataset]
SIDE = 7
CLASSES = decoded_classes(KINDS)
EMPTY, AGENT, GOAL, WALL, PAD = range(5)
PROBE = PlacesProbe(PlacesConfig(size=SIDE))
RNG = np.random.default_rng(0)


def fitted(train: ProbeDataset) -> PlacesReadout:
    readout = PROBE.fit("linear", train, RNG)
    assert isinstance(readout, PlacesReadout)
    return readout


def test_it_keeps_the_promises_of_a_probe() -> None:
    check_probe(lambda: PlacesProbe(PlacesConfig(layer=(1,))))


def test_planted_rows_and_columns_are_found(planted: Planted) -> None:
    test = planted(60, 1)
    readout = fitted(planted(60, 0))
    found = {one.name: one for one in PROBE.score(readout, test, RNG)}
    for thing in ("agent", "goal"):
        for kind in ("top1", "top1.row", "top1.column"):
            one = found[f"{kind}.{thing}"]
            assert one.value is not None and one.value > 0.9
            assert one.interval is not None
    assert len(found) == 6


def test_nothing_is_found_in_noise(planted: Planted) -> None:
    train, test = planted(60, 0), planted(60, 1)
    noise = np.random.default_rng(2).normal(size=train.inputs.shape)
    readout = fitted(replace(train, inputs=noise.astype(np.float32)))
    for one in PROBE.score(readout, test, RNG):
        assert one.value is not None and one.value < 0.6


def test_likelihoods_are_those_of_the_true_row_and_column(planted: Planted) -> None:
    test = planted(20, 1)
    readout = fitted(planted(60, 0))
    decoded = readout.predict(test.inputs)
    found = PROBE.likelihoods(readout, test)
    assert list(found) == ["agent", "goal"]
    for code, name in ((AGENT, "agent"), (GOAL, "goal")):
        for turn, cells in enumerate(test.labels):
            row, column = np.argwhere(cells == code)[0]
            assert found[name].fitted[turn] == pytest.approx(
                [decoded[turn, 2 * code, row], decoded[turn, 2 * code + 1, column]]
            )
            side = (cells[0] != PAD).sum()
            assert found[name].uniform[turn] == pytest.approx([1 / side] * 2)
    rows = decoded[:, [2 * AGENT, 2 * AGENT + 1]]
    assert rows.sum(axis=-1) == pytest.approx(1, abs=1e-5)


def test_turns_without_the_thing_do_not_count(planted: Planted) -> None:
    test = planted(20, 1)
    readout = fitted(planted(60, 0))
    cells = test.labels.copy()
    cells[3][cells[3] == GOAL] = 0
    without = replace(test, labels=cells)
    scores = PROBE.turn_scores(readout.predict(test.inputs), without)
    assert np.isnan(scores["top1.goal"][3]) and np.isfinite(scores["top1.agent"]).all()
    assert np.isnan(PROBE.likelihoods(readout, without)["goal"].fitted[3]).all()


def test_only_what_every_training_map_has_once_is_decoded(planted: Planted) -> None:
    train = planted(40, 0)
    cells = train.labels.copy()
    cells[0][cells[0] == GOAL] = 0
    readout = fitted(replace(train, labels=cells))
    assert readout.things.tolist() == [AGENT]
    assert set(PROBE.likelihoods(readout, train)) == {"agent"}

    cells[0][cells[0] == AGENT] = 0
    with pytest.raises(ValueError, match="exactly once"):
        fitted(replace(train, labels=cells))


def test_a_stored_readout_predicts_the_same(planted: Planted) -> None:
    readout = fitted(planted(30, 0))
    again = PROBE.load("linear", readout.arrays())
    test = planted(10, 1)
    assert np.array_equal(readout.predict(test.inputs), again.predict(test.inputs))
    assert readout.n_classes == len(CLASSES)
