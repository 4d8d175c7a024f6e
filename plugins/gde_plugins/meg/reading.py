"""Worlds and behaviour as users have them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gde.data.mdp import Policy, TabularMDP
from gde.data.plan import Choice
from gde.data.trajectory import Trajectory
from gde.offers import Offer
from gde.parts.context import OutsideRun
from gde.parts.environment import Environment, HasMDP
from gde.parts.snapshots import Played
from gde_plugins.meg.metrics.recorded import episode_of
from gde_plugins.meg.trajectories.action_sampling import played
from gde_plugins.meg.trajectories.episodes import UNUSABLE, Episode
from gde_plugins.meg.trajectories.utilities import Feature

COLUMNS = ("episode", "state", "action")
"""Of a log."""
SEEDS = 50
"""Episodes that an object with `predict` plays in a world that is sampled."""


def started(choice: Choice) -> Environment:
    """Begin the first episode of the environment of a choice that holds its part."""
    offer = choice.part
    if not isinstance(offer, Offer):
        raise ValueError(
            f"world: wanted a choice made by from_gymnasium, got one of {choice.name!r}"
        )
    environment: Environment = offer.made(offer.config(**choice.config), OutsideRun())
    environment.reset(0)
    return environment


def tabulated(world: Any) -> tuple[TabularMDP, list[str]]:
    """Return the model of a world, and what is assumed of it.

    Raises:
        ValueError: it has none.
    """
    if isinstance(world, TabularMDP):
        return world, []
    if isinstance(world, HasMDP):
        return world.mdp(), []
    if not isinstance(world, np.ndarray | Sequence) or isinstance(world, str):
        raise ValueError(
            f"world: wanted a TabularMDP, transitions, a Diagram or an environment, got {type(world).__name__}:"
            " of a table of Gymnasium give gde_plugins.gymnasium.mdp_of(environment)"
        )
    first = np.shape(world[0]) if len(world) else ()
    mdp = TabularMDP.of(world, np.zeros(first[:1] or 0))
    return mdp, ["episodes begin in state 0", "no state is terminal"]


def rewarded(mdp: TabularMDP, towards: Any) -> tuple[TabularMDP, str]:
    """Return the world with a utility as its reward, and the utility in words.

    Raises:
        ValueError: it does not fit the world.
    """
    if isinstance(towards, str):
        return Feature(towards)(mdp), f"the utility is the label {towards}"
    if isinstance(towards, set | frozenset | range):
        targets = sorted(towards)
        wrong = [state for state in targets if state not in range(mdp.n_states)]
        if wrong or not targets:
            raise ValueError(
                f"towards: wanted target states from 0 to {mdp.n_states - 1}, got {wrong or 'none'}"
            )
        reward = np.isin(np.arange(mdp.n_states), targets).astype(np.float64)
        return replace(mdp, reward=reward), f"the utility is 1 in states {targets}"
    if callable(towards):
        values = [float(towards(state)) for state in range(mdp.n_states)]
        return replace(
            mdp, reward=np.array(values)
        ), "the utility is the function given"
    reward = np.asarray(towards, dtype=np.float64)
    return replace(mdp, reward=reward), "the utility is the reward given"


def asked_policy(behaviour: Any, mdp: TabularMDP) -> Policy:
    """Return a policy; that of an object with `predict` is asked in every state.

    Raises:
        ValueError: it is no policy, or names an action that the world has not.
    """
    if isinstance(behaviour, Policy):
        return behaviour
    if not hasattr(behaviour, "predict"):
        if not isinstance(behaviour, np.ndarray | list | tuple):
            raise ValueError(
                f"behaviour: wanted a policy, a log, trajectories or an object with predict,"
                f" got {type(behaviour).__name__}"
            )
        return Policy.of(behaviour)
    predicted = behaviour.predict(np.arange(mdp.n_states))
    # Stable Baselines3 adds the state of its network.
    if isinstance(predicted, tuple):
        predicted = predicted[0]
    answers = np.ravel(predicted).tolist()
    if len(answers) != mdp.n_states:
        raise ValueError(
            f"predict: wanted an action for each of {mdp.n_states} states, got {len(answers)}"
        )
    names = _names(mdp)
    chosen = [
        _action(answer, names, f"the policy in state {state}")
        for state, answer in enumerate(answers)
    ]
    if UNUSABLE in chosen:
        raise ValueError(
            f"the policy in state {chosen.index(UNUSABLE)} names no action"
        )
    return Policy(probabilities=np.eye(mdp.n_actions)[chosen])


def is_record(behaviour: Any) -> bool:
    """Whether behaviour is a log, or trajectories."""
    if isinstance(behaviour, Mapping) or hasattr(behaviour, "columns"):
        return True
    is_list = isinstance(behaviour, list | tuple) and len(behaviour) > 0
    return is_list and isinstance(behaviour[0], Trajectory | Episode | Mapping)


def recorded_episodes(record: Any, mdp: TabularMDP) -> list[Episode]:
    """Read a log by columns or rows, or trajectories of a run.

    Raises:
        ValueError: a column is missing, or a row does not fit the world.
    """
    if isinstance(record, list | tuple):
        if isinstance(record[0], Episode):
            return [replace(each, mdp=mdp) for each in record]
        if isinstance(record[0], Trajectory):
            return [episode_of(each, mdp) for each in record]
        record = {name: [row.get(name) for row in record] for name in record[0]}
    lacking = [name for name in COLUMNS if name not in record]
    if lacking:
        raise ValueError(
            f"the log has no column {lacking[0]!r}: wanted {', '.join(COLUMNS)}"
        )
    columns = [[*record[name]] for name in COLUMNS]
    if len({len(each) for each in columns}) > 1:
        raise ValueError("the columns of the log differ in length")

    names = _names(mdp)
    by_episode: dict[Any, list[tuple[int, int]]] = {}
    for row, (name, state, action) in enumerate(zip(*columns, strict=True)):
        step = _state(state, mdp, row), _action(action, names, f"row {row}")
        by_episode.setdefault(name, []).append(step)
    return [*_episodes(by_episode, mdp)]


def _episodes(
    by_episode: Mapping[Any, Sequence[tuple[int, int]]], mdp: TabularMDP
) -> Iterator[Episode]:
    for name, steps in by_episode.items():
        states, actions = np.array(steps, dtype=np.intp).T
        try:
            yield Episode(mdp=mdp, states=states, actions=actions)
        except ValueError as error:
            raise ValueError(f"episode {name}: {error}") from error


def _state(value: Any, mdp: TabularMDP, row: int) -> int:
    if value not in range(mdp.n_states):
        raise ValueError(
            f"row {row}: wanted a state from 0 to {mdp.n_states - 1}, got {value!r}"
        )
    return int(value)


def _names(mdp: TabularMDP) -> Sequence[str]:
    return mdp.actions or [*map(str, range(mdp.n_actions))]


def _action(value: Any, names: Sequence[str], where: str) -> int:
    """Return the number of an action; UNUSABLE for None and NaN."""
    if value is None or value != value:
        return UNUSABLE
    if value in names:
        return names.index(value)
    if value not in range(len(names)):
        raise ValueError(
            f"{where}: wanted one of the actions {', '.join(names)}, got {value!r}"
        )
    return int(value)


def played_episodes(world: Environment, behaviour: Any) -> list[Played]:
    """Return the episodes of trajectories, or let an object with `predict`, or a
    function from an observation to an action, play some.

    Raises:
        ValueError: it is none of them.
    """
    if isinstance(behaviour, list | tuple):
        return played(behaviour)
    choose = getattr(behaviour, "predict", behaviour)
    if not callable(choose):
        raise ValueError(
            f"behaviour: wanted trajectories or an object with predict, got {type(behaviour).__name__}"
        )
    return [_played(world, choose, seed) for seed in range(SEEDS)]


def _played(world: Environment, choose: Callable[[Any], Any], seed: int) -> Played:
    shown = world.reset(seed)
    taken: list[str] = []
    for turn in range(world.task().horizon):
        answer = choose(shown.text if shown.raw is None else shown.raw)
        if isinstance(answer, tuple):
            answer = answer[0]
        names = shown.actions or ()
        # Libraries answer with an array of one number.
        answer = answer.item() if hasattr(answer, "item") else answer
        number = _action(answer, names, f"seed {seed}, turn {turn}")
        if number == UNUSABLE:
            raise ValueError(f"seed {seed}, turn {turn}: no action is named")
        action = names[number]
        taken.append(action)
        outcome = world.step(action)
        shown = outcome.observation
        if outcome.terminated or outcome.truncated:
            break
    return Played(seed, tuple(taken))
