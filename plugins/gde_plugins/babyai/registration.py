"""BabyAI levels under Gymnasium's names, e.g. gde/BabyAI-GoToLocal-v0."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gde.data.json import Json
from gde_plugins.babyai.config import BabyAIConfig
from gde_plugins.babyai.worlds.levels import LEVELS

if TYPE_CHECKING:
    from gde.parts.environment import Environment


def register(add: Callable[..., None]) -> None:
    """Make the names known to Gymnasium."""
    for level in LEVELS:
        add(f"gde/BabyAI-{level}-v0", f"{__name__}:make", level=level)


def make(**config: Json) -> "tuple[Environment, Sequence[str], None]":
    """The environment of a level, its actions, and that nothing draws it.

    Its settings are those of `babyai`, with no search for optimal actions by default.

    Raises:
        ConfigError: an unknown setting, or a value out of range.
    """
    from gde.request.settings import build
    from gde_plugins.babyai.environment import BabyAIEnvironment
    from gde_plugins.babyai.worlds.scene import ACTIONS

    configuration = build(BabyAIConfig, {"search": 0, **config}, "gde/BabyAI")
    return BabyAIEnvironment(configuration), ACTIONS, None
