"""Offers trained reward models."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Offer

if TYPE_CHECKING:
    from gde.parts.context import Context
    from gde.parts.reward_model import RewardModel
    from gde_plugins.reward_classifier.config import ClassifierConfig

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
            make=_supervised,
            imports=IMPORTS,
            extra=EXTRA,
        ),
        Offer(
            name="vlwm",
            summary="supervised, for domains that it was not trained on only (Shen et al. 2026, table 1)",
            config=ClassifierConfig,
            make=_vlwm,
            imports=IMPORTS,
            extra=EXTRA,
        ),
    )


def _supervised(config: "ClassifierConfig", _: "Context") -> "RewardModel":
    return _trained("supervised", config, foreign=False)


def _vlwm(config: "ClassifierConfig", _: "Context") -> "RewardModel":
    return _trained("vlwm", config, foreign=True)


def _trained(name: str, config: "ClassifierConfig", *, foreign: bool) -> "RewardModel":
    from gde_plugins.reward_classifier.model import Classifier
    from gde_plugins.reward_classifier.scorer import Scorer, read_card

    folder = config.source or Path("none was named")
    card = read_card(folder, f"{name}.source")
    return Classifier(
        name=name,
        scorer=Scorer.load(folder, config.base, config.device),
        domains=frozenset(map(str, card["domains"])),
        origins=card["origins"],
        base=Path(str(card["base"])).name,
        foreign=foreign,
        batch_size=config.batch_size,
    )
