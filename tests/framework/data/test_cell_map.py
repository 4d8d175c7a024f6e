"""A map is what its facts say, and facts that say something else are named."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gde.data.cell_map import KINDS, PAD, CellMap, Thing, decoded_classes, kinds_of
from gde.data.observation import State, World
from gde.store.rows import to_json

ROOM: dict[str, Any] = {
    "rows": ["WWWWW", "W..LW", "W...W", "WWWWW"],
    "cells": {"W": "wall", ".": "floor", "L": "lava"},
    "kinds": ["floor", "agent", "door", "ball", "wall", "lava"],
    "things": {
        "agent": {"kind": "agent", "letter": "A"},
        "red ball": {"kind": "ball", "letter": "B", "color": "red"},
        "way out": {"kind": "door", "letter": ""},
        "mat": {},
    },
    "red ball": [1, 1],
}
NOW: dict[str, Any] = {
    "agent": {"place": [2, 1], "direction": [0, 1]},
    "way out": {"place": [2, 4], "note": "yellow, locked"},
    "mat": [2, 1],
}


def read(facts: dict[str, Any], now: dict[str, Any]) -> CellMap:
    return CellMap.from_record(World(id="w", facts=facts), State(facts=now))


def test_kinds_cells_and_things_are_those_of_the_record() -> None:
    found = read(ROOM, NOW)
    names = [[found.kinds[code] for code in row] for row in found.codes.tolist()]
    assert names == [
        ["wall"] * 5,
        ["wall", "ball", "floor", "lava", "wall"],
        ["wall", "agent", "floor", "floor", "door"],
        ["wall"] * 5,
    ]
    assert found.things == (
        Thing(name="agent", place=(2, 1), kind="agent", letter="A", direction=(0, 1)),
        Thing(name="way out", place=(2, 4), kind="door", note="yellow, locked"),
        Thing(name="red ball", place=(1, 1), kind="ball", letter="B", color="red"),
        Thing(name="mat", place=(2, 1), letter="M"),
    )
    assert found.place_of("red ball") == (1, 1)
    assert found.where("lava").sum() == 1
    assert (found.height, found.width) == (4, 5)


def test_a_plain_grid_needs_no_more_than_rows() -> None:
    found = read({"rows": ["####", "#__#", "####"], "goal": [1, 2]}, {"agent": [1, 1]})
    assert found.kinds == KINDS == ("empty", "agent", "goal", "wall")
    assert found.codes[1].tolist() == [3, 1, 2, 3]
    assert [(thing.name, thing.letter) for thing in found.things] == [
        ("agent", "A"),
        ("goal", "G"),
    ]


def test_what_a_state_says_overrides_the_world_and_null_takes_a_thing_away() -> None:
    facts = {"rows": ["___"], "goal": [0, 2], "agent": [0, 0]}
    assert read(facts, {"agent": [0, 1], "goal": None}).codes.tolist() == [[0, 1, 0]]
    assert read(facts, {"rows": ["##_"]}).codes.tolist() == [[1, 3, 2]]
    assert read(facts, {"agent": [0, 2]}).codes.tolist() == [[0, 0, 1]]


@given(st.permutations(["agent", "goal"]))
def test_the_order_of_facts_says_nothing(order: list[str]) -> None:
    """Neither do records keep it: the kinds' order says which of two things in a cell
    is seen.
    """
    things = {name: {"kind": name} for name in order}
    found = read({"rows": ["_"], "things": things}, {name: [0, 0] for name in order})
    assert found.codes.tolist() == [[1]]
    assert [thing.name for thing in found.things] == ["agent", "goal"]


@given(st.integers(1, 6), st.integers(1, 6), st.data())
def test_a_map_survives_the_journal(
    height: int, width: int, data: st.DataObject
) -> None:
    cell = st.tuples(st.integers(0, height - 1), st.integers(0, width - 1)).map(list)
    rows = data.draw(
        st.lists(
            st.text("#_", min_size=width, max_size=width),
            min_size=height,
            max_size=height,
        )
    )
    facing = {"direction": [-1, 0], "note": "n"}
    now = {
        "agent": {"place": data.draw(cell), **facing},
        "goal": data.draw(st.none() | cell),
    }
    first, again = (
        read({"rows": rows}, now),
        read(json.loads(to_json({"rows": rows})), json.loads(to_json(now))),
    )
    assert (again.codes == first.codes).all()
    assert again.things == first.things
    walls = np.array([[symbol == "#" for symbol in row] for row in rows])
    covered = np.zeros_like(walls)
    for thing in first.things:
        covered[thing.place] = True
    assert (first.where("wall") == walls & ~covered).all()


def test_padding_is_the_last_class_and_lies_to_the_right_and_below() -> None:
    found = read({"rows": ["##", "#_", "##"]}, {})
    assert decoded_classes(found.kinds) == (*KINDS, PAD)
    padded = found.padded(4)
    assert (padded[:3, :2] == found.codes).all()
    assert (padded == 4).sum() == 16 - 6
    with pytest.raises(ValueError, match="a 3x2 map does not fit into 2x2"):
        found.padded(2)


def test_a_map_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        read(ROOM, NOW).codes[0, 0] = 0


def test_what_is_not_on_the_map_is_named() -> None:
    found = read(ROOM, {})
    with pytest.raises(
        ValueError,
        match=r"wanted a map with 'agent' on it, got one with \['red ball'\]",
    ):
        found.place_of("agent")
    with pytest.raises(
        ValueError, match=r"kind of a map: wanted one of floor, agent, .*, got 'water'"
    ):
        found.where("water")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            {"rows": None},
            "`rows` of a map: wanted a list of equally long texts, got None",
        ),
        (
            {"rows": "####"},
            "`rows` of a map: wanted a list of equally long texts, got '####'",
        ),
        ({"rows": ["WW", "W"]}, r"wanted equally long texts, got lengths \[2, 1\]"),
        ({"rows": [""]}, r"wanted equally long texts, got lengths \[0\]"),
        ({"rows": ["W?"]}, r"wanted the symbols \., L, W, got \['\?'\]"),
        ({"cells": ["W"]}, r"`cells` of a map: wanted symbol to kind, got \['W'\]"),
        (
            {"cells": {"W": "water"}},
            "kind for the symbol 'W': wanted one of floor, .*, got 'water'",
        ),
        ({"kinds": "wall"}, "`kinds` of a map: wanted a list of names, got 'wall'"),
        ({"kinds": [*ROOM["kinds"], "wall"]}, "wanted distinct names other than 'pad'"),
        ({"kinds": [*ROOM["kinds"], "pad"]}, "wanted distinct names other than 'pad'"),
        (
            {"things": ["agent"]},
            r"`things` of a map: wanted name to .*, got \['agent'\]",
        ),
        ({"things": {"agent": "A"}}, "wanted name to .*, got {'agent': 'A'}"),
        (
            {"things": {"red ball": {"kind": "cube"}}},
            "kind of 'red ball': wanted one of .*, got 'cube'",
        ),
        (
            {"things": {"red ball": {"letter": 3}}},
            "`things` of a map: .*, got {'red ball': {'letter': 3}}",
        ),
        (
            {"things": {"red ball": {"color": "#f00"}}},
            "color of 'red ball': wanted one of blue, .*, got '#f00'",
        ),
        (
            {"red ball": [1]},
            r"'red ball': wanted \[row, column\], .*, got {'place': \[1\]}",
        ),
        (
            {"red ball": [True, False]},
            r"'red ball': wanted \[row, column\], .*, got {'place': \[True, False\]}",
        ),
        (
            {"red ball": [4, 0]},
            r"'red ball': wanted a place on a map of 4x5, got \(4, 0\)",
        ),
        (
            {"red ball": [-1, 0]},
            r"'red ball': wanted a place on a map of 4x5, got \(-1, 0\)",
        ),
        (
            {"red ball": {"note": "lost"}},
            r"'red ball': wanted .*, got {'note': 'lost'}",
        ),
        (
            {"red ball": {"place": [1, 1], "direction": "up"}},
            r"'red ball': wanted .*, got .*'direction': 'up'}",
        ),
        (
            {"red ball": {"place": [1, 1], "note": 7}},
            "'red ball': wanted .*, got .*'note': 7}",
        ),
    ],
)
def test_wrong_records_are_named(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read({**ROOM, **wrong}, NOW)


def test_codes_of_no_kind_are_refused() -> None:
    for codes in (np.zeros((0, 2), int), np.zeros(3, int), np.full((1, 1), 4)):
        with pytest.raises(
            ValueError, match=r"wanted \(height, width\) indices of 4 kinds"
        ):
            CellMap(kinds=KINDS, codes=codes)


def test_kinds_are_those_of_the_world() -> None:
    assert kinds_of(World(id="w")) == KINDS
    assert kinds_of(World(id="w", facts=ROOM)) == tuple(ROOM["kinds"])
