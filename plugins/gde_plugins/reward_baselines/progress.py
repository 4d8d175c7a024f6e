"""True rewards from certified values: progress towards the goal."""

import numpy as np

from gde.data.trajectory import Trajectory
from gde.numerics.stats import Floats


def unknown(trajectory: Trajectory) -> str:
    """Why the episode has no certified progress; empty when it has."""
    values = [turn.value for turn in trajectory.turns]
    if not values:
        return "the episode has no turns"
    if lacking := sum(value is None for value in values):
        return f"{lacking} of {len(values)} turns have no certified value"
    first = values[0] or 0.0
    if not -np.inf < first < 0:
        return f"wanted a first turn from which the goal has a cost, i.e. a finite value below 0; got {first:g}"
    return ""


def progress(trajectory: Trajectory) -> Floats:
    """(T,) the share of the way to the goal that the agent has covered before each
    decision, in [0, 1].

    With V(t) the optimal expected return before turn t, minus the cost of reaching the
    goal, it is 1 - V(t) / V(0): linear from 0 along an optimal episode, as the ground
    truth that Shen et al. (2026), appendix A.1, interpolate along an expert's. It is 0
    where the agent is further away than at first or the goal is out of reach, which
    they call random steps.

    Raises:
        ValueError: there is none, see `unknown`.
    """
    if reason := unknown(trajectory):
        raise ValueError(reason)
    values = np.array([turn.value for turn in trajectory.turns], dtype=np.float64)
    share: Floats = np.clip(1 - values / values[0], 0, 1)
    return share
