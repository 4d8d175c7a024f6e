"""The reward model: every state of an episode against the goal."""

from dataclasses import dataclass

import numpy as np

from gde.data.reward import RewardTrace
from gde.data.trajectory import Trajectory
from gde_plugins.statefactory.embedding import Embedder
from gde_plugins.statefactory.extraction import extractor_for
from gde_plugins.statefactory.routing import Vectors, fulfilment

OBJECTIVE = "objective"
"""The fact of a world that says in words what is asked for."""


@dataclass(frozen=True)
class StateFactory:
    """Implements `gde.parts.reward_model.RewardModel`: the reward of a turn is how much of the goal its observation
    fulfils. All texts of an episode are encoded in one batch, each once."""

    embedder: Embedder
    rules: bool
    """Whether rules for known worlds are used."""
    decimals: int | None = None

    async def rewards(self, trajectory: Trajectory) -> RewardTrace:
        objective = trajectory.world.facts.get(OBJECTIVE)
        if not isinstance(objective, str) or not objective.strip():
            return _trace(trajectory, np.empty(0), "the world has no fact `objective` that says what is asked for")
        extractor = extractor_for(objective, self.rules)
        goal = extractor.goal(objective)
        if not goal:
            return _trace(trajectory, np.empty(0), f"no object in the objective {objective[:80]!r}")
        states = [extractor.state(turn.observation.text) for turn in trajectory.turns]
        texts = (text for items in (goal, *states) for item in items for text in item.texts())
        vectors = Vectors(texts, self.embedder)
        values = [fulfilment(state, goal, vectors, self.decimals) for state in states]
        return _trace(trajectory, np.array(values, dtype=np.float64))


def _trace(trajectory: Trajectory, values: np.ndarray, failure: str = "") -> RewardTrace:
    return RewardTrace(model="statefactory", episode=str(trajectory.key), values=values, failure=failure)
