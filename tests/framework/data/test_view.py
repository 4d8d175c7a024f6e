"""What is drawn is what the record says."""

from typing import Any

import pytest

from gde.data.cell_map import CellMap
from gde.data.observation import State, World
from gde.data.view import moves, view_of

GRID = World(id="1", facts={"rows": ["_#"], "agent": [0, 0]})


def test_a_text_of_its_own_comes_before_the_map_and_the_map_before_nothing() -> None:
    assert isinstance(view_of(GRID, State(facts={})), CellMap)
    assert view_of(GRID, State(facts={"view": "a room"})) == "a room"
    assert view_of(World(id="2"), State(facts={"agent": [0, 0]})) is None


def test_what_is_there_and_wrong_is_named() -> None:
    with pytest.raises(
        ValueError, match=r"the fact `view`: wanted a text, got \['a', 'b'\]"
    ):
        view_of(GRID, State(facts={"view": ["a", "b"]}))
    with pytest.raises(ValueError, match="wanted the symbols"):
        view_of(GRID, State(facts={"rows": ["?"]}))


def test_moves_are_those_that_are_told() -> None:
    assert moves(World(id="1", facts={"moves": {"JUMP": [2, 0]}})) == {"JUMP": (2, 0)}
    assert moves(World(id="2")) == {}


@pytest.mark.parametrize("wrong", [["UP"], {"UP": "north"}])
def test_wrong_moves_are_named(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"wanted (action to )?\[row"):
        moves(World(id="1", facts={"moves": wrong}))
