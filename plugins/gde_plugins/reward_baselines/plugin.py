"""Offers baseline reward models and the metric that reward models are compared by."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Capability, MetricOffer, NoConfig, Offer

if TYPE_CHECKING:
    from gde.parts.context import Context
    from gde.parts.reward_model import RewardModel, TruthReader


@hookimpl
def gde_reward_models() -> Sequence[AnyOffer]:
    """Baselines that read no observation, controls, and the oracle."""
    from gde_plugins.reward_baselines.config import ConstantConfig

    return (
        _baseline("clock", "turn t earns t, whatever the length of the episode"),
        Offer(
            name="constant",
            summary="the same reward in every turn",
            config=ConstantConfig,
            make="gde_plugins.reward_baselines.models:Constant",
            gives={Capability.BASELINE},
        ),
        _baseline(
            "goal-words", "the share of the objective's words in the actions so far"
        ),
        _baseline(
            "goal-clock",
            "the share of the objective's words in the actions so far, times the turn number",
        ),
        _baseline(
            "goal-unrepeated",
            "the share of the objective's words in the actions so far, times unrepeated",
        ),
        _baseline(
            "goal-mentions-unrepeated",
            "mentions of the objective's words in the actions so far, times unrepeated",
        ),
        _baseline(
            "monotonic",
            "time equals progress: turn t of T earns t / T (Shen et al. 2026, appendix C.1)",
        ),
        _baseline(
            "oracle",
            "the truth: recorded rewards, else certified progress towards the goal",
            Capability.TRUE_REWARD,
        ),
        _baseline("random", "uniform between 0 and 1, seeded by the run"),
        _baseline(
            "shuffled",
            "uniform between 0 and 1 for every observation, equal for equal observations of a world",
        ),
        _baseline(
            "unrepeated",
            "turns since the last repeated observation; compares observations, does not read them",
        ),
    )


def _baseline(name: str, summary: str, *needs: str) -> AnyOffer:
    return Offer(
        name=name,
        summary=summary,
        config=NoConfig,
        make=partial(_make, name),
        gives=frozenset() if needs else frozenset({Capability.BASELINE}),
        needs=frozenset(needs),
    )


def _make(name: str, _: NoConfig, context: "Context") -> "RewardModel | TruthReader":
    from gde_plugins.reward_baselines import models

    made: dict[str, RewardModel | TruthReader] = {
        "clock": models.Clock(),
        "goal-words": models.GoalWords(),
        "goal-clock": models.GoalWords(times="clock"),
        "goal-unrepeated": models.GoalWords(times="unrepeated"),
        "goal-mentions-unrepeated": models.GoalWords(
            times="unrepeated", cumulative=True
        ),
        "monotonic": models.Monotonic(),
        "oracle": models.Oracle(),
        "random": models.Random(context.seed),
        "shuffled": models.Shuffled(context.seed),
        "unrepeated": models.Unrepeated(),
    }
    return made[name]


@hookimpl
def gde_metrics() -> Sequence[AnyOffer]:
    """Distances of reward models from the truth, and their regrets."""
    from gde_plugins.reward_baselines import measures

    return (
        MetricOffer(
            name="epic",
            version=2,
            summary="EPIC distance of each reward model from the truth (Shen et al. 2026, eq. 3)",
            config=NoConfig,
            part="gde_plugins.reward_baselines.epic:epic",
            needs={Capability.REWARD_TRACE, Capability.TRUE_REWARD},
            default=True,
            measures=measures.EPIC,
        ),
        MetricOffer(
            name="step-order",
            summary="are steps of progress, and harmful ones, told from all others?",
            config=NoConfig,
            part="gde_plugins.reward_baselines.step_order:step_order",
            needs={Capability.REWARD_TRACE, Capability.TRUE_REWARD},
            measures=measures.STEP_ORDER,
        ),
        MetricOffer(
            name="reward-regret",
            summary="does the regret that a reward model sees in an episode tell its success?",
            config=NoConfig,
            part="gde_plugins.reward_baselines.regret:reward_regret",
            needs={Capability.REWARD_TRACE},
            measures=measures.REGRET,
        ),
    )
