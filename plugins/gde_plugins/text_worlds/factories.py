"""Make an environment of each simulator and its games."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from gde_plugins.text_worlds.alfworld.files import games, split_folder
from gde_plugins.text_worlds.config import (
    AlfworldConfig,
    ScienceWorldConfig,
    TextWorldConfig,
)
from gde_plugins.text_worlds.environment import Listed, Made, SimulatedEnvironment
from gde_plugins.text_worlds.hosting.host import Host

HERE = "gde_plugins.text_worlds"
SHAPES = {
    "cooking": ("ingredients", "rooms", "cook", "cut", "drop"),
    "treasure-hunt": ("level",),
    "coin-collector": ("level",),
    "custom": ("rooms", "objects", "quest_length"),
}
"""The settings that shape each kind of TextWorld game."""
_variations: dict[tuple[str | None, str], Sequence[tuple[str, int]]] = {}
"""Variations by task (None for all) and split. They are kept, since ScienceWorld begins
every task to list them.
"""


def textworld(config: TextWorldConfig, folder: Path) -> SimulatedEnvironment:
    """Make TextWorld; its games are kept in the folder."""
    settings = {"folder": str(folder)}
    host = Host(
        "textworld", f"{HERE}.textworld.simulator:TextWorldSimulator", settings, config
    )

    # Settings without effect on a kind of game do not change its seeds.
    shape = {}
    for name in ("game", "route", *SHAPES[config.game]):
        shape[name] = getattr(config, name)
    made = Made(shape)
    return SimulatedEnvironment(
        host, made, horizon=config.horizon, seconds=config.begin_seconds
    )


def alfworld(config: AlfworldConfig, folder: Path) -> SimulatedEnvironment:
    """Make ALFWorld; games that are made are kept in the folder.

    Raises:
        GdeError: the official games of the split are missing.
    """
    settings = {"folder": str(folder), "play_on": config.play_on}
    host = Host(
        "alfworld", f"{HERE}.alfworld.simulator:AlfworldSimulator", settings, config
    )
    official = split_folder(config)
    found: Made | Listed
    if official is not None:
        found = Listed(games(official, config.task_type))
    else:
        found = Made(
            {
                "task_type": config.task_type,
                "receptacles": config.receptacles,
                "objects": config.objects,
            }
        )
    return SimulatedEnvironment(
        host, found, horizon=config.horizon, seconds=config.begin_seconds
    )


def scienceworld(config: ScienceWorldConfig) -> SimulatedEnvironment:
    """Make ScienceWorld.

    Raises:
        GdeError: there is no Java, or no such task.
    """
    settings = {"listed": config.listed, "play_on": config.play_on}
    host = Host(
        "scienceworld",
        f"{HERE}.scienceworld.simulator:ScienceWorldSimulator",
        settings,
        config,
    )
    asked = (config.task, config.split)
    try:
        if asked not in _variations:
            _variations[asked] = host.ask(
                "variations", *asked, seconds=config.begin_seconds
            )
    except BaseException:
        host.close()
        raise

    # Each task keeps its first variations.
    found: dict[str, dict[str, str | int]] = {}
    seen: Counter[str] = Counter()
    for task, variation in _variations[asked]:
        seen[task] += 1
        if config.variations is None or seen[task] <= config.variations:
            found[f"{task} {variation}"] = {"task": task, "variation": variation}
    return SimulatedEnvironment(
        host, Listed(found), horizon=config.horizon, seconds=config.begin_seconds
    )
