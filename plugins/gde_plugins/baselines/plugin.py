"""Offers the reference agents."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Capability, NoConfig, Offer

if TYPE_CHECKING:
    from gde.parts.agent import Agent
    from gde.parts.context import Context
    from gde_plugins.baselines.config import NoisyConfig, OptimalConfig

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
            make=_random,
        ),
        Offer(
            name="optimal",
            summary="takes an optimal action, certified by the environment",
            config=OptimalConfig,
            make=_optimal,
            needs=NEEDS_OPTIMUM,
        ),
        Offer(
            name="explorer",
            summary="takes an optimal action given the cells seen so far, e.g. in fog; optimal without fog",
            config=OptimalConfig,
            make=_explorer,
            needs=NEEDS_OPTIMUM,
        ),
        Offer(
            name="expert",
            summary="follows the environment's demonstration, e.g. the plan of a planner or the path of a person",
            config=NoConfig,
            make=_expert,
            needs=frozenset({Capability.DEMONSTRATION}),
        ),
        Offer(
            name="noisy",
            summary="takes a random action with probability p, otherwise an optimal one",
            config=NoisyConfig,
            make=_noisy,
            needs=NEEDS_OPTIMUM,
        ),
    )


def _random(_: NoConfig, __: "Context") -> "Agent":
    from gde_plugins.baselines.agents import RandomAgent

    return RandomAgent()


def _optimal(config: "OptimalConfig", _: "Context") -> "Agent":
    from gde_plugins.baselines.agents import OracleAgent

    return OracleAgent(ties=config.ties)


def _explorer(config: "OptimalConfig", _: "Context") -> "Agent":
    from gde_plugins.baselines.agents import ExplorerAgent

    return ExplorerAgent(ties=config.ties)


def _expert(_: NoConfig, __: "Context") -> "Agent":
    from gde_plugins.baselines.agents import ExpertAgent

    return ExpertAgent()


def _noisy(config: "NoisyConfig", _: "Context") -> "Agent":
    from gde_plugins.baselines.agents import OracleAgent

    return OracleAgent(slip=config.p)
