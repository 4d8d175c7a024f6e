"""Scores of hand-made maps equal numbers worked out by hand."""

import numpy as np
import pytest
from numpy.typing import NDArray

from gde.data.cell_map import KINDS, decoded_classes
from gde.data.result import Measurement
from gde_plugins.probes.maps.estimates import Scores
from gde_plugins.probes.maps.scores import (
    interior,
    place_likelihoods,
    possible_cells,
    score_maps,
    wall_likelihoods,
)

CLASSES = decoded_classes(KINDS)
EMPTY, AGENT, GOAL, WALL, PAD = range(5)

SYMBOLS = {"_": EMPTY, "A": AGENT, "G": GOAL, "#": WALL, "+": PAD}
GROUPS = np.array(["one", "two"])
TRUE = ("####/#AG#/#__#/####", "###+/#A#+/###+/++++")
DECODED = ("####/#_G#/#AA#/####", "###+/#A#+/#+#+/++++")


def maps(drawings: tuple[str, ...]) -> NDArray[np.int64]:
    """(N, size, size) codes of maps drawn with one symbol a cell and a slash between
    rows.
    """
    return np.array(
        [
            [[SYMBOLS[symbol] for symbol in row] for row in one.split("/")]
            for one in drawings
        ]
    )


def certain(cells: NDArray[np.int64]) -> NDArray[np.float32]:
    return np.eye(len(CLASSES), dtype=np.float32)[cells]


def scores(
    true: tuple[str, ...],
    decoded: NDArray[np.float32],
    groups: NDArray[np.str_] = GROUPS,
) -> dict[str, Measurement]:
    measured = score_maps(
        decoded, maps(true), groups, CLASSES, np.random.default_rng(0)
    )
    return {measurement.name: measurement for measurement in measured}


def test_every_score_of_two_small_maps() -> None:
    found = scores(TRUE, certain(maps(DECODED)))
    expected = {
        "recall.agent": 1 / 2,
        "precision.agent": 1 / 3,
        "recall.goal": 1.0,
        "precision.goal": 1.0,
        "recall.empty": 0.0,
        "precision.empty": 0.0,
        "recall.wall": 19 / 20,
        "precision.wall": 1.0,
        "recall.pad": 1.0,
        "precision.pad": 7 / 8,
        "accuracy": 28 / 32,
        "accuracy.interior": 2 / 5,
        "top1.agent": 1 / 2,
        "distance.agent": 1 / 2,
        "top1.goal": 1.0,
        "distance.goal": 0.0,
        "spread.agent": (3 / 2 + 0) / 2,
        "spread.goal": 0.0,
        "accuracy.grid": 21 / 25,
        "recall.macro": (0 / 2 + 1 / 2 + 1 / 1 + 19 / 20) / 4,
        "recall.interior.wall": None,
        "precision.interior.wall": None,
        "auc.empty": 0.25,
        "auc.agent": 1 / 6,
        "auc.goal": 1.0,
        "auc.wall": None,
        "brier": (2 * 3 / 16 + 2 * 1 / 9) / 2,
        "calibration": 4 / 25,
    }
    assert {
        name: measurement.value for name, measurement in found.items()
    } == pytest.approx(expected)


def test_a_location_is_the_likeliest_of_all_cells_and_not_of_those_called_so() -> None:
    decoded = certain(maps(TRUE[:1])) * 0.9
    decoded[0, 1, 1] = [0.6, 0.4, 0, 0, 0]
    decoded[0, 3, 3, AGENT] = 0.3
    found = scores(TRUE[:1], decoded, GROUPS[:1])
    assert found["top1.agent"].value == 1
    assert found["precision.agent"].value is None


def test_distance_is_rows_plus_columns() -> None:
    decoded = certain(maps(("####/#_G#/#__#/###A",)))
    assert scores(TRUE[:1], decoded, GROUPS[:1])["distance.agent"].value == 4


def test_a_class_that_is_never_there_or_never_decoded_has_a_reason() -> None:
    true, decoded = ("###/#A#/###",), certain(maps(("###/#A#/###",)))
    found = scores(true, decoded, GROUPS[:1])
    assert found["recall.goal"].value is None
    assert found["recall.goal"].reason == "no goal cell on the held-out maps"
    assert found["precision.pad"].reason == "no cell was decoded as pad"
    assert (
        found["top1.goal"].reason
        == found["distance.goal"].reason
        == "no goal cell on the held-out maps"
    )


