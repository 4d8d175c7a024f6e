"""The reward model: how much of its goal every state of an episode fulfils."""

from dataclasses import dataclass

import numpy as np

from gde.data.reward import Rewards
from gde.data.transcript import Transcript
from gde.parts.context import Context
from gde_plugins.statefactory.config import StateFactoryConfig
from gde_plugins.statefactory.embedding import Embedder, embedder
from gde_plugins.statefactory.language_model.extractor import ModelExtractor
from gde_plugins.statefactory.oracle import OracleGoals
from gde_plugins.statefactory.routing import Vectors, fulfilment
from gde_plugins.statefactory.rules.extractor import RulesExtractor
from gde_plugins.statefactory.state import Extractor, Reading

EMPTY = "empty states"
"""Count of the turns whose state has no objects, so that none of the goal is
fulfilled.
"""


def statefactory(config: StateFactoryConfig, context: Context) -> "StateFactory":
    """Make the reward model `statefactory`."""
    embed = embedder(config.embedder)
    states: Extractor = RulesExtractor(config.level)
    # Level 1 is the observation itself, which no language model has to read.
    if config.model and config.level > 1:
        states = ModelExtractor(config, context.model(config.model))
    if config.goal == "oracle":
        states = OracleGoals(states, embed)
    return StateFactory(states, embed, str(config.embedder), config.decimals)


@dataclass(frozen=True)
class StateFactory:
    """Implements `gde.parts.reward_model.RewardModel`: the reward of a turn is how much
    of the goal its state fulfils.

    All texts of an episode are encoded in one batch, each once.
    """

    extractor: Extractor
    embedder: Embedder
    embedder_name: str = "words"
    decimals: int | None = None

    async def rewards(self, transcript: Transcript) -> Rewards:
        reading = await self.extractor.read(transcript)
        return Rewards(
            values=np.empty(0) if reading.failure else self._values(reading),
            failure=reading.failure,
            made_by=f"{reading.made_by}; embedder {self.embedder_name}",
            counts=_counts(reading),
        )

    def _values(self, reading: Reading) -> np.ndarray:
        texts: list[str] = []
        for items in (*reading.goals, *reading.states):
            for item in items:
                texts.extend(item.texts())
        vectors = Vectors(texts, self.embedder)

        turns = zip(reading.states, reading.goals, strict=True)
        values = [
            fulfilment(state, goal, vectors, self.decimals) for state, goal in turns
        ]
        return np.array(values, dtype=np.float64)


def _counts(reading: Reading) -> dict[str, int]:
    n_empty = sum(not state for state in reading.states)
    counts = {**reading.counts, EMPTY: n_empty}
    return {name: n for name, n in counts.items() if n}
