"""BabyAI levels under Gymnasium's names, e.g. gde/BabyAI-GoToLocal-v0."""

from typing import TYPE_CHECKING

import gymnasium

from gde.data.json import Json
from gde_plugins.babyai.config import BabyAIConfig
from gde_plugins.babyai.worlds.levels import LEVELS

if TYPE_CHECKING:
    from gde.bridges.gymnasium import GymEnvironment, Observations


def register() -> None:
    """Make the names known to Gymnasium; `gde.bridges.gymnasium` calls it by the
    entry-point group gde.gymnasium.
    """
    for level in LEVELS:
        name = f"gde/BabyAI-{level}-v0"
        if name not in gymnasium.registry:
            gymnasium.register(
                id=name, entry_point=f"{__name__}:make", kwargs={"level": level}
            )


def make(
    render_mode: str | None = None,
    observations: "Observations" = "text",
    **config: Json,
) -> "GymEnvironment":
    """The environment that `gymnasium.make` gives.

    Its settings are those of `babyai`, with no search for optimal actions by default.
    Observations are text, or the full state: the map with one plane for each kind of
    cell. `info["state"]` has all facts of the state.

    Raises:
        ConfigError: an unknown setting, or a value out of range.
    """
    # Imported late: `gde.bridges.gymnasium` calls `register` while it is imported.
    from gde.bridges.gymnasium import GymEnvironment
    from gde.request.settings import build
    from gde_plugins.babyai.environment import BabyAIEnvironment
    from gde_plugins.babyai.worlds.scene import ACTIONS

    environment = BabyAIEnvironment(
        build(BabyAIConfig, {"search": 0, **config}, "gde/BabyAI")
    )
    return GymEnvironment(
        environment, ACTIONS, render_mode=render_mode, observations=observations
    )
