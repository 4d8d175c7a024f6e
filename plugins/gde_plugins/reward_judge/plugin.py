"""Offers the judge."""

from collections.abc import Sequence

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Offer


@hookimpl
def gde_reward_models() -> Sequence[AnyOffer]:
    """A language model as the judge of progress."""
    from gde_plugins.reward_judge.config import JudgeConfig

    return (
        Offer(
            name="judge",
            summary="a language model scores every turn (Shen et al. 2026, section 3.1.2)",
            config=JudgeConfig,
            make="gde_plugins.reward_judge.judge:judge",
            version=2,
        ),
    )
