"""A context for making parts in tests, without a run."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp

from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.parts.agent import Agent
from gde.parts.context import Through
from gde.parts.language_model import LanguageModel
from gde.parts.metric import Metric
from gde.parts.probe import Readout
from gde.parts.reward_model import RewardModel
from gde.request.catalogue import Catalogue
from gde.testing.parts import PlantedModel


@dataclass
class PlainContext:
    """Implements `gde.parts.context.Context` without a run.

    Language models are those given, else planted. Reward models are those given, else
    installed. Metrics are those installed.
    """

    models: Mapping[str, LanguageModel] = field(default_factory=dict)
    readouts: Mapping[tuple[str, str], Readout] = field(default_factory=dict)
    """(probe, fit) to readout."""
    rewards: Mapping[str, RewardModel] = field(default_factory=dict)
    seed: int = 0

    @cached_property
    def scratch(self) -> Path:
        return Path(mkdtemp(prefix="gde-test-"))

    def model(self, name: str) -> LanguageModel:
        return self.models.get(name) or PlantedModel()

    def reward_model(self, name: str) -> RewardModel:
        if name in self.rewards:
            return self.rewards[name]
        offer = Catalogue.default().find("reward_model", name).offer
        model: RewardModel = offer.make(offer.config(), self)
        return model

    def secret(self, variable: str, url: str) -> str:  # noqa: ARG002 - nothing is sent
        return os.environ.get(variable, "")

    def metric(self, name: str) -> Metric:
        offer = Catalogue.default().find_metric(name).offer
        metric: Metric = offer.make(offer.config(), self)
        return metric

    def readout(self, probe: str, fit: str) -> Readout:
        if (probe, fit) not in self.readouts:
            raise GdeError(
                f"fit {fit!r} of probe {probe!r}: none was given to this context"
            )
        return self.readouts[probe, fit]

    def agent(self, trajectory: Trajectory, through: Through) -> Agent:  # noqa: ARG002
        raise GdeError(f"episode {trajectory.key}: there is no agent outside of a run")
