"""The grid worlds under Gymnasium's names: gde/Grid-v0, gde/KeyDoor-v0,
gde/KeyNoDoor-v0 and gde/TwoPathKey-v0.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gde.data.json import NONE, Json
from gde_plugins.grid.composition import compose
from gde_plugins.grid.config import GridConfig
from gde_plugins.grid.keyed.config import (
    KeyDoorConfig,
    KeyNoDoorConfig,
    TwoPathKeyConfig,
)
from gde_plugins.grid.keyed.environment import (
    key_door,
    key_no_door,
    two_path_key,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gde.parts.environment import Environment

CONFIGS: Mapping[str, type[Any]] = {
    "gde/Grid-v0": GridConfig,
    "gde/KeyDoor-v0": KeyDoorConfig,
    "gde/KeyNoDoor-v0": KeyNoDoorConfig,
    "gde/TwoPathKey-v0": TwoPathKeyConfig,
}
"""Classes whose fields are the keyword arguments of `gymnasium.make`."""
MAKERS: Mapping[str, Callable[[Any], Any]] = {
    "gde/Grid-v0": compose,
    "gde/KeyDoor-v0": key_door,
    "gde/KeyNoDoor-v0": key_no_door,
    "gde/TwoPathKey-v0": two_path_key,
}


def register(add: Callable[..., None]) -> None:
    """Make the names known to Gymnasium."""
    for name in CONFIGS:
        add(name, f"{__name__}:make", name=name)


def make(
    name: str, **config: Json
) -> "tuple[Environment, Sequence[str], Callable[[], NDArray[np.uint8]]]":
    """The environment of a name, its actions and what draws it.

    Raises:
        ConfigError: an unknown field, or a value out of range.
    """
    from gde.data.cell_map import CellMap
    from gde.request.settings import build
    from gde_plugins.grid.grid import Grid
    from gde_plugins.grid.rendering.vocabulary import read_actions

    configuration = build(CONFIGS[name], config, name)
    environment = MAKERS[name](configuration)

    def picture() -> "NDArray[np.uint8]":
        from gde_plugins.grid.rendering.pictures import draw

        world = environment.world()
        state = environment.state()
        return draw(
            Grid.from_record(world, state),
            things=CellMap.from_record(world, state).things,
        )

    actions = read_actions(getattr(configuration, "actions", NONE))
    return environment, actions, picture
