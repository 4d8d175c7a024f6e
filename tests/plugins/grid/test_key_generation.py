"""Key worlds: what holds for every seed, and every rule by which they are drawn."""

from collections import Counter, deque
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gde.errors import GdeError
from gde.seeding import generator
from gde_plugins.grid.keyed.config import SHORTEST_HORIZON
from gde_plugins.grid.keyed.environment import ATTEMPTS, solvable
from gde_plugins.grid.keyed.scene import LAYOUTS, Scene, draw_rooms, draw_two_paths

Cell = tuple[int, int]
few = settings(max_examples=40)
seeds = st.integers(0, 2**63 - 1)


def steps_from(
    scene: Scene, start: Cell, closed: Cell | None = None
) -> dict[Cell, int]:
    """Length of the shortest way to all cells that can be reached with this cell
    closed.
    """
    steps, waiting = {start: 0}, deque([start])
    while waiting:
        row, column = waiting.popleft()
        for ahead in (
            (row - 1, column),
            (row + 1, column),
            (row, column - 1),
            (row, column + 1),
        ):
            if (
                scene.rows[ahead[0]][ahead[1]] == "_"
                and ahead != closed
                and ahead not in steps
            ):
                steps[ahead] = steps[row, column] + 1
                waiting.append(ahead)
    return steps


