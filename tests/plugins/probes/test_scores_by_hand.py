"""Scores of maps whose padding is not the last class, and of readers that know training
frequencies alone, equal numbers worked out by hand.
"""

import numpy as np
import pytest
from numpy.typing import NDArray

from gde.data.result import Measurement
from gde_plugins.probes.maps.scores import (
    class_frequencies,
    distances,
    likeliest_on_map,
    of_known,
    score_maps,
)

CLASSES = ("empty", "pad", "start", "wall")
SYMBOLS = "_+S#"
"""One for each class."""
GROUPS = np.array(["one", "two", "three", "four", "five", "six", "seven", "eight"])
TRAINED = ("####/#S_#/#_##/####", "####/#_S#/####/####", "####/#S_#/#_##/####")
TRUE = ("####/#S_#/#_##/####", "####/#S##/#__#/####")


def maps(*drawings: str) -> NDArray[np.int64]:
    """(N, size, size) codes of maps drawn with one symbol a cell and a slash between
    rows.
    """
    codes = [
        [[SYMBOLS.index(symbol) for symbol in row] for row in one.split("/")]
        for one in drawings
    ]
    return np.array(codes)


def certain(cells: NDArray[np.int64]) -> NDArray[np.float32]:
    return np.eye(len(CLASSES), dtype=np.float32)[cells]


def scored(
    true: tuple[str, ...],
    decoded: tuple[str, ...],
    prior: NDArray[np.float32] | None = None,
) -> dict[str, Measurement]:
    found = score_maps(
        certain(maps(*decoded)),
        maps(*true),
        GROUPS[: len(true)],
        CLASSES,
        np.random.default_rng(0),
        prior,
    )
    return {one.name: one for one in found}


def test_frequencies_are_shares_of_the_maps_at_each_cell() -> None:
    found = class_frequencies(maps(*TRAINED), len(CLASSES))
    assert found.shape == (4, 4, 4)
    assert found[1, 1] == pytest.approx([1 / 3, 0, 2 / 3, 0])
    assert found[2, 2].tolist() == found[0, 0].tolist() == [0, 0, 0, 1]
    assert found.sum(axis=-1) == pytest.approx(np.ones((4, 4)))


def test_readers_of_frequencies_name_the_commonest_class_of_a_cell_or_of_all() -> None:
    """The first names the start at the upper left, walls at the border and the lower
    right, and empty cells elsewhere. The second names every cell empty: five of twelve
    inner cells are.
    """
    prior = class_frequencies(maps(*TRAINED), len(CLASSES))
    found = scored(TRUE, TRUE, prior)
    values = {
        "accuracy.interior.majority": 6 / 8,
        "accuracy.interior.constant": 4 / 8,
        "accuracy.grid.majority": 30 / 32,
        "accuracy.grid.constant": 4 / 32,
        "recall.macro.majority": (3 / 4 + 2 / 2 + 25 / 26) / 3,
        "recall.macro.constant": (1 + 0 + 0) / 3,
    }
    assert {name: found[name].value for name in values} == pytest.approx(values)
    assert found["accuracy.grid"].value == 1


def test_without_inner_cells_the_commonest_class_is_that_of_all_cells() -> None:
    prior = class_frequencies(maps("##/_#", "#S/##"), len(CLASSES))
    found = scored(("_#/##",), ("_#/##",), prior)
    assert found["accuracy.grid.constant"].value == 3 / 4
    reason = found["accuracy.interior.constant"].reason
    assert reason == "no map has cells within its outermost ones"
    assert found["accuracy.interior"].reason == reason


def test_readers_of_frequencies_are_there_with_frequencies_alone() -> None:
    names = scored(TRUE, TRUE).keys()
    assert not any(name.endswith((".majority", ".constant")) for name in names)


def test_a_class_that_no_map_has_twice_is_located() -> None:
    found = scored(TRUE, ("####/#_S#/####/####", "####/##_#/#_S#/####"))
    assert found["distance.start"].value == (1 + 2) / 2
    assert found["top1.start"].value == 0
    located = {name for name in found if name.startswith(("top1", "spread"))}
    assert located == {"top1.start", "spread.start"}


def test_classes_behind_the_padding_keep_their_places() -> None:
    probabilities = np.array([[0.1, 0.6, 0.2, 0.1], [0.2, 0.7, 0.0, 0.1]])
    assert likeliest_on_map(probabilities, CLASSES).tolist() == [2, 0]
    walls = np.array([0.1, 0.6, 0.1, 0.2])
    assert likeliest_on_map(walls, CLASSES) == 3


def test_padded_maps_are_scored_on_their_own_cells() -> None:
    """The smaller map is three cells wide and has one inner cell, decoded as empty."""
    true = ("####/#S_#/#_##/####", "###+/#S#+/###+/++++")
    decoded = ("####/#S_#/#_##/####", "###+/#_#+/##_+/++++")
    found = scored(true, decoded)
    assert found["accuracy"].value == 30 / 32
    assert found["accuracy.grid"].value == 23 / 25
    assert found["accuracy.interior"].value == 4 / 5
    assert found["recall.pad"].value == 1
    assert found["recall.interior.wall"].value == 1
    assert found["precision.empty"].value == 2 / 4
    assert found["recall.macro"].value == pytest.approx((1 + 1 / 2 + 20 / 21) / 3)


def test_a_distance_without_a_miss_is_bounded_by_the_whole_decoded_square() -> None:
    """Eight worlds of 3x3 in a square of 4x4, whose corners are six steps apart."""
    true = ("###+/#S#+/###+/++++",) * 8
    bound = scored(true, true)["distance.start"].interval
    assert bound is not None
    assert bound[1] == pytest.approx(6 * (1 - 0.025 ** (1 / 8)))


def test_a_distance_is_rows_plus_columns_in_each_map() -> None:
    cells = maps("S___/____/____/____", "____/____/____/___S")
    decoded = certain(maps("____/___S/____/____", "____/____/S___/____"))
    assert distances(decoded, cells, 2).tolist() == [4, 4]
    assert distances(certain(cells), cells, 2).tolist() == [0, 0]


def test_what_was_never_trained_on_is_replaced_by_a_reason() -> None:
    where = {"control": "none"}
    measured = [
        Measurement(name=name, value=0.5, unit="share", n=3, where=where)
        for name in ("recall.wall", "precision.interior.start", "accuracy")
    ]
    wall, start, accuracy = of_known(measured, {"start"})
    assert (wall, accuracy) == (measured[0], measured[2])
    assert (start.name, start.value, start.where) == (
        "precision.interior.start",
        None,
        where,
    )
    assert start.reason == "no start cell in the grids that were trained on"
