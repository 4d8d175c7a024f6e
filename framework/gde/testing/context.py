"""A context for making parts in tests, without a run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gde.data.measure import Measures
from gde.errors import GdeError
from gde.parts.context import OutsideRun
from gde.parts.language_model import LanguageModel
from gde.parts.metric import Declared, Metric
from gde.parts.probe import Readout
from gde.parts.reward_model import RewardSource
from gde.request.catalogue import Catalogue, Entry
from gde.stages.rewarding import Shown
from gde.testing.parts import PlantedModel


@dataclass
class PlainContext(OutsideRun):
    """Implements `gde.parts.context.Context` without a run.

    Language models are those given, else planted. Reward models are those given, else
    installed. Metrics are those installed.
    """

    models: Mapping[str, LanguageModel] = field(default_factory=dict)
    readouts: Mapping[tuple[str, str], Readout] = field(default_factory=dict)
    """(probe, fit) to readout."""
    rewards: Mapping[str, RewardSource] = field(default_factory=dict)
    seed: int = 0

    def model(self, name: str) -> LanguageModel:
        return self.models.get(name) or PlantedModel()

    def reward_model(self, name: str) -> RewardSource:
        if name in self.rewards:
            return self.rewards[name]
        entry = Catalogue.default().find("reward_model", name)
        return Shown(name, self._made(entry), entry.offer.needs)

    def metric(self, name: str) -> Metric:
        entry = Catalogue.default().find_metric(name)
        return Declared(self._made(entry), Measures(entry.metric.measures))

    def readout(self, probe: str, fit: str) -> Readout:
        if (probe, fit) not in self.readouts:
            raise GdeError(
                f"fit {fit!r} of probe {probe!r}: none was given to this context"
            )
        return self.readouts[probe, fit]

    def _made(self, entry: Entry) -> Any:
        return entry.offer.made(entry.offer.config(), self)
