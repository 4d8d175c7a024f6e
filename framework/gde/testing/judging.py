"""A reward model that asks a language model, and the script of a model that answers
it.
"""

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
    """Asks a language model for a number about every turn, one after the other.

    An answer that is no number from 0 to 1 leaves the whole episode without rewards and
    gives the reason.
    """

    model: LanguageModel

    async def rewards(self, trajectory: Trajectory) -> RewardTrace:
        episode = str(trajectory.key)
        values: list[float] = []
        for turn in trajectory.turns:
            completion = await self.model.complete(_request(turn))
            answer = completion.text
            if not NUMBER.fullmatch(answer):
                failure = f"turn {turn.index}: wanted a number from 0 to 1, got {answer[:80]!r}"
                return RewardTrace(
                    model="judge", episode=episode, values=np.empty(0), failure=failure
                )
            values.append(float(answer))
        return RewardTrace(model="judge", episode=episode, values=np.array(values))


def appraise(request: ChatRequest) -> str:
    """Answer how far along the corridor in the request the agent stands, from 0 to
    1.
    """
    *_, last_line = request.messages[-1].content.split("\n")
    corridor = last_line.strip("#")
    if "A" not in corridor:
        return "no corridor"
    last_cell = max(len(corridor) - 1, 1)
    return f"{corridor.find('A') / last_cell:.3f}"


def _request(turn: Turn) -> ChatRequest:
    message = Message(role="user", content=f"{QUESTION}\n{turn.observation.text}")
    return ChatRequest(
        messages=(message,), seed=0, sampling=Sampling(temperature=0.0, max_tokens=64)
    )
