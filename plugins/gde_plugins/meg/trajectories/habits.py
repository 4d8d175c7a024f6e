"""Habits of goal-blind agents that do not choose at random, as alternatives to goals.

A habit says of each action whether it follows from what the agent did last, whatever there is to gain. An agent with a
habit chooses in proportion to exp(w * habit + v * open), where `open` is whether the action leads anywhere at all. How
strictly it follows the habit, and how well it sees walls, is unknown: both weights have a normal prior, and the
evidence averages over them (Laplace's method).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log, pi

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax

from gde.data.mdp import Floats, TabularMDP
from gde_plugins.meg.solvers.dynamics import Indices
from gde_plugins.meg.trajectories.episodes import UNUSABLE, Episode
from gde_plugins.meg.trajectories.sample import Sample

NON_REVERSING, NOVELTY, MOMENTUM, WALLS = "non-reversing", "novelty-seeking", "momentum", "wall-following"
OPEN = "open"
SPREAD = 3.0
"""Standard deviation of the prior of each weight: odds of e^3 = 20 to 1 for what the habit says are usual."""
ROUNDS = 30
"""Newton steps; the problem is concave, so a handful do."""
SETTLED = 1e-9
HANDS = (1, -1)
"""Right and left."""


def habits(episodes: Sequence[Episode]) -> dict[str, float]:
    """Return the log-likelihood ratio of each habit to uniform choice, of all episodes together.

    Empty where a world is stochastic. Wall-following needs the labels `row` and `column`, which actions change by the
    same steps everywhere; without them it is left out.
    """
    sample = Sample.of(episodes)
    if not all(world.deterministic for world in sample.worlds):
        return {}
    taken = np.concatenate([each.actions for each in sample])
    used = taken != UNUSABLE
    if not used.any():
        return {}

    moves = [_Moves.of(world) for world in sample.worlds]
    rows: dict[str, list[Floats]] = {}
    for episode, world in zip(sample, sample.world_of, strict=True):
        for name, values in _features(episode, moves[world]).items():
            rows.setdefault(name, []).append(values)
    # Only habits that mean something in every episode are compared.
    features = {name: np.concatenate(each)[used] for name, each in rows.items() if len(each) == len(sample)}

    leads = features.pop(OPEN)
    found = {}
    for name, values in features.items():
        found[name] = _evidence(np.stack([values, leads], axis=-1), taken[used])

    # Following walls with either hand is one habit.
    hands = [found.pop(_by_hand(hand)) for hand in HANDS if _by_hand(hand) in found]
    if hands:
        found[WALLS] = float(logsumexp(hands)) - log(len(hands))
    return found


@dataclass(frozen=True, eq=False)
class _Moves:
    """Where the actions of a deterministic world lead."""

    successors: Indices
    """(A, S)."""
    turns: Mapping[int, Indices] | None
    """By action: the actions to the right of it, straight on, to the left and back; None where that means nothing."""

    @classmethod
    def of(cls, mdp: TabularMDP) -> "_Moves":
        successors = np.stack([matrix.indices for matrix in mdp.transition])
        return cls(successors, _turns(mdp.labels, successors))


def _turns(labels: Mapping[str, Floats], successors: Indices) -> dict[int, Indices] | None:
    if not {"row", "column"} <= labels.keys() or len(successors) != 4:
        return None
    places = np.stack([labels["row"], labels["column"]], axis=-1)
    steps = []
    for followed in successors:
        moved = np.unique((places[followed] - places)[followed != np.arange(len(followed))], axis=0)
        if len(moved) != 1:
            return None
        steps.append(tuple(moved[0]))

    turns = {}
    for action, (row, column) in enumerate(steps):
        ways = [(column, -row), (row, column), (-column, row), (-row, -column)]
        if any(way not in steps for way in ways):
            return None
        turns[action] = np.array([steps.index(way) for way in ways])
    return turns


def _features(episode: Episode, world: _Moves) -> dict[str, Floats]:
    """Return (T, A) by habit: whether each action of each decision follows from it."""
    followed = world.successors[:, episode.states].T
    leads = followed != episode.states[:, None]
    last, before = _last_moves(episode, followed)
    visits = _earlier_visits(episode, followed)
    fewest = np.where(leads, visits, np.inf).min(axis=1, keepdims=True)
    found = {
        OPEN: leads,
        NON_REVERSING: followed != before[:, None],
        NOVELTY: leads & (visits == fewest),
        MOMENTUM: np.arange(followed.shape[1]) == last[:, None],
    }
    if world.turns is not None:
        for hand in HANDS:
            found[_by_hand(hand)] = _along_wall(world.turns, hand, last, leads)
    return {name: values.astype(np.float64) for name, values in found.items()}


def _by_hand(hand: int) -> str:
    return f"{WALLS} {hand}"


def _last_moves(episode: Episode, followed: Indices) -> tuple[Indices, Indices]:
    """Return (T,) the last action that led anywhere before each decision, and (T,) where it came from; -1 for none."""
    last, before = np.full((2, len(episode.states)), -1)
    for t in range(1, len(last)):
        action = episode.actions[t - 1]
        state = episode.states[t - 1]
        if action != UNUSABLE and followed[t - 1, action] != state:
            last[t] = action
            before[t] = state
        else:
            last[t] = last[t - 1]
            before[t] = before[t - 1]
    return last, before


def _earlier_visits(episode: Episode, followed: Indices) -> Indices:
    """Return (T, A) how often the successor of each action was visited before."""
    visits = np.zeros(followed.shape, dtype=np.intp)
    counts: dict[int, int] = {}
    for t, state in enumerate(episode.states.tolist()):
        counts[state] = counts.get(state, 0) + 1
        visits[t] = [counts.get(each, 0) for each in followed[t].tolist()]
    return visits


def _along_wall(turns: Mapping[int, Indices], hand: int, last: Indices, leads: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return (T, A) the action of a hand on the wall: the first open one towards the hand, ahead, away, back."""
    chosen = np.zeros_like(leads)
    for t in np.flatnonzero(last >= 0):
        order = turns[int(last[t])]
        if hand != HANDS[0]:
            order = order[[2, 1, 0, 3]]
        is_open = leads[t, order]
        if is_open.any():
            chosen[t, order[is_open.argmax()]] = True
    return chosen