def room(cell: Cell) -> Cell | None:
    """The room of a cell, None for a doorway."""
    return (
        None if cell[0] % 4 == 0 or cell[1] % 4 == 0 else (cell[0] // 4, cell[1] // 4)
    )


def free_cells(scene: Scene) -> set[Cell]:
    return {
        (r, c)
        for r, row in enumerate(scene.rows)
        for c, symbol in enumerate(row)
        if symbol == "_"
    }


@few
@given(st.sampled_from([2, 3]), seeds)
def test_rooms_are_joined_to_a_tree_by_single_doorways(
    per_side: int, seed: int
) -> None:
    scene = draw_rooms(per_side, np.random.default_rng(seed))
    free = free_cells(scene)
    size = 4 * per_side + 1
    assert len(scene.rows) == len(scene.rows[0]) == size
    assert all(0 < row < size - 1 and 0 < column < size - 1 for row, column in free)
    assert {room(cell) for cell in free} - {None} == {
        (r, c) for r in range(per_side) for c in range(per_side)
    }
    doorways = [cell for cell in free if room(cell) is None]
    assert len(free) - len(doorways) == 9 * per_side**2
    # As many edges as a tree has, and all is connected: a tree.
    assert len(doorways) == per_side**2 - 1
    assert steps_from(scene, scene.agent).keys() == free


@few
@given(st.sampled_from([2, 3]), seeds)
def test_the_door_parts_agent_and_goal_and_the_key_is_at_hand(
    per_side: int, seed: int
) -> None:
    scene = draw_rooms(per_side, np.random.default_rng(seed))
    assert scene.door is not None
    at_hand = steps_from(scene, scene.agent, closed=scene.door)
    assert room(scene.door) is None
    assert scene.rows[scene.door[0]][scene.door[1]] == "_"
    assert scene.goal not in at_hand
    assert scene.place in at_hand
    assert scene.place != scene.agent
    assert None not in {room(scene.agent), room(scene.goal), room(scene.place)}


def test_everything_that_is_left_to_chance_happens() -> None:
    scenes = [draw_rooms(2, generator(seed, "test")) for seed in range(400)]
    doorways = Counter(
        cell for scene in scenes for cell in free_cells(scene) if room(cell) is None
    )
    assert len(doorways) == 12  # four walls between rooms, three cells each
    assert min(doorways.values()) > 50  # of 100 expected
    assert (
        len({scene.goal for scene in scenes})
        == len({scene.agent for scene in scenes})
        == 36
    )
    assert len({scene.place for scene in scenes}) == 36
    assert {scene.door for scene in scenes} == set(doorways)


@few
@given(st.sampled_from(range(9, 20, 2)), seeds)
def test_two_ways_equally_short_and_the_key_on_one(size: int, seed: int) -> None:
    scene = draw_two_paths(size, np.random.default_rng(seed))
    free = free_cells(scene)
    assert len(scene.rows) == len(scene.rows[0]) == size
    assert all(0 < row < size - 1 and 0 < column < size - 1 for row, column in free)
    to_goal, from_agent = steps_from(scene, scene.goal), steps_from(scene, scene.agent)
    length = to_goal[scene.agent]
    # Every free cell is on a shortest way, and no two cells at one distance are beside
    # each other: two ways, no more.
    assert {to_goal[cell] + from_agent[cell] for cell in free} == {length}
    beside_each = Counter(to_goal[cell] for cell in free)
    assert max(beside_each.values()) == 2
    assert beside_each[to_goal[scene.place]] == 2
    without_place = replace(scene, rows=_walled(scene, scene.place))
    assert steps_from(without_place, scene.goal)[scene.agent] == length
    assert length <= 30


def _walled(scene: Scene, cell: Cell) -> tuple[str, ...]:
    rows = [list(row) for row in scene.rows]
    rows[cell[0]][cell[1]] = "#"
    return tuple("".join(row) for row in rows)


def test_published_layouts() -> None:
    scenes = [draw_two_paths(11, generator(seed, "test")) for seed in range(2000)]
    layouts = Counter(scene.layout for scene in scenes)
    assert layouts.keys() == {"horizontal", "vertical", "diamond"}
    assert min(layouts.values()) > 600
    ends = {(scene.layout, scene.agent, scene.goal) for scene in scenes}
    assert ends == {
        ("horizontal", (5, 1), (5, 9)),
        ("vertical", (1, 5), (9, 5)),
        ("diamond", (5, 2), (5, 8)),
    }
    separations = {
        row
        for scene in scenes
        if scene.layout == "horizontal"
        for row in _corridors(scene)
    }
    assert separations == {2, 3, 7, 8}
    # Ways of 11 or 13 inner cells in two layouts, and of 8 behind the stem of the
    # third, each on two sides.
    assert len({scene.identity for scene in scenes}) == 2 * 2 * (11 + 13) + 2 * 8


def _corridors(scene: Scene) -> list[int]:
    return [index for index, row in enumerate(scene.rows) if row == "#_________#"]


@pytest.mark.parametrize(
    ("size", "bases", "worlds"),
    [
        (9, 5, 90),
        (11, 5, 112),
        (13, 14, 332),
        (15, 14, 404),
        (17, 33, 984),
        (19, 33, 1170),
    ],
)
def test_larger_sizes_have_more_base_grids(size: int, bases: int, worlds: int) -> None:
    """Every cell of exactly one of the two ways can hold the key, once for each base."""
    scenes = [draw_two_paths(size, generator(seed, "test")) for seed in range(1500)]
    of_base = {scene.base: scene for scene in scenes}
    assert len(of_base) == bases
    assert sum(len(_on_one_way(scene)) for scene in of_base.values()) == worlds
    assert all(scene.place in _on_one_way(of_base[scene.base]) for scene in scenes)


def _on_one_way(scene: Scene) -> set[Cell]:
    """The cells with another one as far from the goal."""
    to_goal = steps_from(scene, scene.goal)
    n_at = Counter(to_goal.values())
    return {cell for cell, steps in to_goal.items() if n_at[steps] == 2}


def test_either_way_gets_the_key() -> None:
    scenes = [draw_two_paths(11, generator(seed, "test")) for seed in range(600)]
    above = [scene.place[0] < 5 for scene in scenes if scene.layout == "horizontal"]
    assert 0.4 < np.mean(above) < 0.6


@few
@given(seeds)
def test_a_seed_is_a_scene(seed: int) -> None:
    assert draw_rooms(2, generator(seed, "x")) == draw_rooms(2, generator(seed, "x"))
    assert draw_two_paths(11, generator(seed, "x")) == draw_two_paths(
        11, generator(seed, "x")
    )


def test_scenes_that_need_more_than_the_horizon_are_drawn_again() -> None:
    rng = np.random.default_rng(0)
    scene = solvable(lambda chance: draw_rooms(2, chance), 6, rng)
    assert scene.door is not None
    to_key = steps_from(scene, scene.agent, closed=scene.door)[scene.place]
    assert to_key + steps_from(scene, scene.place)[scene.goal] <= 6
    with pytest.raises(
        GdeError,
        match="shortest way of at most 1 steps in 200 attempts: choose a longer horizon",
    ):
        solvable(lambda chance: draw_two_paths(11, chance), 1, rng)


@pytest.mark.extended
@pytest.mark.parametrize(("rooms", "least"), SHORTEST_HORIZON.items())
def test_the_shortest_horizon_leaves_one_world_of_rooms_in_ten(
    rooms: int, least: int
) -> None:
    rng = generator(0, "test", rooms)
    lengths = np.array([_length(draw_rooms(rooms, rng)) for _ in range(3000)])
    share = np.mean(lengths <= least)
    assert 0.08 < share < 0.2
    assert (lengths < least).mean() < 0.1
    # 200 draws then all fail less than once in ten million worlds.
    assert (1 - share) ** ATTEMPTS < 1e-7


@pytest.mark.parametrize("size", range(9, 20, 2))
def test_no_way_around_a_block_is_shorter_than_the_shortest_horizon(size: int) -> None:
    scenes = [draw_two_paths(size, generator(seed, "test")) for seed in range(600)]
    lengths = {
        layout: [_length(scene) for scene in scenes if scene.layout == layout]
        for layout in LAYOUTS
    }
    assert min(lengths["horizontal"]) == min(lengths["vertical"]) == size + 1
    assert min(lengths["diamond"]) <= size + 1
    assert (
        np.mean([length <= size + 1 for each in lengths.values() for length in each])
        > 0.15
    )


def _length(scene: Scene) -> int:
    """Steps from agent to goal, by way of the key where there is a door."""
    if scene.door is None:
        return steps_from(scene, scene.agent)[scene.goal]
    to_key = steps_from(scene, scene.agent, closed=scene.door)[scene.place]
    return to_key + steps_from(scene, scene.place)[scene.goal]
