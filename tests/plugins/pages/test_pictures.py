"""Drawings of single turns."""

import re
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.typing import NDArray

from gde.data.cell_map import COLORS, CellMap, decoded_classes
from gde.data.observation import State, World
from gde_plugins.pages.figures.pictures import (
    SPARE_TONES,
    decoded_picture,
    decoded_places,
    legend,
    true_picture,
)
from gde_plugins.pages.templates import source

HOSTILE = '"><script>&'


def shown(facts: dict[str, Any]) -> CellMap:
    return CellMap.from_record(World(id="w", facts=facts), State(facts={}))


GRID = shown({"rows": ["####", "#__#", "####"], "agent": [1, 1], "goal": [1, 2]})
ROOM = shown(
    {
        "rows": ["######", "#_~__#", "######"],
        "cells": {"#": "wall", "_": "empty", "~": "lava"},
        "kinds": ["empty", "agent", "door", "ball", "wall", "lava"],
        "things": {
            "agent": {"kind": "agent"},
            "ball": {"kind": "ball"},
            "door": {"kind": "door"},
            "mat": {},
        },
        "agent": {"place": [1, 1], "direction": [-1, 0]},
        "ball": [1, 3],
        "door": {"place": [1, 5], "note": "red, locked"},
        "mat": [1, 4],
    }
)


COLOURED = shown(
    {
        "rows": ["____"],
        "cells": {"_": "empty"},
        "kinds": ["empty", "ball", "door"],
        "things": {
            "red ball": {"kind": "ball", "color": "red"},
            "target": {"kind": "ball", "color": "blue"},
            "way out": {"kind": "door", "color": "red"},
            "mat": {"color": "yellow"},
        },
        "red ball": [0, 0],
        "target": [0, 1],
        "way out": {"place": [0, 2], "note": "locked"},
        "mat": [0, 3],
    }
)


def certain(codes: NDArray[np.int64], n_classes: int) -> NDArray[np.float32]:
    return np.eye(n_classes, dtype=np.float32)[codes]


def texts(picture: str) -> list[str]:
    """What is written, without what is told to whoever points at it."""
    letters = ElementTree.fromstring(picture).iter("text")
    return [
        (each.text or "") + "".join(title.tail or "" for title in each)
        for each in letters
    ]


def test_arrows_point_where_moves_lead() -> None:
    picture = true_picture(GRID, optimal=[(-1, 0), (0, 1)], taken=(1, 0))
    assert (
        picture.count("rotate(-90)")
        == picture.count("rotate(0)")
        == picture.count("rotate(90)")
        == 1
    )
    assert picture.count('class="arrow best"') == 2
    assert picture.count('class="arrow stray"') == 1


def test_an_optimal_move_is_not_drawn_twice() -> None:
    assert "stray" not in true_picture(GRID, optimal=[(0, 1)], taken=(0, 1))
    assert "arrow" not in true_picture(GRID, optimal=[], taken=None)


def test_a_map_without_an_agent_has_no_arrows() -> None:
    empty = shown({"rows": ["__"], "goal": [0, 1]})
    assert "arrow" not in true_picture(empty, optimal=[(0, 1)], taken=(1, 0))
    assert "nothing on it" in true_picture(shown({"rows": ["__"]}), [], None)


def test_a_map_is_drawn_at_its_own_extent_truth_and_decoded() -> None:
    for picture in (
        true_picture(ROOM, [], None),
        decoded_picture(certain(ROOM.padded(9), 7), ROOM),
    ):
        assert 'viewBox="0 0 6 3"' in picture
        assert sum(n_cells(picture).values()) == 18


def n_cells(picture: str) -> dict[str, int]:
    """Class of a path to the number of cells that it goes through."""
    found = {}
    for path in ElementTree.fromstring(picture).iter("path"):
        if path.get("class", "").startswith("cell "):
            lengths = re.findall(r"h(\d+)", path.get("d", ""))
            found[path.get("class", "")] = sum(map(int, lengths))
    return found


def test_cells_side_by_side_are_one_line() -> None:
    """So that a map of 25 x 25 takes some thousand characters, not 14,000."""
    rows = ["#" * 25, *["#" + "_" * 23 + "#"] * 23, "#" * 25]
    drawn = true_picture(shown({"rows": rows}), [], None)
    assert n_cells(drawn) == {
        "cell tone-free shade4": 23 * 23,
        "cell tone-wall shade4": 4 * 24,
    }
    assert len(drawn) < 1500


def test_every_kind_has_a_colour_of_its_own() -> None:
    picture = true_picture(ROOM, [], None)
    for tone in ("free", "agent", "wall", *SPARE_TONES[:3]):
        assert f"tone-{tone} " in picture
    kinds = [f"kind {index}" for index in range(12)]
    many = shown(
        {
            "rows": ["abcdefghijkl"],
            "kinds": kinds,
            "cells": dict(zip("abcdefghijkl", kinds, strict=True)),
        }
    )
    assert all(f"tone-{tone} " in true_picture(many, [], None) for tone in SPARE_TONES)


def test_things_have_letters_and_face_some_way() -> None:
    picture = true_picture(ROOM, [], None)
    assert sorted(texts(picture)) == ["A", "B", "D", "M"]
    assert picture.count('class="pointer"') == 1
    assert "rotate(-90)" in picture
    assert 'class="letter object"' in picture
    assert "door (red, locked) at (1, 5)" in picture


