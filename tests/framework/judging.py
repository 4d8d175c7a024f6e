"""A reward model that asks a language model, and a script for its answers."""

import re
from dataclasses import dataclass

import numpy as np

from gde.data.completion import ChatRequest, Message, Sampling
from gde.data.reward import Rewards
from gde.data.transcript import Transcript
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

    async def rewards(self, transcript: Transcript) -> Rewards:
        values: list[float] = []
        failure = ""
        for index, step in enumerate(transcript.steps):
            question = f"{QUESTION}\n{step.observation}"
            request = ChatRequest(
                messages=(Message(role="user", content=question),),
                seed=0,
                sampling=Sampling(temperature=0.0, max_tokens=64),
            )
            completion = await self.model.complete(request)
            if not NUMBER.fullmatch(completion.text):
                failure = f"turn {index}: wanted a number from 0 to 1, got {completion.text[:80]!r}"
                values = []
                break
            values.append(float(completion.text))
        return Rewards(values=np.array(values), failure=failure)


def appraise(request: ChatRequest) -> str:
    """Answer how far along the corridor in the request the agent stands, 0 to 1."""
    *_, last_line = request.messages[-1].content.split("\n")
    corridor = last_line.strip("#")
    if "A" not in corridor:
        return "no corridor"
    last_cell = max(len(corridor) - 1, 1)
    return f"{corridor.find('A') / last_cell:.3f}"
