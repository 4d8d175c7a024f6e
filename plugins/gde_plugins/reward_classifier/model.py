"""The reward models: one number for every beginning of an episode, each by itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from gde.data.origin import origins
from gde.data.reward import Rewards
from gde.data.transcript import Transcript
from gde_plugins.reward_classifier.config import ClassifierConfig
from gde_plugins.reward_classifier.scorer import Scorer, read_card
from gde_plugins.reward_classifier.texts import beginnings

CUT = "texts cut to length"


def supervised(config: ClassifierConfig) -> "Classifier":
    """Make the reward model `supervised`."""
    return _trained("supervised", config, foreign=False)


def vlwm(config: ClassifierConfig) -> "Classifier":
    """Make the reward model `vlwm`."""
    return _trained("vlwm", config, foreign=True)


def _trained(name: str, config: ClassifierConfig, *, foreign: bool) -> "Classifier":
    folder = config.source or Path("none was named")
    card = read_card(folder, f"{name}.source")
    return Classifier(
        name=name,
        scorer=Scorer.load(folder, config.base, config.device),
        domains=frozenset(card["domains"]),
        origins=card["origins"],
        base=Path(card["base"]).name,
        foreign=foreign,
        batch_size=config.batch_size,
    )


@dataclass(frozen=True, kw_only=True)
class Classifier:
    """Implements `gde.parts.reward_model.RewardModel`."""

    name: str
    scorer: Scorer
    domains: frozenset[str]
    """Domains of its training preferences."""
    origins: Mapping[str, str]
    """Training task of each origin, see `gde.data.origin`."""
    base: str
    foreign: bool
    """Whether it judges only domains that it was not trained on."""
    batch_size: int

    async def rewards(self, transcript: Transcript) -> Rewards:
        texts = beginnings(transcript)
        failure = self._unfit(transcript)
        if not failure and transcript.steps and not texts:
            failure = "the world has no fact `objective` that says what is asked for"
        n_cut = 0 if failure else sum(map(self.scorer.cut, texts))
        return Rewards(
            values=np.empty(0) if failure else self._scored(texts),
            failure=failure,
            made_by=f"{self.base} trained on {'+'.join(sorted(self.domains))}",
            counts={CUT: n_cut} if n_cut else {},
        )

    def _unfit(self, transcript: Transcript) -> str:
        domain = transcript.domain
        if self.foreign and domain in self.domains:
            return f"it was trained on {domain}, and {self.name} judges foreign trajectories only: take supervised"
        if known := origins(transcript) & self.origins.keys():
            return f"it was trained on this task or its text, as {self.origins[min(known)]}: train it on other tasks"
        return ""

    def _scored(self, texts: list[str]) -> np.ndarray:
        if not texts:
            return np.empty(0)
        with torch.inference_mode():
            starts = range(0, len(texts), self.batch_size)
            batches = [
                self.scorer.rewards(texts[start : start + self.batch_size])
                for start in starts
            ]
        return torch.cat(batches).cpu().numpy().astype(np.float64)
