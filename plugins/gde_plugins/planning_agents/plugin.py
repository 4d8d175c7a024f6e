"""Offers the planning agents and the metric of their effort."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Capability, MetricOffer, NoConfig, Offer

if TYPE_CHECKING:
    from gde.data.measure import Better, Measure
    from gde.parts.agent import Agent
    from gde.parts.context import Context
    from gde.parts.metric import Metric
    from gde_plugins.planning_agents.config import (
        MctsConfig,
        ReactConfig,
        ReactRewardConfig,
    )

PLANNING = "planning"
"""The capability of agents that record their effort."""
ASKING = frozenset({PLANNING, Capability.ACTIVATIONS})


@hookimpl
def gde_agents() -> Sequence[AnyOffer]:
    """ReAct, ReAct with rewards, tree search."""
    from gde_plugins.planning_agents.config import (
        MctsConfig,
        ReactConfig,
        ReactRewardConfig,
    )

    return (
        Offer(
            name="react",
            summary="ReAct: a language model answers with a thought and an action (Yao et al. 2023)",
            config=ReactConfig,
            make=_react,
            gives=ASKING,
        ),
        Offer(
            name="react-reward",
            summary="ReAct with predicted rewards of candidate actions (Shen et al. 2026, appendix C.6.2)",
            config=ReactRewardConfig,
            make=_react_reward,
            gives=ASKING,
            needs_for=_world,
        ),
        Offer(
            name="mcts",
            summary="Monte Carlo tree search with a reward model for values (Shen et al. 2026, appendix C.6.3)",
            config=MctsConfig,
            make=_mcts,
            gives=ASKING,
            needs_for=_world,
        ),
    )


@hookimpl
def gde_metrics() -> Sequence[AnyOffer]:
    """Steps and questions."""
    return (
        MetricOffer(
            name="planning",
            summary="simulator steps, questions, judged states and unusable answers of planning agents, a turn",
            config=NoConfig,
            make=_planning,
            needs=frozenset({PLANNING}),
            default=True,
            measures=(
                _measure(
                    "simulator_steps",
                    "actions tried in a private copy of the world",
                    cost=True,
                ),
                _measure("model_calls", "questions to the language model", cost=True),
                _measure(
                    "judged", "states that the reward model was asked about", cost=True
                ),
                _measure("unjudged", "of these, states without a reward", "less"),
                _measure(
                    "malformed", "answers in another form than was asked for", "less"
                ),
                _measure("inadmissible", "actions named that cannot be taken", "less"),
            ),
        ),
    )


def _measure(
    name: str, title: str, better: "Better" = "", *, cost: bool = False
) -> "Measure":
    from gde.data.measure import Measure

    return Measure(
        name=f"planning.{name}",
        title=title,
        unit="a turn",
        better=better,
        group="planning",
        cost=cost,
    )


def _world(config: "ReactRewardConfig | MctsConfig") -> frozenset[str]:
    needs_copy = config.world == "simulator"
    return frozenset({Capability.SIMULATOR}) if needs_copy else frozenset()


def _react(config: "ReactConfig", context: "Context") -> "Agent":
    from gde_plugins.planning_agents.react import React

    return React(config, context.model(config.model))


def _react_reward(config: "ReactRewardConfig", context: "Context") -> "Agent":
    from gde_plugins.planning_agents.react_reward import ReactReward

    return ReactReward(
        config, context.model(config.model), context.reward_model(config.reward)
    )


def _mcts(config: "MctsConfig", context: "Context") -> "Agent":
    from gde_plugins.planning_agents.mcts import Mcts

    model = context.model(config.model) if config.model else None
    return Mcts(config, model, context.reward_model(config.reward))


def _planning(_: NoConfig, __: "Context") -> "Metric":
    from gde_plugins.planning_agents.metric import planning

    return planning
