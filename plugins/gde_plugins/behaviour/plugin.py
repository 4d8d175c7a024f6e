"""Offers the behaviour metrics."""

from collections.abc import Sequence
from typing import Literal

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Capability, MetricOffer, NoConfig


@hookimpl
def gde_metrics() -> Sequence[AnyOffer]:
    """Numbers about episodes; where they judge actions, the world says which are
    optimal.
    """
    optimum = Capability.OPTIMUM
    return (
        _offer(
            "success",
            "share of episodes that reach the goal",
            module="performance",
            facts="turns",
            default=True,
        ),
        _offer(
            "accuracy",
            "share of optimal actions, averaged over worlds, and pooled",
            optimum,
            module="performance",
            facts="turns",
            default=True,
        ),
        _offer(
            "efficiency",
            "success weighted by path length, and regret",
            Capability.MDP,
            facts="world",
            default=True,
        ),
        _offer(
            "references",
            "scores of random and optimal baselines in the same worlds",
            optimum,
            facts="world",
            default=True,
        ),
        _offer(
            "outcomes",
            "shares of usable and of each kind of unusable answer",
            facts="turns",
            default=True,
        ),
        _offer(
            "length",
            "mean turns of an episode",
            module="performance",
            facts="turns",
            default=True,
        ),
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


def _offer(
    name: str,
    summary: str,
    *needs: str,
    module: str = "",
    facts: Literal["", "turns", "world"] = "",
    default: bool = False,
) -> AnyOffer:
    from gde_plugins.behaviour.measures import MEASURES

    return MetricOffer(
        name=name,
        summary=summary,
        config=NoConfig,
        part=f"gde_plugins.behaviour.{module or name}:{name}",
        needs=frozenset(needs),
        measures=MEASURES[name],
        facts=facts,
        default=default,
    )