def test_things_are_drawn_in_their_colour_and_told_with_it() -> None:
    picture = true_picture(COLOURED, [], None)
    assert n_cells(picture) == {
        "cell tone-free shade4": 1,
        "cell tone-red shade4": 2,
        "cell tone-blue shade4": 1,
    }
    places = "red ball at (0, 0), target (blue ball) at (0, 1), way out (red door, locked) at (0, 2)"
    assert f"{places}, mat (yellow) at (0, 3)" in picture
    assert (
        "<title>target (blue ball)</title>" in picture
        and 'class="letter tone-yellow"' in picture
    )
    keys = legend(COLOURED, [], None, None)
    assert [*keys] == ["empty", "blue ball", "red ball", "red door", "yellow mat"]
    assert "tone-red" in keys["red door"] and texts(keys["red door"]) == ["W"]


def test_a_decoded_map_has_the_colours_of_kinds() -> None:
    probabilities = certain(COLOURED.padded(4), 4)
    assert not any(
        f"tone-{color}" in decoded_picture(probabilities, COLOURED) for color in COLORS
    )
    assert [*legend(COLOURED, [], None, probabilities)][:3] == ["empty", "ball", "door"]


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_letters_can_be_read_on_every_colour_and_colours_be_seen_on_the_ground(
    theme: int,
) -> None:
    """Contrasts are those of WCAG 2.2, sections 1.4.3 and 1.4.11."""
    found = re.findall(r"--([\w-]+): (#[0-9a-f]{6});", source("style.css"))
    named = {
        name: [value for each, value in found if each == name] for name, _ in found
    }
    tone = {name: values[theme] for name, values in named.items()}
    for color in COLORS:
        assert contrast(tone[color], tone.get(f"on-{color}", tone["on"])) > 4.5, color
    assert all(
        contrast(tone[color], tone["free"]) > 3
        for color in COLORS
        if (color, theme) != ("yellow", 0)
    )
    assert (
        len({tone[name] for name in (*COLORS, "agent", "goal", "wall")})
        == len(COLORS) + 3
    )


def contrast(one: str, other: str) -> float:
    """The ratio of two colours' luminances, the lighter one's above."""

    def luminance(color: str) -> float:
        channels = [int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)]
        linear = [
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
            for c in channels
        ]
        return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))

    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def test_only_the_first_thing_of_a_cell_is_drawn() -> None:
    things = {
        "agent": {"kind": "agent"},
        "key": {"letter": "K"},
        "flag": {"letter": "F"},
    }
    drawn = shown(
        {
            "rows": ["__"],
            "things": things,
            "agent": [0, 0],
            "key": [0, 0],
            "flag": [0, 1],
        }
    )
    assert sorted(texts(true_picture(drawn, [], None))) == ["A", "F"]


def test_things_that_are_alone_of_their_kind_are_placed() -> None:
    probabilities = certain(GRID.padded(5), 5) * 0.5
    probabilities[4, 4, GRID.kinds.index("goal")] = 0.9
    assert [
        (thing.name, place) for thing, place in decoded_places(probabilities, GRID)
    ] == [
        ("agent", (1, 1)),
        ("goal", (4, 4)),
    ]
    balls = {name: {"kind": "goal"} for name in ("one", "two")}
    twice = shown({"rows": ["__"], "things": balls, "one": [0, 0], "two": [0, 1]})
    picture = decoded_picture(certain(twice.padded(2), 5), twice)
    assert texts(picture) == []
    assert picture.count('class="ring tone-goal"') == 2


def test_things_placed_in_one_cell_share_it() -> None:
    probabilities = certain(GRID.padded(4), 5)
    probabilities[1, 1, GRID.kinds.index("goal")] = 2
    assert texts(decoded_picture(probabilities, GRID)) == ["A/G"]


def test_the_legend_holds_what_is_to_be_seen_and_nothing_else() -> None:
    plain = legend(GRID, [], None, None)
    assert [*plain] == ["agent", "goal", "wall"]
    assert texts(plain["goal"]) == ["G"]
    assert texts(plain["wall"]) == []
    full = legend(ROOM, [(0, 1)], (1, 0), certain(np.full((9, 9), 6), 7))
    kinds = ["empty", "agent", "door", "ball", "wall", "lava"]
    arrows = [
        "optimal moves",
        "move taken, not optimal",
        "true places, in the decoded map",
    ]
    assert [*full] == [*kinds, "outside", "mat", *arrows]
    decoded = certain(
        np.full((9, 9), GRID.kinds.index("wall")), len(decoded_classes(GRID.kinds))
    )
    assert "outside" not in legend(GRID, [], None, decoded)


def test_names_from_a_record_cannot_become_markup() -> None:
    facts: dict[str, Any] = {
        "rows": ["__"],
        "kinds": ["empty", HOSTILE, "wall"],
        HOSTILE: [0, 0],
    }
    hostile = shown(
        {**facts, "things": {HOSTILE: {"kind": HOSTILE, "letter": HOSTILE}}}
    )
    pictures = [
        true_picture(hostile, [], None),
        decoded_picture(certain(hostile.padded(2), 4), hostile),
    ]
    for picture in [*pictures, *legend(hostile, [], None, None).values()]:
        assert "<script" not in picture
        ElementTree.fromstring(picture)
