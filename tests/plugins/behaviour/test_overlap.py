"""Jaccard similarity of the episodes of one world."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde_plugins.behaviour.overlap import overlap

Episode = Callable[..., Trajectory]
ALONE = (
    "no world has two episodes with a usable answer; give the plan at least 2 repeats"
)
STEPS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["UP", "LEFT", None])),
    min_size=1,
    max_size=8,
)


def jaccard(*trajectories: Trajectory) -> Measurement:
    (measurement,) = overlap(Evidence(trajectories=trajectories))
    return measurement


@given(worlds=st.lists(st.lists(STEPS, min_size=1, max_size=4), min_size=1, max_size=4))
def test_all_pairs_of_a_world_then_all_worlds(
    episode: Episode, worlds: list[list[list[tuple[int, str | None]]]]
) -> None:
    similarities = []
    for walks in worlds:
        sets = [
            pairs for walk in walks if (pairs := {step for step in walk if step[1]})
        ]
        if len(sets) > 1:
            similarities.append(
                fmean(len(a & b) / len(a | b) for a, b in combinations(sets, 2))
            )
    found = jaccard(
        *(
            episode(w, steps, repeat=r)
            for w, walks in enumerate(worlds)
            for r, steps in enumerate(walks)
        )
    )
    assert found.value == (pytest.approx(fmean(similarities)) if similarities else None)
    assert found.n == len(similarities)
    assert found.reason == ("" if similarities else ALONE)


def test_what_is_repeated_within_an_episode_counts_once(episode: Episode) -> None:
    once, twice = (
        episode(0, [(0, "UP")]),
        episode(0, [(0, "UP"), (0, "UP"), (1, "UP")], repeat=1),
    )
    assert jaccard(once, once).value == 1
    assert jaccard(once, twice).value == 0.5
    assert jaccard(once, episode(0, [(1, "UP")], repeat=1)).value == 0


def test_worlds_of_one_cluster_are_compared_within_themselves_only(
    episode: Episode,
) -> None:
    walks = [
        episode(world, [(0, "UP")], repeat=repeat, base="b")
        for world in (0, 1)
        for repeat in (0, 1)
    ]
    found = jaccard(*walks)
    assert (found.value, found.n, found.interval) == (1, 2, None)
    assert jaccard(walks[0], walks[2]).reason == ALONE


def test_states_without_an_index_cannot_be_compared(episode: Episode) -> None:
    walk = episode(0, [(0, "UP")])
    blind = replace(walk, turns=(replace(walk.turns[0], state=None),))
    assert jaccard(blind, walk).reason == "1 of 2 turns have no state of a model"
