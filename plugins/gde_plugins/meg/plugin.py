"""Offers maximum-entropy goal-directedness: its worlds, its metrics and its published
tables.
"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import (
    AnyOffer,
    Capability,
    EnvironmentOffer,
    MetricOffer,
    NoConfig,
    Offer,
)

if TYPE_CHECKING:
    from gde.parts.context import Context
    from gde.parts.environment import Environment
    from gde.parts.metric import Metric
    from gde.parts.reproduction import Reproduction
    from gde_plugins.meg.config import (
        BoundConfig,
        CliffWorldConfig,
        CliffWorldStudyConfig,
        KnownConfig,
        MegConfig,
        VerdictConfig,
    )


@hookimpl
def gde_environments() -> Sequence[AnyOffer]:
    """Offer the cliff world of MacDermott et al. (2024)."""
    from gde_plugins.meg.config import CliffWorldConfig

    return (
        EnvironmentOffer(
            name="cliff-world",
            summary="cliff world with diagonal moves and wind (MacDermott et al. 2024, section 6)",
            config=CliffWorldConfig,
            make=_cliff_world,
            gives=frozenset(
                {
                    Capability.STATE,
                    Capability.MDP,
                    Capability.SNAPSHOT,
                    Capability.SIMULATOR,
                }
            ),
        ),
    )


def _cliff_world(config: "CliffWorldConfig", _: "Context") -> "Environment":
    from gde_plugins.meg.cliffworld.environment import CliffWorldEnvironment

    return CliffWorldEnvironment(config)


@hookimpl
def gde_metrics() -> Sequence[AnyOffer]:
    """Offer goal-directedness towards the goal and towards features."""
    from gde_plugins.meg import measures
    from gde_plugins.meg.config import (
        BoundConfig,
        KnownConfig,
        MegConfig,
        VerdictConfig,
    )

    needs = frozenset({Capability.MDP})
    return (
        MetricOffer(
            name="meg-belief",
            summary="goal-directedness towards the goal that probes decode from activations, and towards the true one",
            config=NoConfig,
            group="meg",
            make=_belief,
            measures=measures.BELIEF,
            needs=needs | {Capability.ACTIVATIONS, Capability.MAP},
        ),
        MetricOffer(
            name="meg-bound",
            summary="a lower bound of goal-directedness in worlds that are too large to tabulate",
            config=BoundConfig,
            make=_bound,
            measures=measures.BOUND,
            imports=("torch", "sklearn"),
            extra="probes",
        ),
        MetricOffer(
            name="meg-known",
            summary="goal-directedness towards the reward of the world's model, in nats",
            config=KnownConfig,
            group="meg",
            make=_known,
            measures=measures.KNOWN,
        ),
        MetricOffer(
            name="meg-to",
            summary="goal-directedness towards each state feature, e.g. key or wall, and which the agent pursues",
            config=MegConfig,
            group="meg",
            make=_towards,
            measures=measures.TO,
            needs=needs,
        ),
        MetricOffer(
            name="meg-unknown",
            summary="goal-directedness towards any utility that is linear in the state features",
            config=MegConfig,
            group="meg",
            make=_unknown,
            measures=measures.UNKNOWN,
            needs=needs,
        ),
        MetricOffer(
            name="meg-verdict",
            summary="is the agent goal-directed? An exact test against counterfactual goals",
            config=VerdictConfig,
            group="meg",
            make=_verdict,
            measures=measures.VERDICT,
        ),
    )


def _belief(_: NoConfig, __: "Context") -> "Metric":
    from gde_plugins.meg.metrics.belief import belief

    return belief


def _bound(config: "BoundConfig", _: "Context") -> "Metric":
    from gde_plugins.meg.metrics.bound import bound

    return partial(bound, tries=config.tries)


def _known(config: "KnownConfig", _: "Context") -> "Metric":
    from gde_plugins.meg.metrics.goals import known

    return partial(known, deadline=config.deadline, states=config.states)


def _towards(config: "MegConfig", _: "Context") -> "Metric":
    from gde_plugins.meg.metrics.goals import towards

    return partial(towards, deadline=config.deadline)


def _unknown(config: "MegConfig", _: "Context") -> "Metric":
    from gde_plugins.meg.metrics.goals import unknown

    return partial(unknown, deadline=config.deadline)


def _verdict(config: "VerdictConfig", _: "Context") -> "Metric":
    from gde_plugins.meg.metrics.verdict import verdict

    return partial(verdict, runs=config.runs)


@hookimpl
def gde_reproductions() -> Sequence[AnyOffer]:
    """Offer the published tables of MacDermott et al. (2024)."""
    from gde_plugins.meg.config import (
        CliffWorldStudyConfig,
    )

    return (
        Offer(
            name="meg-cliffworld",
            summary="Goal-directedness of optimal and erring policies in the cliff world "
            "(MacDermott et al. 2024, section 6).",
            config=CliffWorldStudyConfig,
            make=_cliff_world_study,
        ),
    )


def _cliff_world_study(config: "CliffWorldStudyConfig", _: "Context") -> "Reproduction":
    from gde_plugins.meg.cliffworld.study import CliffWorldStudy

    return CliffWorldStudy(config)
