"""Makes an environment from each simulator and its games."""

from collections import Counter
from collections.abc import Sequence

from gde.parts.context import Context
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
"""Variations by task (None for all) and split. They are cached, since ScienceWorld
begins every task to list them.
"""


def textworld(config: TextWorldConfig, context: Context) -> SimulatedEnvironment:
    """Make TextWorld, which keeps its games in the scratch folder."""
    simulator = f"{HERE}.textworld.simulator:TextWorldSimulator"
    host = Host("textworld", simulator, {"folder": str(context.scratch)}, config)
    # Settings without effect on a kind of game do not change its seeds.
    shape = {}
    for name in ("game", "route", *SHAPES[config.game]):
        shape[name] = getattr(config, name)
    return SimulatedEnvironment(host, Made(shape), horizon=config.horizon)


def alfworld(config: AlfworldConfig, context: Context) -> SimulatedEnvironment:
    """Make ALFWorld, which keeps generated games in the scratch folder.

    Raises:
        GdeError: the official games of the split are missing.
    """
    simulator = f"{HERE}.alfworld.simulator:AlfworldSimulator"
    settings = {"folder": str(context.scratch), "play_on": config.play_on}
    host = Host("alfworld", simulator, settings, config)
    found: Made | Listed
    official = split_folder(config)
    if official is not None:
        found = games(official, config.task_type)
    else:
        shape = {
            "task_type": config.task_type,
            "receptacles": config.receptacles,
            "objects": config.objects,
        }
        found = Made(shape)
    return SimulatedEnvironment(host, found, horizon=config.horizon)


def scienceworld(config: ScienceWorldConfig) -> SimulatedEnvironment:
    """Make ScienceWorld.

    Raises:
        GdeError: there is no Java, or no such task.
    """
    simulator = f"{HERE}.scienceworld.simulator:ScienceWorldSimulator"
    settings = {"listed": config.listed, "play_on": config.play_on}
    host = Host("scienceworld", simulator, settings, config)
    asked = (config.task, config.split)
    if asked not in _variations:
        _variations[asked] = host.ask("variations", *asked)

    # Each task keeps its first variations.
    found: dict[str, dict[str, str | int]] = {}
    seen: Counter[str] = Counter()
    for task, variation in _variations[asked]:
        seen[task] += 1
        if config.variations is None or seen[task] <= config.variations:
            found[f"{task} {variation}"] = {"task": task, "variation": variation}
    return SimulatedEnvironment(host, Listed(found), horizon=config.horizon)
