"""The check of agents (`gde.parts.agent`)."""

import asyncio
from collections.abc import Callable, Sequence
from inspect import iscoroutinefunction

from gde.data.observation import Observation
from gde.data.trajectory import Decision
from gde.parts.agent import Agent, Brief
from gde.parts.environment import Environment, HasState
from gde.parts.snapshots import restorable
from gde.testing.parts import Corridor
from gde.testing.promises import promise, promise_equal, promise_protocol
from gde.testing.simulator import simulator


def check_agent(
    make: Callable[[], Agent],
    environment: Callable[[], Environment] = Corridor,
    seeds: Sequence[int] = (0, 1, 2),
    turns: int = 10,
) -> None:
    """Play one episode for each seed and check every promise of `Agent`.

    Args:
        make: gives a new agent for one episode.
        environment: gives the world to act in.
        seeds: seeds of the worlds and of the agents.
        turns: most decisions in an episode.

    Raises:
        AssertionError: a promise is broken.
    """
    promise_protocol(make(), Agent)
    promise(
        iscoroutinefunction(make().act),
        "act must be an `async def`, for agents that wait for a model",
    )

    # The other order shows agents that carry something from one episode to the next.
    decided = {
        seed: asyncio.run(_episode(make(), environment, seed, turns)) for seed in seeds
    }
    for seed in reversed(seeds):
        again = asyncio.run(_episode(make(), environment, seed, turns))
        promise_equal(
            decided[seed],
            again,
            f"an agent must be a function of its seed (seed {seed}, two episodes)",
        )


async def _episode(
    agent: Agent, make: Callable[[], Environment], seed: int, turns: int
) -> list[Decision]:
    environment = restorable(make())
    counterfactual = restorable(make())
    observation = environment.reset(seed)
    private = simulator(environment, counterfactual, seed, dice=seed)
    agent.begin(
        Brief(
            task=environment.task(),
            seed=seed,
            environment=environment,
            simulator=private,
        )
    )

    decisions: list[Decision] = []
    for _ in range(turns):
        before = environment.state() if isinstance(environment, HasState) else None
        decision = await agent.act(observation)
        _check_decision(decision, observation)
        if isinstance(environment, HasState):
            promise_equal(
                environment.state(),
                before,
                "an agent must not change the environment of its brief",
            )
        decisions.append(decision)
        if decision.action is not None:
            outcome = environment.step(decision.action)
            observation = outcome.observation
            if outcome.terminated or outcome.truncated:
                break

    environment.close()
    counterfactual.close()
    return decisions


def _check_decision(decision: Decision, observation: Observation) -> None:
    promise(
        isinstance(decision, Decision), f"act must return a Decision, got {decision!r}"
    )
    if decision.action is None:
        promise(
            decision.detail,
            f"a decision of status {decision.status!r} must have the answer in `detail`",
        )
    elif observation.actions is not None:
        promise(
            decision.action in observation.actions,
            f"an action must be one of {', '.join(observation.actions)}; got {decision.action!r}",
        )
