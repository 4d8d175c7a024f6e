"""Offers the behaviour metrics."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Capability, MetricOffer, NoConfig

if TYPE_CHECKING:
    from gde.parts.context import Context
    from gde.parts.metric import Metric


@hookimpl
def gde_metrics() -> Sequence[AnyOffer]:
    """Numbers about episodes; where they judge actions, the world says which are
    optimal.
    """
    optimum = Capability.OPTIMUM
    return (
        _offer("success", "share of episodes that reach the goal", default=True),
        _offer(
            "accuracy",
            "share of optimal actions, averaged over worlds, and pooled",
            optimum,
            default=True,
        ),
        _offer(
            "efficiency",
            "success weighted by path length, and regret",
            Capability.MDP,
            default=True,
        ),
        _offer(
            "references",
            "scores of random and optimal baselines in the same worlds",
            optimum,
            default=True,
        ),
        _offer(
            "outcomes",
            "shares of usable and of each kind of unusable answer",
            default=True,
        ),
        _offer("length", "mean turns of an episode", default=True),
        _offer(
            "policy",
            "entropy of the policy and its divergence from optimal ones",
            Capability.MDP,
        ),
        _offer(
            "calibration",
            "calibration error, as published and as released",
            Capability.MDP,
        ),
        _offer(
            "overlap",
            "Jaccard similarity of state-action pairs in one world",
            Capability.MDP,
        ),
        _offer(
            "difficulty",
            "accuracy, success, divergence by size, density, distance",
            Capability.MDP,
        ),
    )


def _offer(name: str, summary: str, *needs: str, default: bool = False) -> AnyOffer:
    from gde_plugins.behaviour.measures import MEASURES

    return MetricOffer(
        name=name,
        summary=summary,
        config=NoConfig,
        make=partial(_metric, name),
        needs=frozenset(needs),
        measures=MEASURES[name],
        default=default,
    )


def _metric(name: str, _: NoConfig, __: "Context") -> "Metric":
    from gde_plugins.behaviour.calibration import calibration
    from gde_plugins.behaviour.difficulty import difficulty
    from gde_plugins.behaviour.efficiency import efficiency
    from gde_plugins.behaviour.outcomes import outcomes
    from gde_plugins.behaviour.overlap import overlap
    from gde_plugins.behaviour.performance import accuracy, length, success
    from gde_plugins.behaviour.policy import policy
    from gde_plugins.behaviour.references import references

    metrics: dict[str, Metric] = {
        "success": success,
        "accuracy": accuracy,
        "efficiency": efficiency,
        "references": references,
        "outcomes": outcomes,
        "length": length,
        "policy": policy,
        "calibration": calibration,
        "overlap": overlap,
        "difficulty": difficulty,
    }
    return metrics[name]
