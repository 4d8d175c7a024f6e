"""Offers the reference agents."""

from collections.abc import Sequence

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Capability, NoConfig, Offer

NEEDS_OPTIMUM = frozenset({Capability.OPTIMUM})


@hookimpl
def gde_agents() -> Sequence[AnyOffer]:
    """Offer random, optimal and intermediate agents."""
    from gde_plugins.baselines.config import NoisyConfig, OptimalConfig

    return (
        Offer(
            name="random",
            summary="takes a uniformly random admissible action",
            config=NoConfig,
            make="gde_plugins.baselines.agents:RandomAgent",
        ),
        Offer(
            name="optimal",
            summary="takes an optimal action, certified by the environment",
            config=OptimalConfig,
            make="gde_plugins.baselines.agents:OracleAgent",
            needs=NEEDS_OPTIMUM,
        ),
        Offer(
            name="explorer",
            summary="takes an optimal action given the cells seen so far, e.g. in fog; optimal without fog",
            config=OptimalConfig,
            make="gde_plugins.baselines.agents:ExplorerAgent",
            needs=NEEDS_OPTIMUM,
        ),
        Offer(
            name="expert",
            summary="follows the environment's demonstration, e.g. the plan of a planner or the path of a person",
            config=NoConfig,
            make="gde_plugins.baselines.agents:ExpertAgent",
            needs={Capability.DEMONSTRATION},
        ),
        Offer(
            name="noisy",
            summary="takes a random action with probability p, otherwise an optimal one",
            config=NoisyConfig,
            make="gde_plugins.baselines.agents:NoisyAgent",
            needs=NEEDS_OPTIMUM,
        ),
    )
