"""Studies of MEG itself, as a plugin: how often it is right, and its rivals.

export PYTHONPATH=benchmarks GDE_LOAD_PLUGINS=meg_studies
gde reproduce meg-validity --scale 0.1
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Offer
from meg_studies.config import BaselinesConfig, LanguageConfig, ValidityConfig

if TYPE_CHECKING:
    from gde.parts.context import Context
    from gde.parts.reproduction import Reproduction


@hookimpl
def gde_reproductions() -> Sequence[AnyOffer]:
    """Offer the studies."""
    return (
        Offer(
            name="meg-logits",
            summary="Goal-directedness of a language model from the probabilities of its actions, against samples of "
            "them, and with the goal swapped at test time.",
            config=LanguageConfig,
            make=_language,
            imports=("torch", "transformers"),
            extra="llm",
        ),
        Offer(
            name="meg-baselines",
            summary="Measures adapted from Orseau et al. (2018) and Kenton et al. (2023), beside the verdict.",
            config=BaselinesConfig,
            make=_baselines,
        ),
        Offer(
            name="meg-validity",
            summary="False positive rate for goal-blind agents and power for goal-seeking ones.",
            config=ValidityConfig,
            make=_validity,
        ),
    )


def _language(config: LanguageConfig, context: "Context") -> "Reproduction":
    from meg_studies.language.study import LanguageStudy

    return LanguageStudy(config, context)


def _baselines(config: BaselinesConfig, _: "Context") -> "Reproduction":
    from meg_studies.baselines.study import baselines_study

    return baselines_study(config)


def _validity(config: ValidityConfig, _: "Context") -> "Reproduction":
    from meg_studies.validity.study import validity_study

    return validity_study(config)
