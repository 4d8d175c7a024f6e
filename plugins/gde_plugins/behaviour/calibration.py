"""Calibration of the empirical policy."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import fsum

import numpy as np

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.numerics.episodes import (
    CERTIFIED,
    Place,
    finished,
    lacking,
    over_worlds,
    unmeasured,
)
from gde_plugins.behaviour.visits import IDENTIFIED, UNANSWERED, VisitedState, visited

BINS = 10
EDGES: list[float] = np.linspace(0, 1, BINS + 1).tolist()
"""The edges of the released code: rounding puts 0.3, 0.6 and 0.7 into the bins below
theirs.
"""
RELEASED_ORDER = ("LEFT", "RIGHT", "UP", "DOWN")
"""Of equally frequent actions the released code takes the first in this order."""
NAMES = ("calibration.ece", "calibration.ece_released")


def calibration(evidence: Evidence) -> Sequence[Measurement]:
    """Expected calibration error of the empirical policy, world by world (Arghal et al.
    2026, eqs. 6 to 8).

    "calibration.ece" is as published, over state-action pairs;
    "calibration.ece_released" is what the authors' released code computes, over states.
    Worlds are averaged. Confidence is the relative frequency of an action in a state,
    so an agent that varies between equally good actions is under-confident: zero is not
    the score of every optimal agent. States without a usable answer have no policy and
    are left out.
    """
    trajectories = finished(evidence)
    reason = lacking(trajectories, IDENTIFIED, CERTIFIED)
    if reason:
        return [unmeasured(name, reason) for name in NAMES]

    published: dict[Place, float] = {}
    released: dict[Place, float] = {}
    for place, states in visited(trajectories).items():
        answered = [state for state in states if state.actions]
        # Without a usable answer there is no confidence.
        if answered:
            published[place] = pair_error(answered)
            released[place] = released_error(answered)
    return [
        over_worlds(evidence, "calibration.ece", published, reason=UNANSWERED),
        over_worlds(evidence, "calibration.ece_released", released, reason=UNANSWERED),
    ]


def pair_error(states: Sequence[VisitedState]) -> float:
    """Return the expected calibration error over all decisions (equations 6 to 8), in
    [0, 1].

    The confidence of a decision is the relative frequency of its action. It is right if
    the action is optimal. Ten bins are closed above: (0, 0.1], ..., (0.9, 1].
    """
    n_decisions = 0
    gaps: dict[int, list[float]] = defaultdict(list)
    for state in states:
        total = state.actions.total()
        n_decisions += total
        for action, count in state.actions.items():
            # Ceiling division of whole numbers: as floats, 3 / 10 is less than 3 * 0.1.
            bin_above = -(-BINS * count // total)
            gap = _is_optimal(action, state) - count / total
            gaps[bin_above].append(count * gap)
    return _error(gaps.values(), n_decisions)


def released_error(states: Sequence[VisitedState]) -> float:
    """Return the expected calibration error as the released code of Arghal et al.
    (2026) computes it, in [0, 1].

    Each state is one sample. Its confidence is the relative frequency of its most
    frequent action. It is right if that action is optimal. Bins are closed below, [0,
    0.1), ..., [0.9, 1), so a state in which one action was always taken is in none. It
    adds nothing to the error and still counts among the states, which makes the error
    smaller than it is.
    """
    gaps: dict[int, list[float]] = defaultdict(list)
    for state in states:
        favourite = _favourite(state)
        confidence = state.probabilities[favourite]
        if confidence < 1:
            bin_above = bisect_right(EDGES, confidence)
            gaps[bin_above].append(_is_optimal(favourite, state) - confidence)
    return _error(gaps.values(), len(states))


def _favourite(state: VisitedState) -> str:
    """Return the most frequent action, with the released code's choice among equally
    frequent ones.
    """
    most = max(state.actions.values())
    favourites = [action for action, count in state.actions.items() if count == most]
    for action in RELEASED_ORDER:
        if action in favourites:
            return action
    return min(favourites)


def _error(gaps: Iterable[Sequence[float]], n: int) -> float:
    """Per bin |sum of right - sum of confidence|, which is its weight times |accuracy -
    mean confidence|.
    """
    weighted = [abs(fsum(of_bin)) for of_bin in gaps]
    return fsum(weighted) / n


def _is_optimal(action: str, state: VisitedState) -> bool:
    return action in (state.optimal or ())
