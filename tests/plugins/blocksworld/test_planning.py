"""Distances and optimal actions against exhaustive search, and that large problems stay
quick.
"""

from time import perf_counter

import numpy as np
import pytest
from exhaustive import distances, random_goal, reachable

from gde_plugins.blocksworld.arrangement import TABLE, successors
from gde_plugins.blocksworld.goal import Goal, contradiction
from gde_plugins.blocksworld.planning import Planner, must_move
from gde_plugins.blocksworld.problems import random_arrangement


@pytest.mark.parametrize(("n_blocks", "n_goals"), [(2, 30), (3, 60), (4, 20), (5, 3)])
def test_distances_are_those_of_exhaustive_search(n_blocks: int, n_goals: int) -> None:
    rng, before = np.random.default_rng(n_blocks), reachable(n_blocks)
    for _ in range(n_goals):
        goal = random_goal(n_blocks, rng)
        planner, true = Planner(goal), distances(goal, before)
        assert true.keys() == before.keys()
        assert {below: planner.distance(below) for below in before} == true


@pytest.mark.parametrize("n_blocks", [3, 4])
def test_all_optimal_actions_and_no_others_are_found(n_blocks: int) -> None:
    rng, before = np.random.default_rng(n_blocks), reachable(n_blocks)
    for _ in range(10):
        goal = random_goal(n_blocks, rng)
        planner, true = Planner(goal), distances(goal, before)
        for below in before:
            nearer = [
                action
                for action, after in successors(below)
                if true[after] < true[below]
            ]
            assert planner.optimal(below) == nearer


@pytest.mark.parametrize("n_blocks", [8, 15, 20])
def test_plans_reach_the_goal_in_as_many_actions_as_promised(n_blocks: int) -> None:
    rng = np.random.default_rng(n_blocks)
    for _ in range(5):
        below, end = (
            random_arrangement(n_blocks, rng),
            random_arrangement(n_blocks, rng),
        )
        planner, started = Planner(Goal(under=dict(enumerate(end)))), perf_counter()
        plan = planner.plan(below)
        assert perf_counter() - started < 10
        assert len(plan) == planner.distance(below)
        for action in plan:
            below = dict(successors(below))[action]
        assert below == end


@pytest.mark.parametrize(
    ("on", "on_table", "clear", "proof"),
    [
        ([("a", "b"), ("b", "a")], [], [], "a on b on a would be a circle"),
        ([("a", "a")], [], [], "a on a would be a circle"),
        ([("a", "b"), ("a", "c")], [], [], "a would stand on two things"),
        ([("a", "b")], ["a"], [], "a would stand on two things"),
        ([("a", "c"), ("b", "c")], [], [], "c would carry two blocks, a and b"),
        ([("a", "b")], [], ["b"], "b would be clear and carry a"),
        ([("a", "b"), ("b", "c")], ["c"], ["a"], ""),
    ],
)
def test_what_cannot_be_is_proven(
    on: list[tuple[str, str]], on_table: list[str], clear: list[str], proof: str
) -> None:
    assert contradiction(on, on_table, clear) == proof


def test_a_proof_is_found_exactly_where_no_arrangement_fits() -> None:
    before, rng, names = reachable(3), np.random.default_rng(0), "abc"
    contradictory = 0
    for _ in range(200):
        pairs = {
            (int(upper), int(lower)) for upper, lower in rng.integers(0, 3, (2, 2))
        }
        bare = {int(block) for block in rng.integers(0, 3, 1)}
        fitting = [
            below
            for below in before
            if all(below[upper] == lower for upper, lower in pairs)
            and Goal(under={}, clear=frozenset(bare)).holds(below)
        ]
        proof = contradiction(
            [(names[a], names[b]) for a, b in sorted(pairs)],
            [],
            [names[b] for b in bare],
        )
        assert bool(proof) == (not fitting)
        contradictory += bool(proof)
    assert 0 < contradictory < 200


def test_fifty_blocks_are_certified() -> None:
    rng = np.random.default_rng(0)
    start, end = random_arrangement(50, rng), random_arrangement(50, rng)
    under = {block: below for block, below in enumerate(end) if below != TABLE}
    planner = Planner(Goal(under=under))
    least = planner.distance(start)
    # Circles that wait are found beyond the moves that are plainly needed.
    assert least > 2 * len(must_move(start, planner.goal))
    below = start
    for left in range(least, least - 6, -1):
        assert planner.distance(below) == left
        best = planner.optimal(below)
        after = dict(successors(below))
        assert best and all(planner.distance(after[each]) == left - 1 for each in best)
        below = after[best[0]]
