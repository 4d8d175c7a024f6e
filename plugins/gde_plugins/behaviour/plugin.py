"""Offers the behaviour metrics."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Facet, MetricOffer, NoConfig

if TYPE_CHECKING:
    from gde.parts.context import Context
    from gde.parts.metric import Metric


@hookimpl
def gde_metrics() -> Sequence[AnyOffer]:
    """Numbers about episodes. Where actions are judged, the world says which are optimal."""
    optimum = Facet.OPTIMUM
    return (
        _offer("success", "share of episodes that reach the goal", _success, default=True),
        _offer(
            "accuracy", "share of optimal actions, averaged over worlds, and pooled", _accuracy, optimum, default=True
        ),
        _offer("efficiency", "success weighted by path length, and regret", _efficiency, Facet.MDP, default=True),
        _offer(
            "references", "what random and optimal agents get in the same worlds", _references, optimum, default=True
        ),
        _offer("outcomes", "shares of usable and of each kind of unusable answer", _outcomes, default=True),
        _offer("length", "mean turns of an episode", _length, default=True),
        _offer("policy", "entropy of the policy and its divergence from optimal ones", _policy, Facet.MDP),
        _offer("calibration", "calibration error, as published and as released", _calibration, Facet.MDP),
        _offer("overlap", "Jaccard similarity of state-action pairs in one world", _overlap, Facet.MDP),
        _offer("difficulty", "accuracy, success, divergence by size, density, distance", _difficulty, Facet.MDP),
    )


def _offer(
    name: str,
    summary: str,
    make: "Callable[[NoConfig, Context], Metric]",
    *needs: str,
    default: bool = False,
) -> AnyOffer:
    from gde_plugins.behaviour.measures import MEASURES

    return MetricOffer(
        name=name,
        summary=summary,
        config=NoConfig,
        make=make,
        needs=frozenset(needs),
        measures=MEASURES[name],
        default=default,
    )


def _success(_: NoConfig, __: "Context") -> "Metric":
    from gde_plugins.behaviour.success import success

    return success


def _accuracy(_: NoConfig, __: "Context") -> "Metric":
    from gde_plugins.behaviour.accuracy import accuracy

    return accuracy


def _references(_: NoConfig, __: "Context") -> "Metric":
    from gde_plugins.behaviour.references import references

    return references


def _outcomes(_: NoConfig, __: "Context") -> "Metric":
    from gde_plugins.behaviour.outcomes import outcomes

    return outcomes


def _length(_: NoConfig, __: "Context") -> "Metric":
    from gde_plugins.behaviour.length import length

    return length


def _policy(_: NoConfig, __: "Context") -> "Metric":
    from gde_plugins.behaviour.policy import policy

    return policy


def _calibration(_: NoConfig, __: "Context") -> "Metric":
    from gde_plugins.behaviour.calibration import calibration

    return calibration


def _efficiency(_: NoConfig, __: "Context") -> "Metric":
    from gde_plugins.behaviour.efficiency import efficiency

    return efficiency


def _overlap(_: NoConfig, __: "Context") -> "Metric":
    from gde_plugins.behaviour.overlap import overlap

    return overlap


def _difficulty(_: NoConfig, __: "Context") -> "Metric":
    from gde_plugins.behaviour.difficulty import difficulty

    return difficulty
