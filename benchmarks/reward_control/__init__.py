"""A study of what reward models are worth for control, as a plugin.

export PYTHONPATH=benchmarks GDE_LOAD_PLUGINS=reward_control
gde reproduce reward-control --out control
"""

from collections.abc import Sequence

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Offer
from reward_control.config import ControlConfig


@hookimpl
def gde_reproductions() -> Sequence[AnyOffer]:
    """Offer the study."""
    return (
        Offer(
            name="reward-control",
            summary="regret of agents that follow a reward model, beside its EPIC distance",
            config=ControlConfig,
            make="reward_control.study:ControlStudy",
        ),
    )
