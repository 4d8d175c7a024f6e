"""Offers the RewardPrediction benchmark: its trajectories, the command that builds it,
and its table.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Capability, EnvironmentOffer, Offer

if TYPE_CHECKING:
    import typer


@hookimpl
def gde_environments() -> Sequence[AnyOffer]:
    """The benchmark's trajectories."""
    from gde_plugins.reward_prediction.config import RewardBenchConfig

    return (
        EnvironmentOffer(
            name="rewardbench",
            summary="recorded successes and failures with the true reward of every step, to evaluate reward models",
            config=RewardBenchConfig,
            make="gde_plugins.reward_prediction.environment:RewardBench",
            # Each may hold several simulators.
            at_once=4,
            gives={
                Capability.STATE,
                Capability.WORLDS,
                Capability.VIEW,
                Capability.TRUE_REWARD,
                Capability.SHOWN_SUCCESS,
            },
        ),
    )


@hookimpl
def gde_reproductions() -> Sequence[AnyOffer]:
    """The study of its table."""
    from gde_plugins.reward_prediction.config import StudyConfig

    return (
        Offer(
            name="rewardbench",
            summary="EPIC distance of reward models in five domains (Shen et al. 2026, table 1)",
            config=StudyConfig,
            make="gde_plugins.reward_prediction.study:RewardPredictionStudy",
        ),
    )


@hookimpl
def gde_add_commands(app: "typer.Typer") -> None:
    """gde rewardbench."""
    from gde_plugins.reward_prediction.commands import add_commands

    add_commands(app)
