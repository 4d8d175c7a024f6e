"""Offers TextWorld, ALFWorld and ScienceWorld."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Capability, EnvironmentOffer

if TYPE_CHECKING:
    from gde.parts.context import Context
    from gde.parts.environment import Environment
    from gde_plugins.text_worlds.config import (
        AlfworldConfig,
        ScienceWorldConfig,
        TextWorldConfig,
    )

EXTRA = "text-worlds"
INSTALL_JAVA = "apt install openjdk-17-jre-headless, or Java 17 from elsewhere"
AT_ONCE = 8
"""Simulators that a run has at once: each holds some hundred megabytes, and they
compute rather than wait.
"""


@hookimpl
def gde_environments() -> Sequence[AnyOffer]:
    """Worlds of text, each behind a simulator of its own."""
    from gde_plugins.text_worlds.config import (
        AlfworldConfig,
        ScienceWorldConfig,
        TextWorldConfig,
    )

    return (
        EnvironmentOffer(
            name="textworld",
            summary="quests made by TextWorld: cooking, treasure hunts, coins, and chains of actions in a house",
            config=TextWorldConfig,
            make=_textworld,
            gives=frozenset({Capability.DEMONSTRATION, Capability.SIMULATOR}),
            imports=("textworld",),
            extra=EXTRA,
            at_once=AT_ONCE,
            blocking=True,
        ),
        EnvironmentOffer(
            name="alfworld",
            summary="household tasks of ALFWorld: the official games where installed, else generated ones",
            config=AlfworldConfig,
            make=_alfworld,
            gives=frozenset(
                {Capability.DEMONSTRATION, Capability.SIMULATOR, Capability.WORLDS}
            ),
            imports=("alfworld", "textworld"),
            extra=EXTRA,
            local_weights=_alfworld_games,
            at_once=AT_ONCE,
            blocking=True,
        ),
        EnvironmentOffer(
            name="scienceworld",
            summary="experiments of elementary science in ScienceWorld, scored from 0 to 1",
            config=ScienceWorldConfig,
            make=_scienceworld,
            gives=frozenset(
                {Capability.DEMONSTRATION, Capability.SIMULATOR, Capability.WORLDS}
            ),
            imports=("scienceworld",),
            programs={"java": INSTALL_JAVA},
            extra=EXTRA,
            at_once=AT_ONCE,
            blocking=True,
        ),
    )


def _alfworld_games() -> Sequence[str]:
    from gde_plugins.text_worlds.alfworld.files import at_hand

    return at_hand()


def _textworld(config: "TextWorldConfig", context: "Context") -> "Environment":
    from gde_plugins.text_worlds.factories import textworld

    return textworld(config, context.scratch)


def _alfworld(config: "AlfworldConfig", context: "Context") -> "Environment":
    from gde_plugins.text_worlds.factories import alfworld

    return alfworld(config, context.scratch)


def _scienceworld(config: "ScienceWorldConfig", _: "Context") -> "Environment":
    from gde_plugins.text_worlds.factories import scienceworld

    return scienceworld(config)
