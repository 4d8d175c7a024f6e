"""Names of gde's environments in Gymnasium, e.g. gde/Grid-v0.

Every function in the entry-point group `gde.gymnasium` is called once with `register`.
"""

import warnings
from importlib.metadata import entry_points
from pkgutil import resolve_name

import gymnasium

from gde.data.json import Json
from gde_plugins.gymnasium.playing import GymEnvironment, Observations
from gde_plugins.gymnasium.rewards import Reward

GROUP = "gde.gymnasium"


def register_environments() -> None:
    """Register the Gymnasium names of all plugins; a failure becomes a warning."""
    for entry in entry_points(group=GROUP):
        try:
            entry.load()(register)
        except Exception as error:
            warnings.warn(
                f"{entry.value} cannot register with Gymnasium: {error}", stacklevel=2
            )


def register(name: str, made_by: str, /, **settings: Json) -> None:
    """Make a name known to Gymnasium.

    Args:
        name: e.g. gde/Grid-v0.
        made_by: path of a function, "module:name". It takes the settings and the
            keyword arguments of `gymnasium.make`, and gives the environment, its
            actions, and a function that draws it, or None.
        settings: of the environments of this name.
    """
    if name not in gymnasium.registry:
        gymnasium.register(
            id=name,
            entry_point=f"{__name__}:make",
            kwargs={"made_by": made_by, **settings},
        )


def make(
    made_by: str,
    render_mode: str | None = None,
    observations: Observations = "text",
    reward: Reward = "environment",
    **settings: Json,
) -> GymEnvironment:
    """The environment that `gymnasium.make` gives.

    Raises:
        ConfigError: an unknown setting, or a value out of range.
    """
    environment, actions, picture = resolve_name(made_by)(**settings)
    return GymEnvironment(
        environment,
        actions,
        picture=picture,
        render_mode=render_mode,
        observations=observations,
        reward=reward,
    )


register_environments()
