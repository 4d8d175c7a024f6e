"""The breakdown by size, density and distance gives the numbers of the cells
themselves.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import fmean

import numpy as np
import pytest

from gde.data.evidence import Evidence
from gde.data.json import Labels
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.stages.scoring import score
from gde_plugins.behaviour.difficulty import NOTHING_VARIES, difficulty
from gde_plugins.behaviour.performance import accuracy, success
from gde_plugins.behaviour.policy import policy

Episode = Callable[..., Trajectory]
SIZES, DENSITIES = (7, 9), (0.0, 0.5)
ACTIONS = ("UP", "DOWN", "LEFT", "RIGHT")
NAMES = [
    "difficulty.accuracy",
    "difficulty.success",
    "difficulty.jsd",
    "difficulty.entropy",
]
Cells = dict[tuple[str, frozenset[tuple[str, object]]], Measurement]


def study(
    episode: Episode, worlds: int = 20, repeats: int = 3, seed: int = 0
) -> Evidence:
    """Random steps among states at the distances 1, 2 and 7, in worlds of two sizes and
    two densities.
    """
    rng, walks = np.random.default_rng(seed), []
    for world in range(worlds):
        labels = {"size": SIZES[world % 2], "density": DENSITIES[world // 2 % 2]}
        for repeat in range(repeats):
            states, actions = (
                rng.integers(3, size=6).tolist(),
                rng.choice(ACTIONS, size=6).tolist(),
            )
            ending = "terminated" if rng.random() < 0.5 else "horizon"
            steps = list(zip(states, actions, strict=True))
            walks.append(
                episode(world, steps, repeat=repeat, ending=ending, labels=labels)
            )
    return Evidence(trajectories=tuple(walks))


def cells(measurements: Sequence[Measurement]) -> Cells:
    return {(one.name, frozenset(one.where.items())): one for one in measurements}


def at(found: Cells, name: str, **where: float) -> Measurement:
    return found[f"difficulty.{name}", frozenset(where.items())]


def only(evidence: Evidence, distance: range) -> Evidence:
    """The turns at some distances alone."""
    kept = [
        replace(one, turns=turns)
        for one in evidence.trajectories
        if (turns := tuple(turn for turn in one.turns if -turn.value in distance))
    ]
    return replace(evidence, trajectories=tuple(kept))


def with_labels(evidence: Evidence, labels: Labels) -> Evidence:
    """The episodes with these labels."""
    chosen = [
        one for one in evidence.trajectories if labels.items() <= one.labels.items()
    ]
    return replace(evidence, trajectories=chosen, part=labels)


@pytest.mark.parametrize(
    "labels", [{"size": 7}, {"density": 0.5}, {"size": 9, "density": 0.0}]
)
def test_a_kind_of_world_has_the_numbers_of_its_condition(
    episode: Episode, labels: Labels
) -> None:
    evidence = study(episode)
    found, part = cells(difficulty(evidence)), with_labels(evidence, labels)
    assert at(found, "accuracy", **labels).value == pytest.approx(
        accuracy(part)[0].value
    )
    assert at(found, "success", **labels).value == pytest.approx(success(part)[0].value)
    numbers = {one.name: one for one in policy(part)}
    for name in ("entropy", "jsd"):
        ours, theirs = at(found, name, **labels), numbers[f"policy.{name}"]
        assert (ours.value, ours.n) == (pytest.approx(theirs.value), theirs.n)


@pytest.mark.parametrize(
    ("where", "labels", "distances"),
    [
        ({"distance": 1}, {}, range(1, 2)),
        ({"distance": 7}, {}, range(7, 8)),
        ({"distance": 5, "size": 9}, {"size": 9}, range(1, 6)),
        ({"distance": 10, "density": 0.5}, {"density": 0.5}, range(6, 11)),
        (
            {"distance": 5, "size": 7, "density": 0.5},
            {"size": 7, "density": 0.5},
            range(1, 6),
        ),
    ],
)
def test_a_distance_has_the_numbers_of_its_turns(
    episode: Episode, where: dict[str, float], labels: Labels, distances: range
) -> None:
    evidence = study(episode)
    found, part = (
        cells(difficulty(evidence)),
        only(with_labels(evidence, labels), distances),
    )
    ours, theirs = at(found, "accuracy", **where), accuracy(part)[0]
    assert (ours.value, ours.n) == (pytest.approx(theirs.value), theirs.n)
    if len(where) < 3:
        divergence = {one.name: one for one in policy(part)}["policy.jsd"]
        assert at(found, "jsd", **where).value == pytest.approx(divergence.value)


def test_success_belongs_to_the_distance_at_which_an_episode_begins(
    episode: Episode,
) -> None:
    evidence = study(episode)
    begun = [one for one in evidence.trajectories if one.turns[0].value == -7]
    worlds = {one.world.id: [] for one in begun}
    for one in begun:
        worlds[one.world.id].append(one.succeeded)
    expected = fmean(map(fmean, worlds.values()))
    assert at(
        cells(difficulty(evidence)), "success", distance=7
    ).value == pytest.approx(expected)


def test_a_distance_met_in_few_worlds_gives_the_reason(episode: Episode) -> None:
    found = cells(difficulty(study(episode, worlds=2, repeats=9)))
    assert at(found, "accuracy", distance=1).reason == "2 of the 3 worlds that it needs"
    assert (
        at(found, "accuracy", distance=5, size=7).reason
        == "1 of the 3 worlds that it needs"
    )
    assert at(found, "accuracy", size=7).value is not None


def test_only_what_varies_is_broken_down(episode: Episode) -> None:
    flat = [
        replace(one, labels={"size": 7, "density": True})
        for one in study(episode).trajectories
    ]
    assert broken_down_by(flat) == {("distance",)}
    partly = [*flat[1:], replace(flat[0], labels={"density": 0.5})]
    assert broken_down_by(partly) == {("distance",)}


def broken_down_by(trajectories: Sequence[Trajectory]) -> set[tuple[str, ...]]:
    found = difficulty(Evidence(trajectories=tuple(trajectories)))
    return {tuple(one.where) for one in found if one.name in NAMES}


def test_a_variance_that_grows_with_the_distance_is_found(episode: Episode) -> None:
    near, nearer, far = 0, 1, 2
    walks = []
    for world in range(20):
        # Far from the goal every other world is played badly.
        move = "UP" if world % 2 else "DOWN"
        walks.append(episode(world, [(near, "UP"), (nearer, "UP"), (far, move)]))
    found = cells(difficulty(Evidence(trajectories=tuple(walks))))

    variances = [np.var(shares, ddof=1) for shares in ([1] * 20, [1] * 20, [0, 1] * 10)]
    grown = at(found, "accuracy.variance")
    assert grown.value == pytest.approx(np.polyfit([1, 2, 7], variances, 1)[0])
    assert (grown.n, grown.clusters) == (60, 20)
    for name in ("accuracy", "jsd"):
        assert at(found, f"{name}.variance").value > 0
        assert at(found, f"{name}.variance_p").value < 0.001


def test_a_variance_that_is_equal_everywhere_does_not_grow(episode: Episode) -> None:
    walks = []
    for world in range(60):
        state, move = world % 3, "UP" if world % 2 else "DOWN"
        walks.append(episode(world, [(state, move)]))
    found = cells(difficulty(Evidence(trajectories=tuple(walks))))
    assert at(found, "accuracy.variance_p").value > 0.5


def test_a_distance_met_in_few_worlds_has_no_variance(episode: Episode) -> None:
    walks = [episode(world, [(0, "UP"), (1, "UP")]) for world in range(20)]
    walks += [episode(20, [(2, "UP")]), episode(21, [(2, "DOWN")])]
    found = cells(difficulty(Evidence(trajectories=tuple(walks))))
    assert at(found, "accuracy.variance").value == 0
    assert at(found, "accuracy.variance").n == 40
    few = cells(difficulty(Evidence(trajectories=tuple(walks[-2:]))))
    assert "0 distances" in at(few, "accuracy.variance").reason


def test_states_out_of_reach_of_the_goal_have_no_distance(episode: Episode) -> None:
    walks = [
        episode(world, [(0, "UP"), (3, "UP")], labels={"size": 7 + world % 2})
        for world in range(6)
    ]
    found = cells(difficulty(Evidence(trajectories=tuple(walks))))
    assert at(found, "accuracy", distance=1).value == 1
    assert at(found, "accuracy", size=7).value == 0.5
    assert not [
        where for name, where in found if dict(where).get("distance", 1) not in {1, 5}
    ]


def test_values_that_are_no_distances_are_not_taken_for_them(episode: Episode) -> None:
    walk = episode(0, [(0, "UP")])
    for value in (0.5, -0.5, 3.0):
        valued = replace(walk, turns=(replace(walk.turns[0], value=value),))
        found = difficulty(Evidence(trajectories=(valued,)))
        assert [(one.name, one.reason) for one in found] == [
            (name, NOTHING_VARIES) for name in NAMES
        ]


def test_conditions_are_not_broken_down_again(episode: Episode) -> None:
    evidence = study(episode)
    conditions = [
        {"size": size, "density": density} for size in SIZES for density in DENSITIES
    ]
    measurements, failures = score(
        [("accuracy", lambda: accuracy), ("difficulty", lambda: difficulty)],
        evidence,
        conditions,
    )
    assert failures == ()
    broken_down = [replace(one, source="") for one in measurements if one.name in NAMES]
    assert broken_down == [one for one in difficulty(evidence) if one.name in NAMES]
    assert all(not one.value or 0 <= one.value <= 2 for one in broken_down)


def test_the_order_of_episodes_changes_nothing(episode: Episode) -> None:
    evidence = study(episode)
    turned = replace(evidence, trajectories=evidence.trajectories[::-1])
    for one, other in zip(difficulty(evidence), difficulty(turned), strict=True):
        assert (one.name, one.where, one.n, one.reason) == (
            other.name,
            other.where,
            other.n,
            other.reason,
        )
        assert one.value == (
            None if other.value is None else pytest.approx(other.value)
        )
        assert one.interval == (
            None if other.interval is None else pytest.approx(other.interval)
        )
