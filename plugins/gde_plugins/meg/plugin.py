"""Offers maximum-entropy goal-directedness: its worlds, its metrics and its published
tables.
"""

from collections.abc import Sequence

from gde.hookspecs import hookimpl
from gde.offers import (
    AnyOffer,
    Capability,
    EnvironmentOffer,
    MetricOffer,
    NoConfig,
    Offer,
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
            make="gde_plugins.meg.cliffworld.environment:CliffWorldEnvironment",
            gives={
                Capability.STATE,
                Capability.MDP,
                Capability.SNAPSHOT,
                Capability.SIMULATOR,
            },
        ),
    )


@hookimpl
def gde_metrics() -> Sequence[AnyOffer]:
    """Offer goal-directedness towards the goal and towards features."""
    from gde_plugins.meg import measures
    from gde_plugins.meg.config import (
        BoundConfig,
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
            part="gde_plugins.meg.metrics.belief:belief",
            measures=measures.BELIEF,
            needs=needs | {Capability.ACTIVATIONS, Capability.MAP},
        ),
        MetricOffer(
            name="meg-bound",
            version=3,
            summary="a lower bound of goal-directedness in worlds that are too large to tabulate",
            config=BoundConfig,
            make="gde_plugins.meg.metrics.bound:measures_bound",
            measures=measures.BOUND,
            imports=("sklearn",),
            extra="probes",
        ),
        MetricOffer(
            name="meg-known",
            version=2,
            summary="goal-directedness towards the reward of the world's model, in nats",
            config=MegConfig,
            group="meg",
            make="gde_plugins.meg.metrics.goals:measures_known",
            measures=measures.KNOWN,
            needs=needs,
        ),
        MetricOffer(
            name="meg-to",
            version=2,
            summary="goal-directedness towards each state feature, e.g. key or wall",
            config=MegConfig,
            group="meg",
            make="gde_plugins.meg.metrics.goals:measures_towards",
            measures=measures.TO,
            needs=needs,
        ),
        MetricOffer(
            name="meg-unknown",
            version=2,
            summary="goal-directedness towards any utility that is linear in the state features",
            config=MegConfig,
            group="meg",
            make="gde_plugins.meg.metrics.goals:measures_unknown",
            measures=measures.UNKNOWN,
            needs=needs,
        ),
        MetricOffer(
            name="meg-verdict",
            version=3,
            summary="is the agent directed towards its goal or away from it? A test against counterfactual goals",
            config=VerdictConfig,
            group="meg",
            make="gde_plugins.meg.metrics.verdict:MegVerdict",
            measures=measures.VERDICT,
        ),
    )


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
            make="gde_plugins.meg.cliffworld.study:CliffWorldStudy",
        ),
    )
