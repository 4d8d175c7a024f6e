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
    """Chance, optimum and what lies between."""
    from gde_plugins.baselines.config import NoisyConfig, OptimalConfig

    return (
        Offer(
            name="random",
            summary="a uniformly random admissible action",
            config=NoConfig,
            make=_random,
        ),
        Offer(
            name="optimal",
            summary="an optimal action, as the environment certifies it",
            config=OptimalConfig,
            make=_optimal,
            needs=NEEDS_OPTIMUM,
        ),
        Offer(
            name="explorer",
            summary="the best action by what can be known so far, e.g. under fog; optimal where nothing is hidden",
            config=OptimalConfig,
            make=_explorer,
            needs=NEEDS_OPTIMUM,
        ),
        Offer(
            name="expert",
            summary="what the environment demonstrates, e.g. the plan of a planner or the path of a person",
            config=NoConfig,
            make=_expert,
            needs=frozenset({Capability.DEMONSTRATION}),
        ),
        Offer(
            name="noisy",
            summary="an optimal action, and a random one with probability p",
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