def _evidence(features: Floats, taken: Indices) -> float:
    """Return the log-likelihood ratio to uniform choice of (D, A, K) features of actions, given (D,) actions taken."""
    D, A, K = features.shape
    weights = np.zeros(K)
    score = _posterior(features, features[np.arange(D), taken])
    for _ in range(ROUNDS):
        _, slope, curvature = score(weights)
        step = np.linalg.solve(curvature, slope)
        weights = weights + step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < SETTLED:
            break
    best, _, curvature = score(weights)
    volume = K * log(2 * pi) / 2 - float(np.linalg.slogdet(curvature)[1]) / 2
    return float(best + D * log(A) + volume)


def _posterior(features: Floats, chosen: Floats) -> Callable[[Floats], tuple[float, Floats, Floats]]:
    """Return a function of weights (K,): log posterior, its slope (K,) and minus its curvature (K, K)."""
    K = features.shape[-1]
    prior = -K * log(2 * pi * SPREAD**2) / 2

    def score(weights: Floats) -> tuple[float, Floats, Floats]:
        merits = features @ weights
        policy = softmax(merits, axis=1)
        mean = np.einsum("da,dak->dk", policy, features)
        nats = chosen @ weights - logsumexp(merits, axis=1)
        spread = np.einsum("da,dak,dal->kl", policy, features, features) - mean.T @ mean
        slope = (chosen - mean).sum(axis=0) - weights / SPREAD**2
        value = float(nats.sum()) + prior - float(weights @ weights) / (2 * SPREAD**2)
        return value, slope, spread + np.eye(K) / SPREAD**2

    return score
