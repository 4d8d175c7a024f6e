"""Offers TextWorld, ALFWorld and ScienceWorld."""

from collections.abc import Sequence

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Capability, EnvironmentOffer

EXTRA = "text-worlds"
INSTALL_JAVA = "apt install openjdk-17-jre-headless, or install Java 17 another way"
AT_ONCE = 8
"""Maximum number of concurrent simulators in a run. Each holds some hundred megabytes
and keeps a core busy.
"""


@hookimpl
def gde_environments() -> Sequence[AnyOffer]:
    """Offer the text worlds, each with its own simulator process."""
    from gde_plugins.text_worlds.config import (
        AlfworldConfig,
        ScienceWorldConfig,
        TextWorldConfig,
    )

    return (
        EnvironmentOffer(
            name="textworld",
            summary="TextWorld games: cooking, treasure hunt, coin collector, custom quests",
            config=TextWorldConfig,
            make="gde_plugins.text_worlds.factories:textworld",
            gives={Capability.DEMONSTRATION, Capability.SIMULATOR},
            imports=("textworld",),
            extra=EXTRA,
            at_once=AT_ONCE,
            blocking=True,
        ),
        EnvironmentOffer(
            name="alfworld",
            summary="ALFWorld household tasks, official games or generated ones",
            config=AlfworldConfig,
            make="gde_plugins.text_worlds.factories:alfworld",
            gives={
                Capability.DEMONSTRATION,
                Capability.SIMULATOR,
                Capability.WORLDS,
                Capability.REMARKS,
            },
            imports=("alfworld", "textworld"),
            extra=EXTRA,
            local_weights=_alfworld_games,
            at_once=AT_ONCE,
            blocking=True,
        ),
        EnvironmentOffer(
            name="scienceworld",
            summary="ScienceWorld: elementary science experiments, scored from 0 to 1",
            config=ScienceWorldConfig,
            make="gde_plugins.text_worlds.factories:scienceworld",
            gives={Capability.DEMONSTRATION, Capability.SIMULATOR, Capability.WORLDS},
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
