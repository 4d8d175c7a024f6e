"""The rules are minigrid's own: the same actions lead to the same episodes, in every
level.
"""

import random
from typing import Any

import gymnasium
import numpy as np
import pytest

from gde_plugins.babyai.descriptions.field_of_view import seen_cells
from gde_plugins.babyai.worlds.generation import _maker, make_scene
from gde_plugins.babyai.worlds.levels import (
    LEVELS,
    MIXED,
    MIXED_MISSIONS,
    PLAN_WORLDS,
    Release,
    environment_id,
)
from gde_plugins.babyai.worlds.mission import GoTo, InOrder, Open, Pickup, PutNext
from gde_plugins.babyai.worlds.mixed import HELD_OUT
from gde_plugins.babyai.worlds.scene import ACTIONS, FREE
from gde_plugins.babyai.worlds.simulation import Simulation

WEIGHTS = (2, 2, 6, 3, 3, 2)
TURNS = 60


def reference(level: str, seed: int, release: Release) -> Any:
    """The level as minigrid plays it, the world drawn as in a release."""
    cls, settings = _maker(level, release)
    world = cls(**settings)
    world.reset(seed=seed)
    return world


def in_hand(thing: Any) -> str:
    return "" if thing is None else f"{thing.color} {thing.type}"


@pytest.mark.parametrize("level", LEVELS)
def test_an_episode_is_what_minigrid_plays(level: str) -> None:
    seed = len(level)
    scene, world = make_scene(level, seed, "3.0"), reference(level, seed, "3.0")
    now, rng = Simulation(scene), random.Random(seed)
    for _ in range(min(TURNS, scene.max_steps)):
        (action,) = rng.choices(range(len(ACTIONS)), WEIGHTS)
        _, reward, terminated, _, _ = world.step(action)
        now.act(ACTIONS[action])
        assert scene.place(now.position) == tuple(world.agent_pos)
        assert (now.direction, now.over) == (world.agent_dir, terminated)
        assert now.reward == pytest.approx(reward)
        assert (
            str(scene.things[now.carrying]) if now.carrying >= 0 else ""
        ) == in_hand(world.carrying)
        if terminated:
            break
    for cell, inside in enumerate(now.cells):
        there = world.grid.grid[cell]
        assert (inside == FREE) == (there is None)
        if inside >= 0:
            assert str(scene.things[inside]) == in_hand(there)
            assert there.type != "door" or there.encode()[2] == now.doors[inside]


@pytest.mark.parametrize("level", ["GoToLocal", "BossLevel", "KeyCorridor"])
def test_what_is_in_sight_is_what_minigrid_shows(level: str) -> None:
    now, world, rng = (
        Simulation(make_scene(level, 5, "3.0")),
        reference(level, 5, "3.0"),
        random.Random(1),
    )
    for _ in range(40):
        seen = seen_cells(now)
        _, mask = world.gen_obs_grid()
        assert len(seen) == mask.sum() - sum(_outside(world, mask))
        for cell, there in enumerate(world.grid.grid):
            if there is not None and there.type != "wall":
                x, y = now.scene.place(cell)
                relative = world.relative_coords(x, y)
                assert (cell in seen) == (relative is not None and bool(mask[relative]))
        (action,) = rng.choices(range(len(ACTIONS)), WEIGHTS)
        world.step(action)
        now.act(ACTIONS[action])
        if now.over:
            break


def _outside(world: Any, mask: Any) -> list[bool]:
    """Which of the lit cells of the view lie outside the grid."""
    inside = {
        world.relative_coords(x, y)
        for x in range(world.width)
        for y in range(world.height)
    }
    return [(i, j) not in inside for i, j in zip(*np.nonzero(mask), strict=True)]


def test_a_world_of_the_current_release_is_what_gymnasium_makes() -> None:
    for level in ("GoToLocal", "Open", "SynthLoc"):
        made, ours = (
            gymnasium.make(environment_id(level)).unwrapped,
            reference(level, 4, "3.2"),
        )
        made.reset(seed=4)
        assert (made.grid.encode() == ours.grid.encode()).all()
        assert made.mission == ours.mission == make_scene(level, 4, "3.2").text


def test_the_two_releases_differ_in_some_worlds_and_in_few() -> None:
    differing = {
        seed
        for seed in range(1, 41)
        if _identity(seed, "3.0") != _identity(seed, "3.2")
    }
    assert 3 in differing
    assert len(differing) < 10


def _identity(seed: int, release: Release) -> str:
    return make_scene("SynthSeq", seed, release).identity


def test_making_worlds_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    for seed in range(12):
        make_scene("UnblockPickup", seed, "3.0")
    assert capfd.readouterr() == ("", "")


def test_worlds_of_the_plan_task_have_their_size_and_distractors() -> None:
    for level, (room, distractors) in PLAN_WORLDS.items():
        scene = make_scene(level, 1, "3.0")
        assert (scene.width, scene.height, scene.max_steps) == (room, room, room**2)
        assert len(scene.things) == distractors + 1
        assert sum(str(thing) == "red ball" for thing in scene.things) == 1
        assert {thing.color for thing in scene.things} == {"red", "grey"}


@pytest.mark.parametrize("level", MIXED)
def test_mixed_missions_are_of_their_kind_and_name_nothing_held_out(level: str) -> None:
    mission, n_distractors = MIXED[level]
    kinds = (GoTo, Pickup, Open, PutNext, InOrder)
    wanted = (
        {dict(zip(MIXED_MISSIONS, kinds, strict=True))[mission]}
        if mission
        else {*kinds}
    )
    scenes = [make_scene(level, seed, "3.2") for seed in range(25)]
    assert {type(scene.mission) for scene in scenes} == wanted
    for scene in scenes:
        assert not any(thing in scene.text for thing in HELD_OUT)
        is_open = isinstance(scene.mission, Open)
        assert scene.rooms == (1, 2 if is_open else 1)
        # A door and its key, or what the mission names.
        n_named = 1 if isinstance(scene.mission, GoTo | Pickup) else 2
        assert len(scene.things) == n_distractors + n_named
    assert len({scene.identity for scene in scenes}) == len(scenes)
