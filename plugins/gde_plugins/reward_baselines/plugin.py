"""Offers baseline reward models and the metric that reward models are compared by."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Capability, MetricOffer, NoConfig, Offer

if TYPE_CHECKING:
    from gde.parts.context import Context
    from gde.parts.metric import Metric
    from gde.parts.reward_model import RewardModel
    from gde_plugins.reward_baselines.config import ConstantConfig


@hookimpl
def gde_reward_models() -> Sequence[AnyOffer]:
    """Baselines that read no observation, controls, and the oracle."""
    from gde_plugins.reward_baselines.config import ConstantConfig

    return (
        Offer(
            name="clock",
            summary="turn t earns t, however long the episode is",
            config=NoConfig,
            make=_clock,
        ),
        Offer(
            name="constant",
            summary="the same reward in every turn, related to nothing",
            config=ConstantConfig,
            make=_constant,
        ),
        Offer(
            name="goal-words",
            summary="the share of the objective's words that stand in the actions so far",
            config=NoConfig,
            make=_goal_words,
        ),
        Offer(
            name="goal-clock",
            summary="the share of the objective's words in the actions so far, times the number of the turn",
            config=NoConfig,
            make=_goal_clock,
        ),
        Offer(
            name="monotonic",
            summary="time equals progress: turn t of T earns t / T (Shen et al. 2026, appendix C.1)",
            config=NoConfig,
            make=_monotonic,
        ),
        Offer(
            name="oracle",
            summary="the truth: recorded rewards, else the share of the cost of reaching the goal that is past",
            config=NoConfig,
            make=_oracle,
            needs=frozenset({Capability.TRUE_REWARD}),
        ),
        Offer(
            name="random",
            summary="uniform between 0 and 1, seeded by the run",
            config=NoConfig,
            make=_random,
        ),
        Offer(
            name="shuffled",
            summary="uniform between 0 and 1 for every observation, the same wherever it is seen in a world",
            config=NoConfig,
            make=_shuffled,
        ),
        Offer(
            name="unrepeated",
            summary="turns since an observation was seen again; observations are compared, not read",
            config=NoConfig,
            make=_unrepeated,
        ),
    )


@hookimpl
def gde_metrics() -> Sequence[AnyOffer]:
    """The EPIC distance of reward models from the truth."""
    from gde.data.measure import Measure

    return (
        MetricOffer(
            name="epic",
            summary="EPIC distance of each reward model from the truth (Shen et al. 2026, eq. 3)",
            config=NoConfig,
            make=_epic,
            needs=frozenset({Capability.REWARD_TRACE, Capability.TRUE_REWARD}),
            default=True,
            measures=(
                Measure(
                    name="epic",
                    title="EPIC distance",
                    unit="distance",
                    better="less",
                    group="Reward models",
                    headline=True,
                ),
                Measure(
                    name="epic.unjudged",
                    title="Episodes without rewards",
                    unit="share",
                    better="less",
                    group="Reward models",
                ),
                Measure(
                    name="rewards.made_by",
                    title="Provenance of rewards",
                    unit="share",
                    group="Reward models",
                ),
                Measure(
                    name="rewards.counted",
                    title="Events in reward models",
                    unit="count",
                    group="Reward models",
                ),
                Measure(
                    name="epic.one_sided",
                    title="Tasks without both a success and a failure",
                    unit="share",
                    better="less",
                    group="Reward models",
                ),
            ),
        ),
    )


def _clock(_: NoConfig, __: "Context") -> "RewardModel":
    from gde_plugins.reward_baselines.models import Clock

    return Clock()


def _constant(config: "ConstantConfig", _: "Context") -> "RewardModel":
    from gde_plugins.reward_baselines.models import Constant

    return Constant(config.value)


def _goal_words(_: NoConfig, __: "Context") -> "RewardModel":
    from gde_plugins.reward_baselines.goal_words import GoalWords

    return GoalWords()


def _goal_clock(_: NoConfig, __: "Context") -> "RewardModel":
    from gde_plugins.reward_baselines.goal_words import GoalClock

    return GoalClock()


def _monotonic(_: NoConfig, __: "Context") -> "RewardModel":
    from gde_plugins.reward_baselines.models import Monotonic

    return Monotonic()


def _oracle(_: NoConfig, __: "Context") -> "RewardModel":
    from gde_plugins.reward_baselines.models import Oracle

    return Oracle()


def _random(_: NoConfig, context: "Context") -> "RewardModel":
    from gde_plugins.reward_baselines.models import Random

    return Random(context.seed)


def _shuffled(_: NoConfig, context: "Context") -> "RewardModel":
    from gde_plugins.reward_baselines.models import Shuffled

    return Shuffled(context.seed)


def _unrepeated(_: NoConfig, __: "Context") -> "RewardModel":
    from gde_plugins.reward_baselines.models import Unrepeated

    return Unrepeated()


def _epic(_: NoConfig, __: "Context") -> "Metric":
    from gde_plugins.reward_baselines.epic import epic

    return epic
