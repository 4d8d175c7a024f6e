"""Drawings of single turns."""

from gde.data.grid import USUAL_MOVES, Grid, moves, objects
from gde.data.observation import State, World
from gde.shipped.reporters.pictures import true_picture

GRID = Grid(rows=("####", "#__#", "####"), agent=(1, 1), goal=(1, 2))


def test_arrows_point_where_moves_lead() -> None:
    picture = true_picture(GRID, 4, optimal=[(-1, 0), (0, 1)], taken=(1, 0))
    assert picture.count("rotate(-90)") == picture.count("rotate(0)") == picture.count("rotate(90)") == 1
    assert picture.count('class="arrow best"') == 2
    assert picture.count('class="arrow stray"') == 1


def test_an_optimal_move_is_not_drawn_twice() -> None:
    assert "stray" not in true_picture(GRID, 4, optimal=[(0, 1)], taken=(0, 1))
    assert "arrow" not in true_picture(GRID, 4, optimal=[], taken=None)


def test_a_world_may_have_other_names_for_its_moves() -> None:
    assert moves(World(id="1", facts={"moves": {"JUMP": [2, 0]}})) == {"JUMP": (2, 0)}
    assert moves(World(id="2")) == USUAL_MOVES


def test_objects_are_drawn_where_they_lie_unless_somebody_stands_there() -> None:
    there = objects(State(facts={"agent": [1, 1], "key": [1, 1], "door": None, "flag": [0, 2], "coin": True}))
    assert there == {(1, 1): "K", (0, 2): "F"}
    picture = true_picture(GRID, 4, optimal=[], taken=None, objects=there)
    assert ">F</text>" in picture
    assert ">K</text>" not in picture
    assert "F at (0, 2)" in picture
