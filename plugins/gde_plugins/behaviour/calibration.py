"""Is the agent right as often as it is sure?"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import fsum

import numpy as np

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.numerics.episodes import CERTIFIED, finished, lacking, over_worlds, unmeasured
from gde_plugins.behaviour.visits import IDENTIFIED, UNANSWERED, VisitedState, visited

BINS = 10
EDGES: list[float] = np.linspace(0, 1, BINS + 1).tolist()
"""As the released code has them: rounding puts 0.3, 0.6 and 0.7 into the bins below theirs."""
RELEASED_ORDER = ("LEFT", "RIGHT", "UP", "DOWN")
"""Of equally frequent actions the released code takes the first in this order."""
NAMES = ("calibration.ece", "calibration.ece_released")


def calibration(evidence: Evidence) -> Sequence[Measurement]:
    """Expected calibration error of the empirical policy, world by world (Arghal et al. 2026, eqs. 6 to 8).

    "calibration.ece" is as published, over state-action pairs; "calibration.ece_released" is what the authors'
    released code computes, over states. Worlds are averaged. Confidence is the relative frequency of an action in a
    state, so an agent that varies between equally good actions is under-confident: zero is not the score of every
    optimal agent. States without a usable answer have no policy and are left out.
    """
    trajectories = finished(evidence)
    if reason := lacking(trajectories, IDENTIFIED, CERTIFIED):
        return [unmeasured(name, "share", reason) for name in NAMES]
    answered = {place: [one for one in states if one.actions] for place, states in visited(trajectories).items()}
    worlds = {place: states for place, states in answered.items() if states}
    if not worlds:
        return [unmeasured(name, "share", UNANSWERED) for name in NAMES]
    return [
        over_worlds(evidence, name, "share", {place: error(states) for place, states in worlds.items()})
        for name, error in zip(NAMES, (pair_error, released_error), strict=True)
    ]


def pair_error(states: Sequence[VisitedState]) -> float:
    """Expected calibration error over all decisions (equations 6 to 8), in [0, 1].

    A decision is confident to the degree of its action's relative frequency, and right if the action is optimal. Ten
    bins, closed above: (0, 0.1], ..., (0.9, 1].
    """
    gaps: dict[int, list[float]] = defaultdict(list)
    for state in states:
        total = state.actions.total()
        for action, count in state.actions.items():
            # In whole numbers: as floats, 3 / 10 is less than 3 * 0.1.
            above = -(-BINS * count // total)
            gaps[above].append(count * (_optimal(action, state) - count / total))
    return _error(gaps.values(), sum(state.actions.total() for state in states))


def released_error(states: Sequence[VisitedState]) -> float:
    """Expected calibration error as the released code of Arghal et al. (2026) has it, in [0, 1].

    One sample a state: as confident as its most frequent action is frequent, and right if that is optimal. Bins are
    closed below, [0, 0.1), ..., [0.9, 1), so a state in which one action was always taken is in none. It adds nothing
    to the error and still counts among the states, which makes the error smaller than it is.
    """
    gaps: dict[int, list[float]] = defaultdict(list)
    for state in states:
        favourite = min(state.actions, key=lambda action: (-state.actions[action], _rank(action)))
        confidence = state.probabilities[favourite]
        if confidence < 1:
            gaps[bisect_right(EDGES, confidence)].append(_optimal(favourite, state) - confidence)
    return _error(gaps.values(), len(states))


def _error(gaps: Iterable[Sequence[float]], n: int) -> float:
    """Per bin |sum of right - sum of confidence|, which is its weight times |accuracy - mean confidence|."""
    return fsum(abs(fsum(of_bin)) for of_bin in gaps) / n


def _optimal(action: str, state: VisitedState) -> bool:
    return action in (state.optimal or ())


def _rank(action: str) -> tuple[int, str]:
    known = action in RELEASED_ORDER
    return (RELEASED_ORDER.index(action) if known else len(RELEASED_ORDER)), action
