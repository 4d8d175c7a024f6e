"""The check of environments (`gde.parts.environment`)."""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from itertools import groupby
from typing import Any

from gde.data.goals import Goals
from gde.data.mdp import TabularMDP
from gde.data.observation import Outcome, State, World
from gde.errors import GdeError
from gde.offers import Capability
from gde.parts.environment import (
    Environment,
    HasDemonstration,
    HasGoals,
    HasMDP,
    HasOptimum,
    HasState,
    HasTasks,
    HasWorlds,
)
from gde.parts.snapshots import Restorable, restorable
from gde.testing.promises import (
    calling,
    promise,
    promise_equal,
    promise_protocol,
    promise_raises,
)
from gde.testing.simulator import check_simulator
from gde.testing.view import check_view
from gde.testing.walk import Walk, check_outcome, states_of, walk_at_random

NO_ACTION = "no such action \u2205"
FREE_TEXTS = (NO_ACTION, "a first line\n\n\ta third one\r\n", "long" * 25_000)


def check_environment(
    make: Callable[[], Environment],
    seeds: Sequence[int] = (0, 1, 2),
    turns: int = 20,
    actions: Sequence[str] = (),
    gives: Collection[str] = (),
) -> None:
    """Walk at random through worlds and check every promise of `Environment`.

    Args:
        make: gives a new environment.
        seeds: the worlds to try.
        turns: length of a walk.
        actions: actions to try where an observation lists none.
        gives: the capabilities that its offer names. MAP and VIEW cannot be seen from
            its methods.

    Raises:
        AssertionError: a promise is broken.
    """
    environment = make()
    promise_protocol(environment, Environment)
    kinds: set[tuple[str, ...]] = set()
    worlds: dict[str, tuple[World, str]] = {}
    for seed in seeds:
        walk = walk_at_random(environment, seed, turns, actions)
        _check_end(environment, walk)
        again = walk_at_random(environment, seed, turns, actions)
        promise_equal(
            walk,
            again,
            f"seed {seed}: the same seed and actions must give the same episode after another reset",
        )
        second = make()
        elsewhere = walk_at_random(second, seed, turns, actions)
        promise_equal(
            walk,
            elsewhere,
            f"seed {seed}: the same seed and actions must give the same episode in another object",
        )
        second.close()

        _check_identity(worlds, walk)
        kinds |= check_view(walk.world, walk.states, gives)
        _check_rejects(environment, seed)
        _check_snapshot(restorable(environment), seed, walk)
        if isinstance(environment, HasOptimum):
            _check_optimum(environment, seed, walk)
        if isinstance(environment, HasMDP):
            _check_model(environment, seed, walk)
        if isinstance(environment, HasDemonstration):
            _check_demonstration(environment, seed)
        if isinstance(environment, HasGoals):
            _check_goals(environment, seed)

    promise(
        len(kinds) <= 1,
        f"all worlds of an environment must have the same `kinds` of cells, got {sorted(kinds)}",
    )
    if isinstance(environment, HasWorlds):
        _check_worlds(environment, make())
    environment.close()
    if Capability.SIMULATOR in gives:
        check_simulator(make, seeds, turns, actions)


def _check_end(environment: Environment, walk: Walk) -> None:
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
        check_outcome(calling(partial(environment.step, text), promised))


def _check_snapshot(environment: Restorable, seed: int, walk: Walk) -> None:
    """Go back from the end of the walk to its middle and repeat the second half."""
    middle = len(walk.actions) // 2
    shown = environment.reset(seed)
    for action in walk.actions[:middle]:
        shown = environment.step(action).observation

    snapshot = environment.snapshot()
    for _ in range(2):
        outcomes = tuple(environment.step(action) for action in walk.actions[middle:])
        promise_equal(
            outcomes, walk.outcomes[middle:], "restore must restore the whole state"
        )
        promise_equal(
            environment.restore(snapshot),
            shown,
            "restore must return the observation at the snapshot",
        )
        if isinstance(environment, HasState):
            promise_equal(
                environment.state(),
                walk.states[middle],
                "restore must restore state()",
            )


