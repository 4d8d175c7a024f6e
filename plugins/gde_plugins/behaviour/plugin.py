"""Offers the behaviour metrics."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Facet, NoConfig, Offer

if TYPE_CHECKING:
    from gde.parts.metric import Metric


@hookimpl
def gde_metrics() -> Sequence[AnyOffer]:
    """Numbers about episodes. Where actions are judged, a model of the world certifies the optimal ones."""
    model = Facet.MODEL
    return (
        _offer("success", "share of episodes that reach the goal", _success),
        _offer("accuracy", "share of optimal actions, averaged over worlds, and pooled over steps", _accuracy, model),
        _offer("outcomes", "shares of usable and of each kind of unusable answer, and of each ending", _outcomes),
        _offer("length", "mean turns of an episode", _length),
        _offer("policy", "entropy of the policy and its divergence from optimal ones, in bits", _policy, model),
        _offer("calibration", "calibration error of the policy, as published and as released", _calibration, model),
        _offer("efficiency", "success weighted by path length, and regret", _efficiency, model),
        _offer("overlap", "Jaccard similarity of the state-action pairs of two episodes in one world", _overlap, model),
        _offer("difficulty", "accuracy, success, divergence, entropy by size, density, distance", _difficulty, model),
    )


def _offer(name: str, summary: str, make: "Callable[[NoConfig], Metric]", *needs: Facet) -> AnyOffer:
    return Offer(name=name, summary=summary, config=NoConfig, make=make, needs=frozenset(needs))


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


def _policy(_: NoConfig) -> "Metric":
    from gde_plugins.behaviour.policy import policy

    return policy


def _calibration(_: NoConfig) -> "Metric":
    from gde_plugins.behaviour.calibration import calibration

    return calibration


def _efficiency(_: NoConfig) -> "Metric":
    from gde_plugins.behaviour.efficiency import efficiency

    return efficiency


def _overlap(_: NoConfig) -> "Metric":
    from gde_plugins.behaviour.overlap import overlap

    return overlap


def _difficulty(_: NoConfig) -> "Metric":
    from gde_plugins.behaviour.difficulty import difficulty

    return difficulty
