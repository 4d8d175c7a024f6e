"""The probe of rows and columns: what it finds, and what it says of it."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from gde.data.cell_map import KINDS, decoded_classes
from gde.data.probe import ProbeDataset
from gde.testing import check_probe
from gde_plugins.probes.config import PlacesConfig
from gde_plugins.probes.fitting.ridge import RidgeFits
from gde_plugins.probes.fitting.weights import z_scores
from gde_plugins.probes.places.probe import PlacesProbe, PlacesReadout
from gde_plugins.probes.places.ridge import fit_coordinates

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


@pytest.mark.extended
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


def test_rows_and_columns_are_hit_or_missed_apart() -> None:
    """An agent that is decoded in its row, in its column, in both, or in neither."""
    cells = np.full((4, SIDE, SIDE), EMPTY)
    cells[:, 1, 2] = AGENT
    decoded = np.zeros((4, 2 * len(CLASSES), SIDE), np.float32)
    for turn, (row, column) in enumerate([(1, 3), (2, 2), (1, 2), (2, 1)]):
        decoded[turn, 2 * AGENT, row] = 1
        decoded[turn, 2 * AGENT + 1, column] = 1
    test = ProbeDataset(
        inputs=np.zeros((4, 1), np.float32),
        labels=cells,
        groups=np.array([*"abcd"]),
        classes=CLASSES,
    )
    scores = PROBE.turn_scores(decoded, test)
    assert scores["top1.row.agent"].tolist() == [1, 0, 1, 0]
    assert scores["top1.column.agent"].tolist() == [0, 1, 1, 0]
    assert scores["top1.agent"].tolist() == [0, 0, 1, 0]


def test_a_guess_is_among_the_rows_and_the_columns_of_the_map(
    planted: Planted,
) -> None:
    test = planted(20, 1)
    readout = fitted(planted(60, 0))
    cells = np.full((20, SIDE, SIDE), PAD)
    cells[:, :3, :5] = EMPTY
    cells[:, 1, 1], cells[:, 1, 2] = AGENT, GOAL
    found = PROBE.likelihoods(readout, replace(test, labels=cells))
    assert np.allclose(found["agent"].uniform, [1 / 3, 1 / 5])


def test_a_thing_that_is_there_twice_has_no_place(planted: Planted) -> None:
    test = planted(20, 1)
    readout = fitted(planted(60, 0))
    cells = test.labels.copy()
    cells[3, 0, 0] = AGENT
    twice = replace(test, labels=cells)
    scores = PROBE.turn_scores(readout.predict(test.inputs), twice)
    assert np.flatnonzero(np.isnan(scores["top1.agent"])).tolist() == [3]
    fits = PROBE.likelihoods(readout, twice)["agent"].fitted
    assert np.flatnonzero(np.isnan(fits).all(axis=1)).tolist() == [3]


def test_scores_have_intervals_over_worlds(planted: Planted) -> None:
    # Two turns are of one world.
    test = planted(60, 1)
    for one in PROBE.score(fitted(planted(60, 0)), test, RNG):
        assert (one.n, one.clusters) == (60, 30)


def test_penalties_are_chosen_for_worlds_that_were_left_out() -> None:
    """All turns of a world are the same, and worlds have nothing in common: what is
    known of a world from another turn of it is worth nothing elsewhere.
    """
    rng = np.random.default_rng(0)
    worlds = np.repeat(np.arange(20), 4)
    cells = np.full((20, SIDE, SIDE), EMPTY)
    cells[np.arange(20), rng.integers(SIDE, size=20), rng.integers(SIDE, size=20)] = (
        AGENT
    )
    train = ProbeDataset(
        inputs=rng.normal(size=(20, 40)).astype(np.float32)[worlds],
        labels=cells[worlds],
        groups=worlds.astype(str),
        classes=CLASSES,
    )
    likeliest = fitted(train).predict(train.inputs)[:, 2 * AGENT].max(axis=-1)
    assert likeliest.mean() < 0.5


def test_a_coordinate_is_fitted_as_if_it_were_alone() -> None:
    """One is in the activations, the other is not, so that penalties differ."""
    rng = np.random.default_rng(0)
    coordinates = rng.integers(3, size=(60, 2))
    inputs = rng.normal(size=(60, 12)).astype(np.float32)
    inputs[:, :3] += 4 * np.eye(3)[coordinates[:, 0]]
    worlds = (np.arange(60) // 2).astype(str)
    penalties = (0.1, 10.0, 1000.0)
    both = fit_coordinates(inputs, coordinates, 3, worlds, penalties)
    for k in (0, 1):
        alone = fit_coordinates(inputs, coordinates[:, [k]], 3, worlds, penalties)
        assert np.allclose(both.weights[:, k], alone.weights[:, 0], atol=1e-5)
        assert np.allclose(both.bias[k], alone.bias[0], atol=1e-5)


def test_weights_and_biases_have_the_same_temperature() -> None:
    rng = np.random.default_rng(0)
    coordinates = rng.integers(3, size=(60, 1))
    inputs = rng.normal(size=(60, 12)).astype(np.float32)
    inputs[:, :3] += 2 * np.eye(3)[coordinates[:, 0]]
    worlds = np.arange(60).astype(str)
    found = fit_coordinates(inputs, coordinates, 3, worlds, (1.0,))

    mean, scale = z_scores(inputs)
    scored = ((inputs - mean) / scale).astype(np.float64)
    fits = RidgeFits(scored, np.eye(3)[coordinates])
    temperatures = fits.weights(1.0) / found.weights
    temperature = temperatures.mean()
    assert np.allclose(temperatures, temperature, rtol=1e-3)
    assert temperature < 0.5
    # Scores of a one-hot vector add up to one, before they are divided.
    assert found.bias.sum() == pytest.approx(1 / temperature, rel=1e-3)


def test_activations_of_another_scale_and_origin_are_read_alike(
    planted: Planted,
) -> None:
    train, test = planted(30, 0), planted(10, 1)
    usual = fitted(train).predict(test.inputs)
    moved = fitted(replace(train, inputs=5 + 3 * train.inputs))
    assert np.allclose(moved.predict(5 + 3 * test.inputs), usual, atol=1e-3)
