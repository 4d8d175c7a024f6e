"""The episodes of a run as behaviour in tabulated worlds."""

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np

from gde.data.evidence import Evidence
from gde.data.mdp import TabularMDP
from gde.data.trajectory import Trajectory, Turn
from gde.errors import GdeError
from gde.parts.environment import Environment
from gde_plugins.meg.trajectories.episodes import UNUSABLE, Episode
from gde_plugins.meg.trajectories.sample import Sample

_SAMPLES: WeakKeyDictionary[Evidence, dict[bool, Sample]] = WeakKeyDictionary()
"""Samples with and without deadline, of evidence that is still in use.

Several metrics measure the same evidence, and a sample caches what they have in common.
"""


def observed(evidence: Evidence, deadline: bool = False) -> Sample:
    """Return the decisions of every finished episode; failed ones say nothing of the
    agent.

    A world that changes on the way is measured by the model that it began with.

    Args:
        evidence: the run's.
        deadline: the agent knows when the episode is cut off, see `episode_of`.

    Raises:
        GdeError: no such episode, no model of its world, or one that does not fit what
            was recorded.
    """
    samples = _SAMPLES.setdefault(evidence, {})
    if deadline not in samples:
        episodes = []
        for trajectory in finished_in(evidence):
            model = model_of(trajectory, evidence)
            episodes.append(episode_of(trajectory, model, deadline))
        if not episodes:
            raise GdeError("no episode was finished")
        samples[deadline] = Sample.of(episodes)
    return samples[deadline]


def begun(evidence: Evidence, trajectory: Trajectory) -> Environment:
    """Return the environment at the start of a trajectory.

    Raises:
        GdeError: none is known, or it no longer makes the recorded world.
    """
    if evidence.begin is None:
        raise GdeError("no environment is known that could be begun again")
    environment = evidence.begin(trajectory)
    assert isinstance(environment, Environment)
    return environment


def actions_of(trajectory: Trajectory) -> list[str | None]:
    """Return the actions of a trajectory; None for an answer without one."""
    return [turn.decision.action for turn in trajectory.turns]


def finished_in(evidence: Evidence) -> list[Trajectory]:
    """Return the trajectories that were played to an end."""
    return [
        trajectory
        for trajectory in evidence.trajectories
        if trajectory.ending != "failed"
    ]


def model_of(trajectory: Trajectory, evidence: Evidence) -> TabularMDP:
    """Return the model that the trajectory began in.

    Raises:
        GdeError: there is none.
    """
    if evidence.mdp is None:
        raise GdeError("the environment gives no model of its worlds")
    return evidence.mdp(trajectory)


def episode_of(
    trajectory: Trajectory, model: TabularMDP, deadline: bool = False
) -> Episode:
    """Return the decisions of a trajectory; by default of an agent that is told of no
    deadline.

    Raises:
        GdeError: a turn without state index, or a step that the model rules out.
    """
    horizon = None
    if deadline:
        # Where a world can end, the last action may lead to that end, so the state
        # after it counts as well. Elsewhere the last action has no consequence
        # (Definition 5.1).
        can_end = model.terminal is not None
        horizon = trajectory.horizon + int(can_end)
    return _episode(trajectory, trajectory.turns, model, horizon)


def one_turn(trajectory: Trajectory, turn: int, model: TabularMDP) -> Episode:
    """Return one decision of a trajectory, with no deadline; the model stands still
    where the world ends.

    Raises:
        GdeError: as `episode_of`.
    """
    turns = trajectory.turns[turn : turn + 1]
    return _episode(trajectory, turns, model, None)


def _episode(
    trajectory: Trajectory,
    turns: Sequence[Turn],
    model: TabularMDP,
    horizon: int | None,
) -> Episode:
    try:
        states = [_state(turn) for turn in turns]
        actions = [_action(turn, model) for turn in turns]
        return Episode(
            mdp=model,
            states=np.array(states, dtype=np.intp),
            actions=np.array(actions, dtype=np.intp),
            horizon=horizon,
            cluster=trajectory.world.cluster,
        )
    except ValueError as error:
        raise GdeError(
            f"episode {trajectory.key} does not fit the model of its world: {error}"
        ) from error


def _action(turn: Turn, model: TabularMDP) -> int:
    action = turn.decision.action
    if action is None:
        return UNUSABLE
    if action not in model.actions:
        known = ", ".join(model.actions) or "(it names none)"
        raise ValueError(f"wanted one of its actions {known}, got {action!r}")
    return model.actions.index(action)


def _state(turn: Turn) -> int:
    if turn.state is None or turn.state.index is None:
        raise ValueError(f"turn {turn.index} records no state of the model")
    return turn.state.index
