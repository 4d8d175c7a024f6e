"""Offers the blocks world."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Capability, EnvironmentOffer

if TYPE_CHECKING:
    from gde.parts.context import Context
    from gde.parts.environment import Environment
    from gde_plugins.blocksworld.config import BlocksworldConfig


@hookimpl
def gde_environments() -> Sequence[AnyOffer]:
    """Offer the blocks world."""
    from gde_plugins.blocksworld.config import BlocksworldConfig

    return (
        EnvironmentOffer(
            name="blocksworld",
            summary="blocks world: stack blocks with one hand, PDDL or random problems, described in sentences",
            config=BlocksworldConfig,
            make=_make,
            gives=frozenset(
                {
                    Capability.STATE,
                    Capability.OPTIMUM,
                    Capability.DEMONSTRATION,
                    Capability.GOALS,
                    Capability.SNAPSHOT,
                    Capability.SIMULATOR,
                    Capability.WORLDS,
                    Capability.VIEW,
                }
            ),
        ),
    )


def _make(config: "BlocksworldConfig", _: "Context") -> "Environment":
    from gde_plugins.blocksworld.environment import BlocksworldEnvironment

    return BlocksworldEnvironment(config)
