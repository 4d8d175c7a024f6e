"""Offers trained reward models."""

from collections.abc import Sequence

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Offer

IMPORTS, EXTRA = ("torch", "transformers", "safetensors"), "rewards"


@hookimpl
def gde_reward_models() -> Sequence[AnyOffer]:
    """Classifiers of trained domains, and of foreign ones."""
    from gde_plugins.reward_classifier.config import ClassifierConfig

    return (
        Offer(
            name="supervised",
            summary="sequence classifier trained on preferences (Shen et al. 2026, C.2)",
            config=ClassifierConfig,
            make="gde_plugins.reward_classifier.model:supervised",
            imports=IMPORTS,
            extra=EXTRA,
        ),
        Offer(
            name="vlwm",
            summary="supervised, for domains that it was not trained on only (Shen et al. 2026, table 1)",
            config=ClassifierConfig,
            make="gde_plugins.reward_classifier.model:vlwm",
            imports=IMPORTS,
            extra=EXTRA,
        ),
    )
