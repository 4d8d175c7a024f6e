"""Episodes played without a run."""

import asyncio
from collections.abc import Callable

from gde.data.trajectory import Decision
from gde.parts.agent import Agent, Brief
from gde.parts.environment import Environment
from gde.parts.snapshots import restorable
from gde.testing.simulator import simulator


def play(
    agent: Agent, make: Callable[[], Environment], seed: int = 0, turns: int = 100
) -> list[Decision]:
    """The decisions of one episode, to its end or so many turns."""
    return asyncio.run(_play(agent, make, seed, turns))


async def _play(
    agent: Agent, make: Callable[[], Environment], seed: int, turns: int
) -> list[Decision]:
    world, private = restorable(make()), restorable(make())
    observation = world.reset(seed)
    agent.begin(
        Brief(
            task=world.task(),
            seed=seed,
            simulator=simulator(world, private, seed, dice=seed),
        )
    )
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
