"""Settings of the profile."""

from dataclasses import dataclass

from gde.data.ranges import Count
from gde.offers import ModelName, WeightsName


@dataclass(frozen=True, kw_only=True)
class ProfileConfig:
    """Sizes of the parts at scale 1."""

    grids: Count = 40
    """Grids for each pair of size and density."""
    worlds: Count = 200
    """Grids whose maps are decoded."""
    keys: Count = 100
    """Key worlds, worlds in fog, and pairs of worlds with the goal moved."""
    questions: Count = 20
    """Seeds for each level of the BabyAI questions."""
    pairs: Count = 50
    """Pairs of a success and a failure that the model judges as a reward model."""
    texts: Count = 30
    """Text worlds, without and with a reward model."""
    weights: WeightsName = ""
    """Local weights of a served model, e.g. hf:PATH_OR_ID, whose activations the probes
    read; empty if the agent's model gives activations itself.
    """
    models: tuple[ModelName, ...] = ()
    """Other language models that the same agent asks, a column each."""
