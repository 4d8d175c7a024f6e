"""The three key worlds: the scene of a seed, and the object in it."""

from dataclasses import replace
from functools import partial

import numpy as np

from gde.errors import GdeError
from gde.seeding import generator
from gde_plugins.grid.keyed.config import (
    KeyDoorConfig,
    KeyNoDoorConfig,
    TwoPathKeyConfig,
)
from gde_plugins.grid.keyed.dynamics import KeyStates, shortest_way, tabulate
from gde_plugins.grid.keyed.environment import KeyEnvironment
from gde_plugins.grid.keyed.rooms import draw_rooms
from gde_plugins.grid.keyed.scene import Draw, Scene
from gde_plugins.grid.keyed.two_paths import draw_two_paths

ATTEMPTS = 200
"""Scenes drawn, at most, to find one that can be solved within the horizon."""


def key_door(config: KeyDoorConfig) -> KeyEnvironment:
    """The key is needed: it opens the door on the only way to the goal."""
    return KeyEnvironment(partial(_rooms, config), config.horizon, {})


def key_no_door(config: KeyNoDoorConfig) -> KeyEnvironment:
    """The scenes of `key_door` seed for seed, without the door, and with a useless
    object.
    """

    def draw(seed: int) -> Scene:
        return replace(_rooms(config, seed), door=None, artefact=config.artefact)

    return KeyEnvironment(draw, config.horizon, {"artefact": config.artefact})


def two_path_key(config: TwoPathKeyConfig) -> KeyEnvironment:
    """A useless object lies on one of two equally short ways."""

    def draw(seed: int) -> Scene:
        rng = generator(seed, "two paths", config.size, config.horizon)
        scene = solvable(partial(draw_two_paths, config.size), config.horizon, rng)
        return replace(scene, artefact=config.artefact)

    return KeyEnvironment(draw, config.horizon, {"artefact": config.artefact})


def _rooms(config: KeyDoorConfig, seed: int) -> Scene:
    # The stream does not depend on door and artefact, so that the variations of a seed
    # are one scene.
    rng = generator(seed, "rooms", config.rooms, config.horizon)
    return solvable(partial(draw_rooms, config.rooms), config.horizon, rng)


def solvable(draw: Draw, horizon: int, rng: np.random.Generator) -> Scene:
    """The first scene drawn whose shortest way, by way of the key where it is needed,
    is within the horizon.

    Raises:
        GdeError: none in many.
    """
    for _ in range(ATTEMPTS):
        scene = draw(rng)
        if shortest_way(tabulate(scene, KeyStates.of(scene))) <= horizon:
            return scene
    raise GdeError(
        f"no key world with a shortest way of at most {horizon} steps in {ATTEMPTS} attempts: choose a longer horizon"
    )
