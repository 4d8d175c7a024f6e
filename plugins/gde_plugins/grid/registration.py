"""The grid world under Gymnasium's name gde/Grid-v0."""

from typing import TYPE_CHECKING

import gymnasium

from gde.data.json import Json

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gde.bridges.gymnasium import GymEnvironment

ID = "gde/Grid-v0"


def register() -> None:
    """Make the name known to Gymnasium; `gde.bridges.gymnasium` calls it by the entry-point group gde.gymnasium."""
    if ID not in gymnasium.registry:
        gymnasium.register(id=ID, entry_point=f"{__name__}:make")


def make(render_mode: str | None = None, **config: Json) -> "GymEnvironment":
    """The environment that `gymnasium.make` gives; keyword arguments are the fields of `GridConfig`.

    Raises:
        ConfigError: an unknown field, or a value out of range.
    """
    # Imported late: `gde.bridges.gymnasium` calls `register` while it is being imported.
    from gde.bridges.gymnasium import GymEnvironment
    from gde.request.settings import build
    from gde_plugins.grid.composition import compose
    from gde_plugins.grid.config import GridConfig
    from gde_plugins.grid.grid import Grid
    from gde_plugins.grid.showing.vocabulary import read_actions

    configuration = build(GridConfig, config, ID)
    environment = compose(configuration)

    def picture() -> "NDArray[np.uint8]":
        from gde_plugins.grid.showing.pictures import draw

        return draw(Grid.from_record(environment.world(), environment.state()))

    return GymEnvironment(environment, read_actions(configuration.actions), picture=picture, render_mode=render_mode)
