"""A judge: a reward model that asks a language model, and a model that knows the answers."""

import re
from dataclasses import dataclass

import numpy as np

from gde.data.completion import ChatRequest, Message, Sampling
from gde.data.reward import RewardTrace
from gde.data.trajectory import Trajectory, Turn
from gde.parts.language_model import LanguageModel

QUESTION = "How much of the way to the goal is done, from 0 to 1?"
NUMBER = re.compile(r"\s*(0(\.\d+)?|1(\.0+)?)\s*")


@dataclass
class Judge:
    """Asks a language model about every turn, one after the other, and takes the number that it says.

    An answer that is no number from 0 to 1 leaves the whole episode without rewards, and says so.
    """

    model: LanguageModel

    async def rewards(self, trajectory: Trajectory) -> RewardTrace:
        values: list[float] = []
        for turn in trajectory.turns:
            answer = (await self.model.complete(_request(turn))).text
            if not NUMBER.fullmatch(answer):
                failure = f"turn {turn.index}: wanted a number from 0 to 1, got {answer[:80]!r}"
                return RewardTrace(model="judge", episode=str(trajectory.key), values=np.empty(0), failure=failure)
            values.append(float(answer))
        return RewardTrace(model="judge", episode=str(trajectory.key), values=np.array(values))


def appraise(request: ChatRequest) -> str:
    """The script of a model that reads a corridor: how far along it the agent stands."""
    corridor = request.messages[-1].content.rpartition("\n")[2].strip("#")
    return f"{corridor.find('A') / max(len(corridor) - 1, 1):.3f}" if "A" in corridor else "no corridor"


def _request(turn: Turn) -> ChatRequest:
    message = Message(role="user", content=f"{QUESTION}\n{turn.observation.text}")
    return ChatRequest(messages=(message,), seed=0, sampling=Sampling(temperature=0.0, max_tokens=64))