def test_turns_without_a_goal_do_not_count_for_its_location() -> None:
    found = scores(TRUE, certain(maps(DECODED)))
    assert (found["top1.agent"].n, found["top1.goal"].n, found["accuracy"].n) == (
        2,
        1,
        2,
    )


def test_intervals_hold_the_value_and_repeat_with_the_seed() -> None:
    rng = np.random.default_rng(1)
    true = maps(TRUE[:1]).repeat(40, axis=0)
    decoded = rng.random((40, 4, 4, 5)).astype(np.float32)
    decoded[rng.random(40) < 0.5] = certain(true[:1])
    groups = np.array([f"world{row // 2}" for row in range(40)])
    first, again = (
        score_maps(decoded, true, groups, CLASSES, np.random.default_rng(2))
        for _ in range(2)
    )
    assert first == again
    for measurement in first:
        if measurement.name != "recall.pad" and measurement.value is not None:
            assert measurement.interval is not None
            assert (
                measurement.interval[0] <= measurement.value <= measurement.interval[1]
            )


def calibration(
    excess: float, worlds: int, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Value and bounds where the decoder is .65 or .95 sure and right that much less
    often, by worlds of one map.
    """
    sure = np.repeat([0.65, 0.95], 8).reshape(4, 4)
    right = rng.random((worlds, 4, 4)) < sure - excess + rng.uniform(
        -0.05, 0.05, size=(worlds, 1, 1)
    )
    decoded = np.zeros((worlds, 4, 4, len(CLASSES)), dtype=np.float32)
    decoded[..., WALL], decoded[..., EMPTY] = sure, 1 - sure
    scores = Scores(np.arange(worlds).astype(str), rng)
    scores.calibration(
        decoded, np.where(right, WALL, EMPTY), np.ones(right.shape, dtype=bool)
    )
    (found,) = scores.measurements
    assert found.value is not None and found.interval is not None
    return (found.value, *found.interval)


def test_intervals_of_the_calibration_cover_what_it_would_be_in_many_worlds() -> None:
    rng = np.random.default_rng(0)
    bounds = [calibration(0.15, 30, rng)[1:] for _ in range(200)]
    assert 0.9 < np.mean([low <= 0.15 <= high for low, high in bounds]) < 0.99


def test_no_calibration_error_is_less_than_zero() -> None:
    value, low, _ = calibration(0, 6, np.random.default_rng(0))
    assert low == 0 < value


def test_interior_lies_within_the_outer_wall_of_the_true_grid() -> None:
    inside = interior(maps(TRUE) != PAD)
    assert np.argwhere(inside[0]).tolist() == [[1, 1], [1, 2], [2, 1], [2, 2]]
    assert np.argwhere(inside[1]).tolist() == [[1, 1]]


def test_walls_within_are_told_apart_from_the_outer_wall() -> None:
    true, decoded = ("####/#A##/#_G#/####",), certain(maps(("####/#A_#/##G#/####",)))
    found = scores(true, decoded, GROUPS[:1])
    assert found["recall.wall"].value == 12 / 13
    assert found["recall.interior.wall"].value == 0
    assert found["precision.interior.wall"].value == 0
    assert found["auc.wall"].value == 1 / 3


def test_worlds_without_a_miss_do_not_show_that_there_is_none() -> None:
    true = maps(TRUE[:1]).repeat(20, axis=0)
    groups = np.array([f"world{row}" for row in range(20)])
    measured = score_maps(
        certain(true), true, groups, CLASSES, np.random.default_rng(0)
    )
    found = {one.name: one for one in measured}
    low, high = found["distance.agent"].interval or (1, 0)
    assert low == found["distance.agent"].value == 0
    assert high == pytest.approx(
        (1 - 0.025 ** (1 / 20)) * 6
    )  # the share of worlds that may miss, times the farthest


def test_padding_is_not_chosen_on_the_grid() -> None:
    decoded = certain(maps(TRUE[:1])) * 0.4
    decoded[..., PAD] = 0.6
    found = scores(TRUE[:1], decoded, GROUPS[:1])
    assert found["accuracy"].value == 0
    assert found["accuracy.grid"].value == found["recall.macro"].value == 1


def test_walls_are_coded_within_the_outermost_cells() -> None:
    true = maps(("#####/#A#_#/#####/+++++/+++++",))
    decoded = np.zeros((*true.shape, len(CLASSES)), np.float32)
    decoded[0, 1, 1, [EMPTY, WALL]] = 0.9, 0.1
    # Padding is known not to be there, so that its probability goes to the others.
    decoded[0, 1, 2, [WALL, AGENT, PAD]] = 0.4, 0.1, 0.5
    found = wall_likelihoods(decoded, true, CLASSES)["wall"]

    assert (found.uniform == 0.5).all()
    inner = found.fitted.reshape(5, 5)[1, 1:4]
    # A cell with no probability of anything is guessed.
    assert inner == pytest.approx([0.9, 0.8, 0.5])
    assert np.isnan(found.fitted).sum() == 25 - 3


def test_maps_without_walls_have_no_code_of_them() -> None:
    true = maps(("###/#A#/###", "###/#_#/###"))
    found = wall_likelihoods(certain(true), true, CLASSES)["wall"]
    assert np.isnan(found.fitted).all()
    assert wall_likelihoods(certain(true), true, ("empty", "agent", "pad")) == {}


LARGE = ("#####/#AG_#/#_###/#####/+++++", "#####/#__A#/###G#/#####/+++++")
SMALL = ("###++/#A#++/#G#++/###++/+++++", "###++/#G#++/#A#++/###++/+++++")
"""Maps of 4x5 and of 4x3 cells. The larger ones have one cell that is a wall in both."""


def test_a_thing_may_be_where_some_map_of_the_size_has_no_wall() -> None:
    possible = possible_cells(maps((*LARGE, *SMALL)), CLASSES)
    of_large = [[1, 1], [1, 2], [1, 3], [2, 1], [2, 3]]
    of_small = [[1, 1], [2, 1]]
    cells = [np.argwhere(one).tolist() for one in possible]
    assert cells == [of_large, of_large, of_small, of_small]
    # Maps of other sizes tell nothing, and one map tells of its own cells alone.
    (alone,) = possible_cells(maps(LARGE[:1]), CLASSES)
    assert np.argwhere(alone).tolist() == [[1, 1], [1, 2], [1, 3], [2, 1]]


def test_maps_of_swapped_sides_are_of_different_sizes() -> None:
    wide, high = "#####/#AG_#/#####/+++++/+++++", "###++/#A#++/#G#++/#_#++/###++"
    possible = possible_cells(maps((wide, high)), CLASSES)
    assert [np.argwhere(one).tolist() for one in possible] == [
        [[1, 1], [1, 2], [1, 3]],
        [[1, 1], [2, 1], [3, 1]],
    ]


def test_the_likelihood_of_a_place_is_its_share_among_the_possible_cells() -> None:
    true = maps((*LARGE, *SMALL))
    decoded = np.zeros((*true.shape, len(CLASSES)), np.float32)
    # Of the agent, .2 is where it is, and .3 in cells that cannot hold it.
    decoded[0, 1, 1, AGENT], decoded[0, 2, 3, AGENT] = 0.2, 0.5
    decoded[0, 2, 2, AGENT], decoded[0, 4, 4, AGENT] = 0.2, 0.1
    # In the second map all of it is elsewhere, in the third it has none anywhere.
    decoded[1, 1, 1, AGENT] = 1
    decoded[3, 1, 1, AGENT], decoded[3, 2, 1, AGENT] = 0.1, 0.3
    found = place_likelihoods(decoded, true, CLASSES)

    assert list(found) == ["agent", "goal"]
    assert found["agent"].uniform.ravel() == pytest.approx([1 / 5, 1 / 5, 1 / 2, 1 / 2])
    assert found["agent"].fitted.ravel() == pytest.approx(
        [0.2 / 0.7, 0, 1 / 2, 0.3 / 0.4]
    )
    # Never decoded, the goal is guessed.
    assert found["goal"].fitted == pytest.approx(found["goal"].uniform)


def test_a_turn_without_the_thing_has_no_likelihood() -> None:
    true = maps((LARGE[0].replace("G", "_"), LARGE[1]))
    found = place_likelihoods(certain(true), true, CLASSES)
    assert np.isnan(found["goal"].fitted).ravel().tolist() == [True, False]
    assert found["agent"].fitted.ravel().tolist() == [1, 1]


def test_what_a_map_has_twice_has_no_place() -> None:
    true = maps((LARGE[0].replace("_", "A"), LARGE[1]))
    assert list(place_likelihoods(certain(true), true, CLASSES)) == ["goal"]
