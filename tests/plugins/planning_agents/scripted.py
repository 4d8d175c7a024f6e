"""Language models that say what a test wants, and episodes played with their help."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from gde.data.completion import ChatRequest, Completion, Finish, ModelInfo
from gde.data.trajectory import Decision
from gde.parts.agent import Agent, Brief
from gde.parts.environment import Environment
from gde.parts.snapshots import restorable
from gde.testing.simulator import simulator


@dataclass
class Scripted:
    """Gives answers in turn, the last one again and again, and keeps the requests."""

    answers: Sequence[str | Callable[[ChatRequest], str]]
    finish: Finish = "stop"
    asked: list[ChatRequest] = field(default_factory=list)

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(name="scripted")

    async def complete(self, request: ChatRequest) -> Completion:
        answer = self.answers[min(len(self.asked), len(self.answers) - 1)]
        self.asked.append(request)
        said = answer if isinstance(answer, str) else answer(request)
        return Completion(text=said, reasoning=None, finish=self.finish)

    def close(self) -> None:
        """Nothing is held."""


def play(agent: Agent, make: Callable[[], Environment], seed: int = 0, turns: int = 100) -> list[Decision]:
    """The decisions of one episode, to its end or so many turns."""
    return asyncio.run(_play(agent, make, seed, turns))


async def _play(agent: Agent, make: Callable[[], Environment], seed: int, turns: int) -> list[Decision]:
    world, private = restorable(make()), restorable(make())
    observation = world.reset(seed)
    agent.begin(Brief(task=world.task(), seed=seed, simulator=simulator(world, private, seed, dice=seed)))
    decisions: list[Decision] = []
    for _ in range(turns):
        decisions.append(await agent.act(observation))
        if decisions[-1].action is None:
            continue
        outcome = world.step(decisions[-1].action)
        observation = outcome.observation
        if outcome.terminated:
            break
    return decisions
