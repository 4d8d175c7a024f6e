"""The analysis that nano is taught."""

from itertools import pairwise

import numpy as np
import pytest
from nano_training.tracing import (
    MOVES,
    NEW,
    NO_PARENT,
    SEEN,
    WALL,
    annotate,
    answer,
    distances,
    neighbours,
    optimal_moves,
    search,
)
from numpy.typing import NDArray

from gde.data.cell_map import Position

MAZE = """\
#######
#___#_#
#_#_#_#
#_#___#
#_#####
#_____#
#######"""
ROOM = "#####\n#___#\n#___#\n#___#\n#####"


def walls_of(text: str) -> NDArray[np.bool_]:
    return np.array([[symbol == "#" for symbol in row] for row in text.split("\n")])


def trace_of(
    text: str, start: Position, goal: Position, seed: int = 0, longest: int = 200
) -> tuple[NDArray[np.bool_], list[Position]]:
    walls = walls_of(text)
    trace = search(
        walls,
        start,
        goal,
        distances(walls, goal),
        np.random.default_rng(seed),
        longest=longest,
    )
    return walls, trace


CASES = [
    (MAZE, (5, 5), (1, 5)),
    (MAZE, (1, 5), (5, 5)),
    (MAZE, (3, 1), (1, 5)),
    (ROOM, (1, 1), (3, 3)),
]


@pytest.mark.parametrize(("text", "start", "goal"), CASES)
@pytest.mark.parametrize("seed", range(5))
def test_a_trace_walks_over_free_cells_to_the_goal(
    text: str, start: Position, goal: Position, seed: int
) -> None:
    walls, trace = trace_of(text, start, goal, seed)
    assert trace[0] == start
    assert trace[-1] == goal
    assert goal not in trace[:-1]
    assert not any(walls[cell] for cell in trace)
    assert all(later in neighbours(earlier) for earlier, later in pairwise(trace))


@pytest.mark.parametrize(("text", "start", "goal"), CASES)
@pytest.mark.parametrize("seed", range(5))
def test_the_search_goes_back_only_the_way_it_came(
    text: str, start: Position, goal: Position, seed: int
) -> None:
    walls, trace = trace_of(text, start, goal, seed)
    entered_from: dict[Position, Position] = {}
    for earlier, later in pairwise(trace):
        if later in {start, *entered_from}:
            assert entered_from[earlier] == later
            seen = {start, *entered_from}
            assert all(walls[cell] or cell in seen for cell in neighbours(earlier)), (
                "went back before a dead end"
            )
        else:
            entered_from[later] = earlier


def test_a_dead_end_is_retraced() -> None:
    corridor = "########\n#_____##\n#_####_#\n#______#\n########"
    _, trace = trace_of(corridor, (1, 3), (3, 6), seed=1)
    assert trace[:4] == [(1, 3), (1, 4), (1, 5), (1, 4)]


def test_a_trace_stops_at_its_longest() -> None:
    _, trace = trace_of(MAZE, (5, 5), (1, 5), longest=3)
    assert len(trace) == 3


def test_distances_agree_with_a_brute_force_relaxation() -> None:
    walls = walls_of(MAZE)
    expected = {(1, 5): 0}
    for _ in range(walls.size):
        for cell, so_far in list(expected.items()):
            for other in neighbours(cell):
                if not walls[other]:
                    expected[other] = min(expected.get(other, walls.size), so_far + 1)
    steps = distances(walls, (1, 5))
    reached = [(int(row), int(column)) for row, column in np.argwhere(steps >= 0)]
    assert {cell: int(steps[cell]) for cell in reached} == expected
    assert (steps[walls] == -1).all()


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("text", "start", "goal"), CASES)
def test_the_answer_is_always_an_optimal_move(
    text: str, start: Position, goal: Position, seed: int
) -> None:
    walls, trace = trace_of(text, start, goal, seed)
    steps = distances(walls, goal)
    move = answer(walls, steps, trace, np.random.default_rng(seed))
    assert steps[optimal_moves(walls, steps, start)[move]] == steps[start] - 1


def test_in_a_maze_the_answer_is_the_last_departure() -> None:
    walls, trace = trace_of(MAZE, (3, 1), (1, 5))
    move = answer(walls, distances(walls, (1, 5)), trace, np.random.default_rng(0))
    last = max(place for place, cell in enumerate(trace) if cell == (3, 1))
    assert neighbours((3, 1))[list(MOVES).index(move)] == trace[last + 1]


def test_notes_tell_walls_seen_and_new_cells_and_the_parent() -> None:
    notes = annotate(walls_of(ROOM), [(1, 1), (1, 2), (2, 2), (1, 2)])
    assert [note.around for note in notes] == [
        (WALL, NEW, WALL, NEW),
        (WALL, NEW, SEEN, NEW),
        (SEEN, NEW, NEW, NEW),
        (WALL, SEEN, SEEN, NEW),
    ]
    left, up = list(MOVES).index("LEFT"), list(MOVES).index("UP")
    assert [note.parent for note in notes] == [NO_PARENT, left, up, left]
