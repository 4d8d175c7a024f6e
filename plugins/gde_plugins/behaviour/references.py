"""Baselines in the same worlds: the results of random and of optimal moves."""

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from gde.data.evidence import Evidence
from gde.data.mdp import Floats, TabularMDP
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory, Turn
from gde.errors import GdeError
from gde.numerics.episodes import CERTIFIED, Place, by_world, lacking, over_worlds, played, unmeasured
from gde.numerics.tabular import solve

ACCURACY = "references.accuracy.random"
SUCCESS, OPTIMAL, SPL = "references.success.random", "references.success.optimal", "references.spl.random"
NO_LIST = "some observations list no admissible actions"
FREE = "the turns of an episode do not all cost the same"


def references(evidence: Evidence) -> Sequence[Measurement]:
    """Success, accuracy and directness of agents that need not be run; n counts worlds.

    "references.success.random" is the chance that uniformly random moves reach, before the turns are over, one of the
    ends that optimal moves lead to; "references.success.optimal" that of optimal ones: both exact, from the tabular
    model of each world as its first episode began. "references.spl.random" is the random moves' expected success
    weighted by path length (Anderson et al. 2018), where every step costs the same. "references.accuracy.random" is
    the share of admissible actions that are optimal, at the turns that the agent met, averaged as "accuracy" is; in
    worlds without a tabular model it is all there is. A world taken by itself has none of them: they say nothing of
    the agent.
    """
    if "world" in evidence.part:
        return []
    return [_chance(evidence), *_walks(evidence)]


def _chance(evidence: Evidence) -> Measurement:
    if reason := lacking(played(evidence), CERTIFIED):
        return unmeasured(ACCURACY, "share", reason)
    if any(not turn.observation.actions for one in played(evidence) for turn in one.turns):
        return unmeasured(ACCURACY, "share", NO_LIST)
    shares = by_world((Place.of(one), fmean(map(_luck, one.turns))) for one in played(evidence))
    return over_worlds(evidence, ACCURACY, "share", {place: fmean(found) for place, found in shares.items()})


def _luck(turn: Turn) -> float:
    """How likely a random admissible action is to be optimal."""
    actions = turn.observation.actions or ()
    return sum(action in (turn.optimal or ()) for action in actions) / len(actions)


class _Walks(NamedTuple):
    """What becomes of agents that start where an episode did."""

    random: float
    optimal: float
    directness: float | None
    """Of the random one; None where steps differ in what they cost."""


def _walks(evidence: Evidence) -> Iterator[Measurement]:
    found: dict[Place, _Walks] = {}
    for one in played(evidence):
        if Place.of(one) in found:
            continue
        walks = _of_world(evidence, one)
        if walks is None:
            return
        found[Place.of(one)] = walks
    if not found:
        return
    yield over_worlds(evidence, SUCCESS, "share", {place: each.random for place, each in found.items()})
    yield over_worlds(evidence, OPTIMAL, "share", {place: each.optimal for place, each in found.items()})
    direct = {place: each.directness for place, each in found.items() if each.directness is not None}
    yield over_worlds(evidence, SPL, "share", direct) if len(direct) == len(found) else unmeasured(SPL, "share", FREE)


def _of_world(evidence: Evidence, one: Trajectory) -> _Walks | None:
    first = one.turns[0]
    try:
        mdp = evidence.mdp(one) if evidence.mdp else None
    except GdeError:
        return None
    index = first.state.index if first.state else None
    admissible = {*(first.observation.actions or ())}
    if mdp is None or mdp.terminal is None or index is None or admissible != {*mdp.actions}:
        return None
    return _walked(mdp, index, one.horizon)


def _walked(mdp: TabularMDP, start: int, horizon: int) -> _Walks:
    terminal = np.zeros(mdp.n_states, dtype=bool) if mdp.terminal is None else mdp.terminal
    optimal = solve(mdp).optimal
    best = optimal / np.maximum(optimal.sum(axis=1, keepdims=True), 1)
    guided = csr_array(sum(diags_array(best[:, a]) @ step for a, step in enumerate(mdp.transition)))
    chance = csr_array(sum(mdp.transition[1:], start=mdp.transition[0].copy()) / mdp.n_actions)
    arrived = _arrivals(guided, start, terminal, horizon)
    goals = terminal & (arrived > 0).any(axis=0)
    times = _arrivals(chance, start, goals, horizon, terminal).sum(axis=1)
    shortest = arrived.sum(axis=1)
    costs = np.unique(mdp.reward[~terminal])
    steps = np.arange(1, horizon + 1)
    first = int(shortest.argmax()) + 1
    directness = float((times * np.minimum(first / steps, 1.0)).sum()) if len(costs) == 1 and goals.any() else None
    return _Walks(float(times.sum()), float(shortest.sum()), directness)


def _arrivals(
    step: csr_array, start: int, ends: NDArray[np.bool_], horizon: int, terminal: NDArray[np.bool_] | None = None
) -> Floats:
    """(T, S) probability of coming to each of the ends, by the turn that leads there."""
    over = ends if terminal is None else terminal
    now = np.zeros(len(ends))
    found = np.zeros((horizon, len(ends)))
    back = step.T.tocsr()
    now[start] = 1.0
    for t in range(horizon):
        now = back @ now
        found[t, ends] = now[ends]
        now[over] = 0.0
    return found