def _check_worlds(environment: HasWorlds, second: Environment) -> None:
    names = list(environment.worlds())
    promise(
        len(set(names)) == len(names),
        f"worlds() must name each world differently, got {names}",
    )
    if isinstance(environment, HasTasks):
        tasks = list(environment.tasks_of_worlds())
        apart = len([*groupby(tasks)]) > len(set(tasks))
        promise(
            len(tasks) == len(names) and not apart,
            f"tasks_of_worlds() must name the task of each of {len(names)} worlds, those of one together, got {tasks}",
        )
    for place in range(len(names)):
        shown = second.reset(place), second.world()
        again = second.reset(place + 3 * len(names)), second.world()
        promise_equal(
            shown,
            again,
            f"seeds that are {place} modulo {len(names)} must begin the same listed world",
        )
    second.close()


def _check_identity(known: dict[str, tuple[World, str]], walk: Walk) -> None:
    """Different worlds need different ids, because averages are taken over worlds."""
    world = walk.world
    # Where nothing is told of a world, its beginning tells it from others.
    begins = "" if world.facts else walk.first.text
    promise_equal(
        (world, begins),
        known.setdefault(world.id, (world, begins)),
        f"worlds with the same id must be the same and begin alike, {world.id!r} does not",
    )


# The environments below have a capability beside `Environment`, for which there is no
# type.
def _check_optimum(environment: Any, seed: int, walk: Walk) -> None:
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


def _check_demonstration(environment: Any, seed: int) -> None:
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
        f"demonstration() must reach the whole goal, seed {seed} does not",
    )


def _check_goals(environment: Any, seed: int) -> None:
    """Begin again with each goal: the goal changes, and what it was drawn from stays."""
    shown = environment.reset(seed)
    world = environment.world()
    state = states_of(environment)
    try:
        goals: Goals = environment.goals()
    except GdeError:
        # No generator; the message goes to the user.
        return
    with promise_raises(ValueError, "set_goal must raise ValueError for no such goal"):
        environment.set_goal(NO_ACTION)

    for name in (*goals.probabilities, goals.present):
        again = environment.set_goal(name)
        redrawn = environment.goals()
        promise_equal(
            redrawn.present, name, "set_goal must make the goal the present one"
        )
        promise_equal(
            list(redrawn.probabilities.items()),
            list(goals.probabilities.items()),
            f"goals() must give the same probabilities with goal {name!r}",
        )
        promise_equal(
            again.actions, shown.actions, "set_goal must leave the first actions"
        )
    same = again, environment.world(), states_of(environment)
    promise_equal(
        same,
        (shown, world, state),
        "set_goal with the present goal must begin the same episode",
    )


def _check_model(environment: Any, seed: int, walk: Walk) -> None:
    shown = environment.reset(seed)
    model = environment.mdp()
    before = _index(walk.states[0], model)
    promise(
        model.start[before] > 0,
        "mdp().start must give the first state a probability above zero",
    )
    known = model.actions and set(shown.actions or ()) <= set(model.actions)
    promise(
        known, f"mdp().actions must name every admissible action, got {model.actions}"
    )

    for action, outcome, state in zip(
        walk.actions, walk.outcomes, walk.states[1:], strict=True
    ):
        environment.step(action)
        now = environment.mdp()
        # A new object means that the world has changed, unless every call makes one.
        changed = now is not model and now is environment.mdp()
        if changed:
            model = now
        after = _index(state, model)
        if not changed:
            _check_transition(model, before, action, after, outcome)
        before = after


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


def _index(state: State, model: TabularMDP) -> int:
    index = state.index
    if index is None or not 0 <= index < model.n_states:
        raise AssertionError(
            f"state().index must be a state of mdp(), 0 to {model.n_states - 1}; got {index}"
        )
    return index
