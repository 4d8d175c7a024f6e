"""Offers the planning agents and the metric of their effort."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Capability, MetricOffer, NoConfig, Offer

if TYPE_CHECKING:
    from gde.data.measure import Better, Measure
    from gde_plugins.planning_agents.config import (
        MctsConfig,
        ReactRewardConfig,
    )

PLANNING = "planning"
"""Capability of agents that record their effort."""
ASKING = frozenset({PLANNING, Capability.ACTIVATIONS})


@hookimpl
def gde_agents() -> Sequence[AnyOffer]:
    """Offer ReAct, ReAct with rewards, tree search and lookahead."""
    from gde_plugins.planning_agents.config import (
        LookaheadConfig,
        MctsConfig,
        ReactConfig,
        ReactRewardConfig,
    )

    return (
        Offer(
            name="react",
            summary="ReAct: a language model answers with a thought and an action (Yao et al. 2023)",
            config=ReactConfig,
            make="gde_plugins.planning_agents.react:React",
            version=3,
            gives=ASKING,
        ),
        Offer(
            name="react-reward",
            summary="ReAct with predicted rewards of candidate actions (Shen et al. 2026, appendix C.6.2)",
            config=ReactRewardConfig,
            make="gde_plugins.planning_agents.react_reward:ReactReward",
            version=3,
            gives=ASKING,
            needs_for=_world,
        ),
        Offer(
            name="mcts",
            summary="Monte Carlo tree search with a reward model for values (Shen et al. 2026, appendix C.6.3)",
            config=MctsConfig,
            make="gde_plugins.planning_agents.mcts:Mcts",
            version=3,
            gives=ASKING,
            needs_for=_world,
        ),
        Offer(
            name="lookahead",
            summary="the action, or the best of n random plans, at whose end a reward model gives most",
            config=LookaheadConfig,
            make="gde_plugins.planning_agents.lookahead:Lookahead",
            gives={PLANNING},
            needs={Capability.SIMULATOR},
        ),
    )


@hookimpl
def gde_metrics() -> Sequence[AnyOffer]:
    """Offer the metric of their effort."""
    return (
        MetricOffer(
            name="planning",
            summary="planning agents: simulator steps, model calls, judged states and unusable answers per turn",
            config=NoConfig,
            part="gde_plugins.planning_agents.metric:planning",
            needs={PLANNING},
            facts="turns",
            default=True,
            measures=(
                _measure(
                    "simulator_steps",
                    "Simulator steps",
                    cost=True,
                ),
                _measure("model_calls", "Model calls", cost=True),
                _measure("judged", "Judged states", cost=True),
                _measure("unjudged", "Judged states without a reward", "less"),
                _measure("malformed", "Malformed answers", "less"),
                _measure("inadmissible", "Inadmissible actions", "less"),
            ),
        ),
    )


def _measure(
    name: str, title: str, better: "Better" = "", *, cost: bool = False
) -> "Measure":
    from gde.data.measure import Measure

    return Measure(
        f"planning.{name}", title, "a turn", better, group="planning", cost=cost
    )


def _world(config: "ReactRewardConfig | MctsConfig") -> frozenset[str]:
    needs_copy = config.world == "simulator"
    return frozenset({Capability.SIMULATOR}) if needs_copy else frozenset()
