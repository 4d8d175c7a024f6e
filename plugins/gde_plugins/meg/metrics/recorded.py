"""The episodes of a run as behaviour in tabulated worlds."""

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np

from gde.data.evidence import Evidence
from gde.data.mdp import TabularMDP
from gde.data.trajectory import Trajectory, Turn
from gde.errors import GdeError
from gde_plugins.meg.trajectories.episodes import UNUSABLE, Episode
from gde_plugins.meg.trajectories.sample import Sample

_SAMPLES: WeakKeyDictionary[Evidence, dict[bool, Sample]] = WeakKeyDictionary()
"""Of evidence that is still in use, with and without deadline: several metrics look at the same, and a sample holds
what they have in common."""


def observed(evidence: Evidence, deadline: bool = False) -> Sample:
    """What was done in every episode that was played to an end; failed ones say nothing of the agent.

    A world that changes on the way is measured by the model that it began with.

    Args:
        evidence: of the run.
        deadline: the agent knows when the episode is cut off, see `episode_of`.

    Raises:
        GdeError: no such episode, no model of its world, or one that does not fit what was recorded.
    """
    samples = _SAMPLES.setdefault(evidence, {})
    if deadline not in samples:
        samples[deadline] = _sampled(evidence, deadline)
    return samples[deadline]


def _sampled(evidence: Evidence, deadline: bool) -> Sample:
    finished = [trajectory for trajectory in evidence.trajectories if trajectory.ending != "failed"]
    if not finished:
        raise GdeError("no episode was finished")
    return Sample.of([episode_of(trajectory, model_of(trajectory, evidence), deadline) for trajectory in finished])


def model_of(trajectory: Trajectory, evidence: Evidence) -> TabularMDP:
    """The model that the trajectory began in.

    Raises:
        GdeError: there is none.
    """
    if evidence.mdp is None:
        raise GdeError("the environment gives no model of its worlds")
    return evidence.mdp(trajectory)


def episode_of(trajectory: Trajectory, model: TabularMDP, deadline: bool = False) -> Episode:
    """The decisions of a trajectory; by default of an agent that is told of no deadline.

    With a `deadline`, where a world can end, the state that the last action leads to counts as well, since it may be
    that end; so the horizon is one more than the trajectory's. Where it cannot, the last action has no consequence
    (Definition 5.1).

    Raises:
        GdeError: a turn without state index, or a step that the model rules out.
    """
    horizon = trajectory.horizon + int(model.terminal is not None) if deadline else None
    return _episode(trajectory, trajectory.turns, model, horizon)


def one_turn(trajectory: Trajectory, turn: int, model: TabularMDP) -> Episode:
    """One decision of a trajectory, with no deadline; the model stands still where the world ends.

    Raises:
        GdeError: as `episode_of`.
    """
    return _episode(trajectory, trajectory.turns[turn : turn + 1], model, None)


def _episode(trajectory: Trajectory, turns: Sequence[Turn], model: TabularMDP, horizon: int | None) -> Episode:
    try:
        return Episode(
            mdp=model,
            states=np.array([_state(turn) for turn in turns], dtype=np.intp),
            actions=np.array([_action(turn, model) for turn in turns], dtype=np.intp),
            horizon=horizon,
            cluster=trajectory.world.cluster,
        )
    except ValueError as error:
        raise GdeError(f"episode {trajectory.key} does not fit the model of its world: {error}") from error


def _action(turn: Turn, model: TabularMDP) -> int:
    action = turn.decision.action
    if action is None:
        return UNUSABLE
    if action not in model.actions:
        raise ValueError(f"wanted one of its actions {', '.join(model.actions) or '(it names none)'}, got {action!r}")
    return model.actions.index(action)


def _state(turn: Turn) -> int:
    if turn.state is None or turn.state.index is None:
        raise ValueError(f"turn {turn.index} records no state of the model")
    return turn.state.index
