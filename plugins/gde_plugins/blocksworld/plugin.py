"""Offers the blocks world."""

from collections.abc import Sequence

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Capability, EnvironmentOffer


@hookimpl
def gde_environments() -> Sequence[AnyOffer]:
    """Offer the blocks world."""
    from gde_plugins.blocksworld.config import BlocksworldConfig

    return (
        EnvironmentOffer(
            name="blocksworld",
            summary="blocks world: stack blocks with one hand, PDDL or random problems, described in sentences",
            config=BlocksworldConfig,
            make="gde_plugins.blocksworld.environment:BlocksworldEnvironment",
            gives={
                Capability.STATE,
                Capability.OPTIMUM,
                Capability.DEMONSTRATION,
                Capability.GOALS,
                Capability.SNAPSHOT,
                Capability.SIMULATOR,
                Capability.WORLDS,
                Capability.REMARKS,
                Capability.VIEW,
            },
        ),
    )
