"""A random walk through a world, with which the checks of environments begin."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gde.data.observation import Observation, Outcome, State, Task, World
from gde.parts.environment import Environment, HasState
from gde.seeding import generator
from gde.testing.promises import promise, promise_equal, promise_json


@dataclass(frozen=True, kw_only=True)
class Walk:
    """Everything that one random walk shows."""

    first: Observation
    task: Task
    world: World
    actions: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    states: tuple[State, ...]


def walk_at_random(
    environment: Environment, seed: int, turns: int, actions: Sequence[str]
) -> Walk:
    """Take random actions, and check what the environment shows on the way.

    Raises:
        AssertionError: a promise is broken.
    """
    first = environment.reset(seed)
    task = environment.task()
    world = environment.world()
    promise(task.horizon >= 1, f"task().horizon must be at least 1, got {task.horizon}")
    promise(task.objective, "task().objective must say what the agent is to do")
    promise(world.id, "world().id must name the world: averages are taken over worlds")
    promise_json(world.facts, "world().facts")
    promise_json(world.labels, "world().labels")

    rng = generator(seed, "walk")
    states = states_of(environment)
    taken: list[str] = []
    outcomes: list[Outcome] = []
    observation = first
    for _ in range(turns):
        _check_observation(observation)
        choices = observation.actions or tuple(actions) or task.actions
        promise(
            choices,
            "an observation without actions needs `actions` to try, given to the check",
        )
        action = str(rng.choice(choices or ()))
        outcome = environment.step(action)
        check_outcome(outcome)
        promise_equal(
            world, environment.world(), "world() must stay the same during an episode"
        )
        taken.append(action)
        outcomes.append(outcome)
        states += states_of(environment)
        observation = outcome.observation
        if outcome.terminated or outcome.truncated:
            break
    return Walk(
        first=first,
        task=task,
        world=world,
        actions=tuple(taken),
        outcomes=tuple(outcomes),
        states=tuple(states),
    )


def states_of(environment: Environment) -> list[State]:
    """The present state as the only element; empty for an environment without STATE."""
    if not isinstance(environment, HasState):
        return []
    state = environment.state()
    promise_json(state.facts, "state().facts")
    promise_equal(state, environment.state(), "state() must not change the world")
    return [state]


def _check_observation(observation: Observation) -> None:
    promise(
        isinstance(observation, Observation),
        f"reset must return an Observation, got {observation!r}",
    )
    actions = observation.actions
    if actions is not None:
        promise(
            len(set(actions)) == len(actions) > 0,
            f"an observation must list distinct actions, or None; got {actions!r}",
        )


def check_outcome(outcome: Outcome) -> None:
    """Check what a step returns.

    Raises:
        AssertionError: a promise is broken.
    """
    promise(
        isinstance(outcome, Outcome), f"step must return an Outcome, got {outcome!r}"
    )
    promise(
        np.isfinite(outcome.reward), f"a reward must be finite, got {outcome.reward}"
    )
