"""Settings of trained reward models."""

from dataclasses import dataclass
from typing import Annotated

from gde.data.how import How
from gde.data.ranges import Count
from gde.offers import FilePath


@dataclass(frozen=True, kw_only=True)
class ClassifierConfig:
    """The trained model of a reward model."""

    source: FilePath | None = None
    """The folder of a trained model (`examples/reward_classifier_training`)."""
    base: FilePath | None = None
    """The folder of the model that an adapter was trained on; none for where it was in
    training.
    """
    device: Annotated[str, How] = "cpu"
    """Device: cpu, cuda or mps."""
    batch_size: Annotated[Count, How] = 16
    """Number of texts per batch."""
