"""The check of environments (`gde.parts.environment`)."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from gde.data.mdp import TOLERANCE, TabularMDP
from gde.data.observation import Observation, Outcome, State, World
from gde.offers import Capability
from gde.parts.environment import (
    Environment,
    HasDemonstration,
    HasMDP,
    HasOptimum,
    HasState,
    HasWorlds,
)
from gde.parts.snapshots import Restorable, restorable
from gde.seeding import generator
from gde.testing.promises import (
    calling,
    promise,
    promise_equal,
    promise_json,
    promise_protocol,
    promise_raises,
)
from gde.testing.simulator import check_simulator
from gde.testing.view import check_view

NO_ACTION = "no such action \u2205"
FREE_TEXTS = (NO_ACTION, "a first line\n\n\ta third one\r\n", "long" * 25_000)


@dataclass(frozen=True, kw_only=True)
class _Walk:
    """Everything that can be seen of one random walk."""

    first: Observation
    actions: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    states: tuple[State, ...]


def check_environment(
    make: Callable[[], Environment],
    seeds: Sequence[int] = (0, 1, 2),
    turns: int = 20,
    actions: Sequence[str] = (),
    gives: Collection[str] = (),
) -> None:
    """Walk at random through each world, and check every promise of `Environment` and
    its capabilities.

    Args:
        make: gives a new environment. seeds: the worlds to try. turns: length of a
        walk. actions: actions to try where an observation lists none. gives: the
        capabilities that its offer names. MAP and VIEW cannot be seen from its methods.

    Raises:
        AssertionError: a promise is broken.
    """
    environment = make()
    promise_protocol(environment, Environment)
    kinds: set[tuple[str, ...]] = set()
    worlds: dict[str, tuple[World, str]] = {}
    for seed in seeds:
        walk = _walk(environment, seed, turns, actions)
        _check_end(environment, walk)
        again = _walk(environment, seed, turns, actions)
        promise_equal(
            walk,
            again,
            f"seed {seed}: the same seed and actions must give the same world in another reset",
        )
        _check_other_object(environment, make(), seed, turns, actions, walk)
        _check_identity(worlds, environment, seed)
        kinds |= check_view(environment.world(), walk.states, gives)
        _check_rejects(environment, seed)
        _check_snapshot(restorable(environment), seed, walk)
        if isinstance(environment, HasOptimum):
            _check_optimum(environment, seed, walk)
        if isinstance(environment, HasMDP):
            _check_model(environment, seed, walk)
        if isinstance(environment, HasDemonstration):
            _check_demonstration(environment, seed)

    promise(
        len(kinds) <= 1,
        f"all worlds of an environment must have the same `kinds` of cells, got {sorted(kinds)}",
    )
    if isinstance(environment, HasWorlds):
        _check_worlds(environment, make())
    environment.close()
    if Capability.SIMULATOR in gives:
        check_simulator(make, seeds, turns, actions)


def _check_other_object(
    environment: Environment,
    counterfactual: Environment,
    seed: int,
    turns: int,
    actions: Sequence[str],
    walk: _Walk,
) -> None:
    """The same seed must give the same world in another object of the environment."""
    elsewhere = _walk(counterfactual, seed, turns, actions)
    promise_equal(
        walk,
        elsewhere,
        f"seed {seed}: the same seed must give the same world in another object",
    )
    promise_equal(
        environment.world(),
        counterfactual.world(),
        f"seed {seed}: the same seed must give the same world()",
    )
    promise_equal(
        environment.task(),
        counterfactual.task(),
        f"seed {seed}: the same seed must give the same task()",
    )
    counterfactual.close()


def _walk(
    environment: Environment, seed: int, turns: int, actions: Sequence[str]
) -> _Walk:
    """Reset the environment, take random actions, and check what it shows on the
    way.
    """
    first = environment.reset(seed)
    _check_descriptions(environment)
    world = environment.world()
    rng = generator(seed, "walk")

    states = _state(environment)
    taken: list[str] = []
    outcomes: list[Outcome] = []
    observation = first
    for _ in range(turns):
        _check_observation(observation)
        choices = (
            observation.actions or tuple(actions) or environment.task().actions or ()
        )
        promise(
            choices,
            "an observation without actions needs `actions` to try, given to check_environment",
        )
        action = str(rng.choice(choices))
        outcome = environment.step(action)
        _check_outcome(outcome)
        promise_equal(
            world, environment.world(), "world() must stay the same during an episode"
        )
        taken.append(action)
        outcomes.append(outcome)
        states += _state(environment)
        observation = outcome.observation
        if outcome.terminated or outcome.truncated:
            break
    return _Walk(
        first=first,
        actions=tuple(taken),
        outcomes=tuple(outcomes),
        states=tuple(states),
    )


def _state(environment: Environment) -> list[State]:
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
        f"an Observation must be shown, got {observation!r}",
    )
    if observation.actions is not None:
        distinct = len(set(observation.actions)) == len(observation.actions) > 0
        promise(
            distinct,
            f"an observation must list distinct actions, or None; got {observation.actions!r}",
        )


def _check_outcome(outcome: Outcome) -> None:
    promise(isinstance(outcome, Outcome), f"step must give an Outcome, got {outcome!r}")
    told = outcome.success is None or 0 <= outcome.success <= 1
    promise(told, f"success must be from 0 to 1, or None, got {outcome.success}")
    promise(
        np.isfinite(outcome.reward), f"a reward must be finite, got {outcome.reward}"
    )
    promise(
        not (outcome.terminated and outcome.truncated),
        "an outcome must not be both terminated and truncated",
    )


def _check_descriptions(environment: Environment) -> None:
    task = environment.task()
    promise(task.horizon >= 1, f"task().horizon must be at least 1, got {task.horizon}")
    promise(task.objective, "task().objective must say what is asked for")
    world = environment.world()
    promise(world.id, "world().id must name the world, averages are taken over worlds")
    promise_json(world.facts, "world().facts")
    promise_json(world.labels, "world().labels")


def _check_end(environment: Environment, walk: _Walk) -> None:
    last = walk.outcomes[-1]
    if last.terminated and last.observation.actions:
        with promise_raises(
            ValueError, "step must raise ValueError when the episode is over"
        ):
            environment.step(last.observation.actions[0])


def _check_rejects(environment: Environment, seed: int) -> None:
    if environment.reset(seed).actions is not None:
        with promise_raises(
            ValueError,
            "step must raise ValueError for an action that is not admissible",
        ):
            environment.step(NO_ACTION)
        return
    for text in FREE_TEXTS:
        environment.reset(seed)
        promised = f"where no actions are listed, step must take any text, e.g. {text[:20]!r}, {len(text)} characters"
        _check_outcome(calling(partial(environment.step, text), promised))


def _check_snapshot(environment: Restorable, seed: int, walk: _Walk) -> None:
    """Go back from the end of the walk to its middle, and take the second half
    again.
    """
    middle = len(walk.actions) // 2
    shown = environment.reset(seed)
    for action in walk.actions[:middle]:
        shown = environment.step(action).observation

    snapshot = environment.snapshot()
    for _ in range(2):
        outcomes = [environment.step(action) for action in walk.actions[middle:]]
        promise_equal(
            outcomes,
            list(walk.outcomes[middle:]),
            "restore must bring the whole dynamic state back",
        )
        promise_equal(
            environment.restore(snapshot),
            shown,
            "restore must show what was to be seen at the snapshot",
        )
        if isinstance(environment, HasState):
            promise_equal(
                environment.state(),
                walk.states[middle],
                "restore must bring the state back",
            )


def _check_worlds(environment: HasWorlds, counterfactual: Environment) -> None:
    names = list(environment.worlds())
    promise(
        len(set(names)) == len(names),
        f"worlds() must name each world differently, got {names}",
    )
    for place in range(len(names)):
        shown = counterfactual.reset(place), counterfactual.world()
        again = counterfactual.reset(place + 3 * len(names)), counterfactual.world()
        promise_equal(
            shown,
            again,
            f"seeds that are {place} modulo {len(names)} must begin the same listed world",
        )
    counterfactual.close()


def _check_identity(
    known: dict[str, tuple[World, str]], environment: Environment, seed: int
) -> None:
    """Check that different worlds have different ids, because averages are taken over
    worlds.
    """
    shown = environment.reset(seed).text
    world = environment.world()
    same, text = known.setdefault(world.id, (world, shown))
    promise_equal(
        world, same, f"worlds of one id must be one world, {world.id!r} is not"
    )
    if not world.facts:
        promise_equal(
            shown, text, f"worlds of one id must begin alike, {world.id!r} does not"
        )


class _Certified(Environment, HasOptimum, Protocol):
    """An environment that gives optimal actions."""


def _check_optimum(environment: _Certified, seed: int, walk: _Walk) -> None:
    observation = environment.reset(seed)
    for action in walk.actions:
        optimum = environment.optimum()
        promise_equal(
            optimum, environment.optimum(), "optimum() must not change the world"
        )
        if optimum is not None and observation.actions is not None:
            known = set(optimum.actions) <= set(observation.actions)
            promise(known, f"optimal actions must be admissible, got {optimum.actions}")
        observation = environment.step(action).observation


class _Demonstrated(Environment, HasDemonstration, Protocol):
    """An environment that demonstrates the way to its goal."""


def _check_demonstration(environment: _Demonstrated, seed: int) -> None:
    environment.reset(seed)
    shown = tuple(environment.demonstration())
    promise_equal(
        shown,
        tuple(environment.demonstration()),
        "demonstration() must not change the world",
    )
    outcomes = [environment.step(action) for action in shown]
    promise(
        not outcomes or outcomes[-1].success == 1,
        f"demonstration() must reach all of the goal, seed {seed} does not",
    )


class _Tabulated(Environment, HasMDP, Protocol):
    """An environment that is a Markov decision process."""


def _check_model(environment: _Tabulated, seed: int, walk: _Walk) -> None:
    shown = environment.reset(seed)
    model = environment.mdp()
    _check_rows(model)

    before = _index(walk.states[0], model)
    promise(
        model.start[before] > 0,
        "mdp().start must give the first state a probability above zero",
    )
    known = set(shown.actions or ()) <= set(model.actions) and model.actions
    promise(
        known, f"mdp().actions must name every admissible action, got {model.actions}"
    )

    for action, outcome, state in zip(
        walk.actions, walk.outcomes, walk.states[1:], strict=True
    ):
        environment.step(action)
        changed = _has_new_model(environment, model)
        if changed:
            model = environment.mdp()
            _check_rows(model)
        after = _index(state, model)
        if not changed:
            _check_transition(model, before, action, after, outcome)
        before = after


def _has_new_model(environment: HasMDP, model: TabularMDP) -> bool:
    """Whether the world has changed and therefore has another model."""
    now = environment.mdp()
    # An environment that makes a new object at every call shows no change by it.
    return now is not model and now is environment.mdp()


def _check_transition(
    model: TabularMDP, before: int, action: str, after: int, outcome: Outcome
) -> None:
    p = model.transition[model.actions.index(action)][before, after]
    seen = f"{action} led from state {before} to {after}, to which the model gives probability {p}"
    promise(p > 0, f"mdp() must agree with step: {seen}")
    ends = bool(model.terminal is not None and model.terminal[after])
    promise_equal(
        ends,
        outcome.terminated,
        f"mdp().terminal must agree with step in state {after}",
    )


def _check_rows(model: TabularMDP) -> None:
    for a, matrix in enumerate(model.transition):
        sums = np.asarray(matrix.sum(axis=1)).ravel()
        promise(
            np.abs(sums - 1).max() <= TOLERANCE,
            f"every row of mdp().transition[{a}] must sum to one",
        )


def _index(state: State, model: TabularMDP) -> int:
    index = state.index
    inside = index is not None and 0 <= index < model.n_states
    promise(
        inside,
        f"state().index must be a row of the process, 0 to {model.n_states - 1}; got {index}",
    )
    return index or 0
