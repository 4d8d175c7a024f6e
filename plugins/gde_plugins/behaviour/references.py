"""Baselines in the same worlds: results of random and of optimal moves."""

from functools import partial
from statistics import fmean
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from scipy.sparse import csr_array, diags_array

from gde.data.arrays import Bools, Doubles
from gde.data.mdp import TabularMDP
from gde.data.trajectory import Trajectory, Turn
from gde.errors import GdeError
from gde.numerics.episode_metric import EpisodeMetric, Facts, Model
from gde.numerics.episodes import CERTIFIED
from gde.numerics.numbers import Mean, Missing
from gde.numerics.tabular import solve
from gde_plugins.behaviour.performance import UNCERTIFIED

SMALL = 200
"""Most states for dense matrices, which are faster up to about there."""


class _Walks(NamedTuple):
    """Results of agents that start where an episode did."""

    random: float
    optimal: float
    directness: float | None
    """Of the random agent; None if steps differ in cost."""


_KNOWN: WeakKeyDictionary[TabularMDP, dict[tuple[int, int], _Walks]] = (
    WeakKeyDictionary()
)
"""By start and horizon, in the worlds that are in memory."""


def _facts(episode: Trajectory, model: Model) -> Facts:
    turns = episode.turns
    found: dict[str, float | None] = dict.fromkeys(references.columns)
    found["turns"] = len(turns)
    found["uncertified"] = CERTIFIED.unmet(turns)
    found["unlisted"] = sum(not turn.observation.actions for turn in turns)
    if not turns:
        return found
    if not found["uncertified"] and not found["unlisted"]:
        found["chance"] = fmean(map(_chance, turns))

    found["played"] = 1
    walks = _of_world(episode, model)
    found["unmodelled"] = walks is None
    if walks is not None:
        found["random"] = walks.random
        found["optimal"] = walks.optimal
        found["uneven"] = walks.directness is None
        found["direct"] = walks.directness
    return found


def _chance(turn: Turn) -> float:
    """The share of admissible actions that are optimal."""
    actions = turn.observation.actions or ()
    return sum(action in (turn.optimal or ()) for action in actions) / len(actions)


UNMODELLED = Missing(
    "unmodelled", "played", "the worlds of {} of {} episodes have no tabular model"
)
_Walk = partial(Mean, over="worlds", only="random")
references = EpisodeMetric(
    columns=(
        *("turns", "uncertified", "unlisted", "chance"),
        *("played", "unmodelled", "random", "optimal", "uneven", "direct"),
    ),
    facts=_facts,
    numbers=(
        Mean(
            "references.accuracy.random",
            "chance",
            over="worlds",
            missing=(
                UNCERTIFIED,
                Missing(
                    "unlisted", "turns", "some observations list no admissible actions"
                ),
            ),
        ),
        _Walk("references.success.random", "random", missing=(UNMODELLED,)),
        _Walk("references.success.optimal", "optimal", missing=(UNMODELLED,)),
        _Walk(
            "references.spl.random",
            "direct",
            # A mean over some of the worlds could not be compared with the agent's.
            missing=(
                UNMODELLED,
                Missing(
                    "uneven",
                    "played",
                    "the turns of an episode do not all cost the same",
                ),
            ),
        ),
    ),
)
"""Success, accuracy and directness of agents that need not be run; n counts worlds.

"references.success.random" is the chance that uniformly random moves reach, before the
turns are over, an end to which optimal moves lead. "references.success.optimal" is the
chance of optimal moves. Both are exact, from the tabular model of each world at the
beginning of its episodes. "references.spl.random" is the expected success of random
moves weighted by path length (Anderson et al. 2018), if every step costs the same.
"references.accuracy.random" is the share of admissible actions that are optimal, at the
turns of the agent, averaged as "accuracy" is. Where no world has a tabular model, there
is this one alone. In comparisons there is none: they say nothing about the agent.
"""


def _of_world(one: Trajectory, model: Model) -> _Walks | None:
    """Return the walks from the start of an episode; None if its model is missing or
    has other actions.
    """
    first = one.turns[0]
    if model is None or first.state is None or first.state.index is None:
        return None
    try:
        mdp = model()
    except GdeError:
        return None

    admissible = set(first.observation.actions or ())
    if mdp.terminal is None or admissible != set(mdp.actions):
        return None
    # Episodes of one world share its model.
    known = _KNOWN.setdefault(mdp, {})
    start = first.state.index, one.horizon
    if start not in known:
        known[start] = _walked(mdp, mdp.terminal, *start)
    return known[start]


def _walked(mdp: TabularMDP, terminal: Bools, start: int, horizon: int) -> _Walks:
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


def _mixed(mdp: TabularMDP, policy: Doubles) -> Doubles | csr_array:
    """The (S, S) transition matrix of a policy (S, A)."""
    if mdp.n_states <= SMALL:
        dense = [step.toarray() for step in mdp.transition]
        return np.einsum("sa,ast->st", policy, np.array(dense))
    weighted = [
        diags_array(policy[:, a]) @ step for a, step in enumerate(mdp.transition)
    ]
    return csr_array(sum(weighted))


def _arrivals(
    step: Doubles | csr_array,
    start: int,
    ends: Bools,
    terminal: Bools,
    horizon: int,
) -> Doubles:
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
