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
    ProbeOffer,
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


@hookimpl
def gde_metrics() -> Sequence[AnyOffer]:
    """Offer goal-directedness towards the goal, towards features, and from the
    inside.
    """
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
            part="gde_plugins.meg.metrics.belief:belief",
            measures=measures.BELIEF,
            needs=needs | {Capability.ACTIVATIONS, Capability.MAP},
        ),
        MetricOffer(
            name="meg-bound",
            summary="a lower bound of goal-directedness in worlds that are too large to tabulate",
            config=BoundConfig,
            make="gde_plugins.meg.metrics.bound:measures_bound",
            measures=measures.BOUND,
            imports=("torch", "sklearn"),
            extra="probes",
        ),
        MetricOffer(
            name="meg-inside",
            summary="goal-directedness towards utilities that depend on the hidden state (with --probe components)",
            config=NoConfig,
            group="meg",
            part="gde_plugins.meg.metrics.hidden_state:inside",
            measures=measures.INSIDE,
            needs=needs | {Capability.ACTIVATIONS},
        ),
        MetricOffer(
            name="meg-known",
            summary="goal-directedness towards the reward of the world's model, in nats",
            config=KnownConfig,
            group="meg",
            make="gde_plugins.meg.metrics.goals:measures_known",
            measures=measures.KNOWN,
        ),
        MetricOffer(
            name="meg-to",
            summary="goal-directedness towards each state feature, e.g. key or wall, and which the agent pursues",
            config=MegConfig,
            group="meg",
            make="gde_plugins.meg.metrics.goals:measures_towards",
            measures=measures.TO,
            needs=needs,
        ),
        MetricOffer(
            name="meg-unknown",
            summary="goal-directedness towards any utility that is linear in the state features",
            config=MegConfig,
            group="meg",
            make="gde_plugins.meg.metrics.goals:measures_unknown",
            measures=measures.UNKNOWN,
            needs=needs,
        ),
        MetricOffer(
            name="meg-verdict",
            summary="is the agent goal-directed? An exact test against counterfactual goals",
            config=VerdictConfig,
            group="meg",
            make="gde_plugins.meg.metrics.verdict:measures_verdict",
            measures=measures.VERDICT,
        ),
    )


@hookimpl
def gde_reproductions() -> Sequence[AnyOffer]:
    """Offer the published tables of MacDermott et al. (2024), and studies of the
    validity of MEG.
    """
    from gde_plugins.meg.config import (
        BaselinesConfig,
        CliffWorldStudyConfig,
        LanguageConfig,
        ValidityConfig,
    )

    return (
        Offer(
            name="meg-cliffworld",
            summary="Goal-directedness of optimal and erring policies in the cliff world "
            "(MacDermott et al. 2024, section 6).",
            config=CliffWorldStudyConfig,
            make="gde_plugins.meg.cliffworld.study:CliffWorldStudy",
        ),
        Offer(
            name="meg-logits",
            summary="Goal-directedness of a language model from the probabilities of its actions, against samples of "
            "them, and with the goal swapped at test time.",
            config=LanguageConfig,
            make="gde_plugins.meg.language.study:LanguageStudy",
            imports=("torch", "transformers"),
            extra="llm",
        ),
        Offer(
            name="meg-baselines",
            summary="Measures adapted from Orseau et al. (2018) and Kenton et al. (2023), beside the verdict.",
            config=BaselinesConfig,
            make="gde_plugins.meg.baselines.study:baselines_study",
        ),
        Offer(
            name="meg-validity",
            summary="False positive rate for goal-blind agents and power for goal-seeking ones.",
            config=ValidityConfig,
            make="gde_plugins.meg.validity.study:validity_study",
        ),
    )


@hookimpl
def gde_probes() -> Sequence[AnyOffer]:
    """Offer a summary of the hidden state for `meg.inside`."""
    from gde_plugins.meg import measures
    from gde_plugins.meg.config import ComponentsConfig

    return (
        ProbeOffer(
            name="components",
            summary="the leading principal components of the hidden state",
            config=ComponentsConfig,
            make="gde_plugins.meg.components:ComponentsProbe",
            measures=measures.COMPONENTS,
            needs=frozenset({Capability.ACTIVATIONS}),
        ),
    )
