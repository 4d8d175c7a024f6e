"""Baselines in the same worlds: results of random and of optimal moves."""

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from gde.data.evidence import Evidence
from gde.data.mdp import Floats, TabularMDP
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.numerics.episodes import (
    CERTIFIED,
    Place,
    lacking,
    over_worlds,
    played,
    unmeasured,
)
from gde.numerics.tabular import solve

ACCURACY = "references.accuracy.random"
SUCCESS = "references.success.random"
OPTIMAL = "references.success.optimal"
SPL = "references.spl.random"
NO_LIST = "some observations list no admissible actions"
FREE = "the turns of an episode do not all cost the same"
SMALL = 200
"""Most states for dense matrices, which are faster up to about there."""


def references(evidence: Evidence) -> Sequence[Measurement]:
    """Success, accuracy and directness of agents that need not be run; n counts worlds.

    "references.success.random" is the chance that uniformly random moves reach, before
    the turns are over, an end to which optimal moves lead. "references.success.optimal"
    is the chance of optimal moves. Both are exact, from the tabular model of each world
    at the beginning of its first episode. "references.spl.random" is the expected
    success of random moves weighted by path length (Anderson et al. 2018), if every
    step costs the same. "references.accuracy.random" is the share of admissible actions
    that are optimal, at the turns of the agent, averaged as "accuracy" is. Worlds
    without a tabular model have this one alone. A single world has none of them: they
    say nothing about the agent.
    """
    if "world" in evidence.part:
        return []
    return [_chance(evidence), *_walks(evidence)]


def _chance(evidence: Evidence) -> Measurement:
    """Measure the accuracy of random admissible actions."""
    episodes = played(evidence)
    reason = lacking(episodes, CERTIFIED)
    if reason:
        return unmeasured(ACCURACY, reason)

    shares: dict[Place, list[float]] = {}
    for one in episodes:
        chances = []
        for turn in one.turns:
            actions = turn.observation.actions
            if not actions:
                return unmeasured(ACCURACY, NO_LIST)
            n_optimal = sum(action in (turn.optimal or ()) for action in actions)
            chances.append(n_optimal / len(actions))
        shares.setdefault(Place.of(one), []).append(fmean(chances))
    means = {place: fmean(of_place) for place, of_place in shares.items()}
    return over_worlds(evidence, ACCURACY, means)


class _Walks(NamedTuple):
    """Results of agents that start where an episode did."""

    random: float
    optimal: float
    directness: float | None
    """Of the random agent; None if steps differ in cost."""


def _walks(evidence: Evidence) -> Iterator[Measurement]:
    """Measure success and directness; nothing unless every world has a model."""
    random: dict[Place, float] = {}
    optimal: dict[Place, float] = {}
    direct: dict[Place, float] = {}
    for one in played(evidence):
        place = Place.of(one)
        if place in random:
            continue
        walks = _of_world(evidence, one)
        if walks is None:
            return
        random[place] = walks.random
        optimal[place] = walks.optimal
        if walks.directness is not None:
            direct[place] = walks.directness
    if not random:
        return

    yield over_worlds(evidence, SUCCESS, random)
    yield over_worlds(evidence, OPTIMAL, optimal)
    # A mean over some of the worlds could not be compared with the agent's.
    if len(direct) == len(random):
        yield over_worlds(evidence, SPL, direct)
    else:
        yield unmeasured(SPL, FREE)


def _of_world(evidence: Evidence, one: Trajectory) -> _Walks | None:
    """Return the walks from the start of an episode; None if its model is missing or
    has other actions.
    """
    first = one.turns[0]
    if evidence.mdp is None or first.state is None or first.state.index is None:
        return None
    try:
        mdp = evidence.mdp(one)
    except GdeError:
        return None

    admissible = set(first.observation.actions or ())
    if mdp is None or mdp.terminal is None or admissible != set(mdp.actions):
        return None
    return _walked(mdp, mdp.terminal, first.state.index, one.horizon)


def _walked(
    mdp: TabularMDP, terminal: NDArray[np.bool_], start: int, horizon: int
) -> _Walks:
    optimal = solve(mdp).optimal
    guided = _mixed(mdp, optimal / np.maximum(optimal.sum(axis=1, keepdims=True), 1))
    chance = _mixed(mdp, np.full(optimal.shape, 1 / mdp.n_actions))

    # Success is to reach an end to which optimal moves lead; random moves may also end
    # elsewhere.
    arrived = _arrivals(guided, start, terminal, terminal, horizon)
    goals = terminal & (arrived > 0).any(axis=0)
    shortest = arrived.sum(axis=1)
    times = _arrivals(chance, start, goals, terminal, horizon).sum(axis=1)

    # The path length of an episode is its number of turns only if all turns cost the
    # same.
    directness = None
    costs = np.unique(mdp.reward[~terminal])
    if len(costs) == 1 and goals.any():
        first = int(shortest.argmax()) + 1
        steps = np.arange(1, horizon + 1)
        weights = np.minimum(first / steps, 1.0)
        directness = float((times * weights).sum())
    return _Walks(float(times.sum()), float(shortest.sum()), directness)


def _mixed(mdp: TabularMDP, policy: Floats) -> Floats | csr_array:
    """The (S, S) transition matrix of a policy (S, A)."""
    if mdp.n_states <= SMALL:
        dense = [step.toarray() for step in mdp.transition]
        return np.einsum("sa,ast->st", policy, np.array(dense))
    weighted = [
        diags_array(policy[:, a]) @ step for a, step in enumerate(mdp.transition)
    ]
    return csr_array(sum(weighted))


def _arrivals(
    step: Floats | csr_array,
    start: int,
    ends: NDArray[np.bool_],
    terminal: NDArray[np.bool_],
    horizon: int,
) -> Floats:
    """Return the (T, S) probability of arriving at each of the ends, by the turn that
    leads there.
    """
    now = np.zeros(len(ends))
    now[start] = 1.0
    arrived = np.zeros((horizon, len(ends)))
    back = step.T if isinstance(step, np.ndarray) else step.T.tocsr()
    for t in range(horizon):
        now = back @ now
        arrived[t, ends] = now[ends]
        # Episodes end in terminal states, so nobody walks on from there.
        now[terminal] = 0.0
    return arrived
