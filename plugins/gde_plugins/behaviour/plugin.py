"""Offers the behaviour metrics."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Facet, NoConfig, Offer

if TYPE_CHECKING:
    from gde.parts.metric import Metric


@hookimpl
def gde_metrics() -> Sequence[AnyOffer]:
    """Numbers that every run of episodes can have."""
    return (
        Offer(name="success", summary="share of episodes that reach the goal", config=NoConfig, make=_success),
        Offer(
            name="accuracy",
            summary="share of optimal actions, averaged over worlds, and pooled over steps",
            config=NoConfig,
            make=_accuracy,
            needs=frozenset({Facet.MODEL}),
        ),
        Offer(
            name="outcomes",
            summary="shares of usable and of each kind of unusable answer, and of each ending",
            config=NoConfig,
            make=_outcomes,
        ),
        Offer(name="length", summary="mean turns of an episode", config=NoConfig, make=_length),
    )


def _success(_: NoConfig) -> "Metric":
    from gde_plugins.behaviour.success import success

    return success


def _accuracy(_: NoConfig) -> "Metric":
    from gde_plugins.behaviour.accuracy import accuracy

    return accuracy


def _outcomes(_: NoConfig) -> "Metric":
    from gde_plugins.behaviour.outcomes import outcomes

    return outcomes


def _length(_: NoConfig) -> "Metric":
    from gde_plugins.behaviour.length import length

    return length
