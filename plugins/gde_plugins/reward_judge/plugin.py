"""Offers the judge."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Offer

if TYPE_CHECKING:
    from gde.parts.context import Context
    from gde.parts.reward_model import RewardModel
    from gde_plugins.reward_judge.config import JudgeConfig


@hookimpl
def gde_reward_models() -> Sequence[AnyOffer]:
    """A language model as the judge of progress."""
    from gde_plugins.reward_judge.config import JudgeConfig

    return (
        Offer(
            name="judge",
            summary="a language model scores every turn (Shen et al. 2026, section 3.1.2)",
            config=JudgeConfig,
            make=_make,
        ),
    )


def _make(config: "JudgeConfig", context: "Context") -> "RewardModel":
    from gde_plugins.reward_judge.judge import Judge

    return Judge(config, context.model(config.model), context.seed)
