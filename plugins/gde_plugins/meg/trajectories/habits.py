"""Habits of goal-blind agents that do not choose at random, as alternatives to goals.

A habit marks the actions that follow from what the agent did last, whatever there is to
gain. An agent with a habit chooses in proportion to exp(w * habit + v * open), where
`open` marks the actions that lead to another state. The weights say how strictly the
agent follows the habit and how well it sees walls. Both are unknown and have a normal
prior; the evidence averages over them (Laplace's method).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log, pi

import numpy as np
from scipy.special import logsumexp, softmax

from gde.data.mdp import Floats, TabularMDP
from gde_plugins.meg.solvers.dynamics import Indices, Mask
from gde_plugins.meg.trajectories.episodes import UNUSABLE, Episode
from gde_plugins.meg.trajectories.sample import Sample

NON_REVERSING = "non-reversing"
NOVELTY = "novelty-seeking"
MOMENTUM = "momentum"
WALLS = "wall-following"
OPEN = "open"
SPREAD = 3.0
"""Standard deviation of the prior of each weight: odds of e^3 = 20 to 1 for what the
habit says are usual.
"""
ROUNDS = 30
"""Newton steps; the problem is concave, so a handful do."""
SETTLED = 1e-9
HANDS = (1, -1)
"""Right and left."""


def habits(episodes: Sequence[Episode]) -> dict[str, float]:
    """Return the log-likelihood ratio of each habit to uniform choice, of all episodes
    together.

    Empty where a world is stochastic. Wall-following needs the labels `row` and
    `column`, which actions change by the same steps everywhere; without them it is left
    out.
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
        by_name = _features(episode, moves[world])
        for name, values in by_name.items():
            rows.setdefault(name, []).append(values)

    # Only habits that mean something in every episode are compared.
    features = {}
    for name, by_episode in rows.items():
        if len(by_episode) == len(sample):
            features[name] = np.concatenate(by_episode)[used]

    # Every habit sees walls too, or seeing them would count as following the habit.
    leads = features.pop(OPEN)
    found = {}
    for name, values in features.items():
        both = np.stack([values, leads], axis=-1)
        found[name] = _evidence(both, taken[used])

    # Following walls with either hand is one habit, with even odds of the hands.
    names = [_by_hand(hand) for hand in HANDS]
    hands = [found.pop(name) for name in names if name in found]
    if hands:
        total = float(logsumexp(hands))
        found[WALLS] = total - log(len(hands))
    return found


@dataclass(frozen=True, eq=False)
class _Moves:
    """Where the actions of a deterministic world lead."""

    successors: Indices
    """(A, S)."""
    turns: Mapping[int, Indices] | None
    """By action: the actions to the right of it, straight on, to the left and back;
    None where that means nothing.
    """

    @classmethod
    def of(cls, mdp: TabularMDP) -> "_Moves":
        successors = np.stack([matrix.indices for matrix in mdp.transition])
        return cls(successors, _turns(mdp.labels, successors))


def _turns(
    labels: Mapping[str, Floats], successors: Indices
) -> dict[int, Indices] | None:
    if not {"row", "column"} <= labels.keys() or len(successors) != 4:
        return None
    places = np.stack([labels["row"], labels["column"]], axis=-1)
    stay = np.arange(successors.shape[1])

    # An action is a direction if it moves by the same step wherever it moves at all.
    steps = []
    for followed in successors:
        offsets = places[followed] - places
        different = np.unique(offsets[followed != stay], axis=0)
        if len(different) != 1:
            return None
        steps.append(tuple(different[0]))

    turns = {}
    for action, (row, column) in enumerate(steps):
        right = (column, -row)
        ahead = (row, column)
        left = (-column, row)
        back = (-row, -column)
        actions = []
        for way in (right, ahead, left, back):
            if way not in steps:
                return None
            actions.append(steps.index(way))
        turns[action] = np.array(actions)
    return turns


def _features(episode: Episode, world: _Moves) -> dict[str, Floats]:
    """Return (T, A) by habit: whether each action of each decision follows from it."""
    followed = world.successors[:, episode.states].T
    leads = followed != episode.states[:, None]
    last, before = _last_moves(episode, followed)

    # An action into a wall stays in a place, however new, and is no exploration.
    visits = _earlier_visits(episode, followed)
    open_visits = np.where(leads, visits, np.inf)
    fewest = open_visits.min(axis=1, keepdims=True)

    actions = np.arange(followed.shape[1])
    follows = {
        OPEN: leads,
        NON_REVERSING: followed != before[:, None],
        NOVELTY: leads & (visits == fewest),
        MOMENTUM: actions == last[:, None],
    }
    if world.turns is not None:
        for hand in HANDS:
            follows[_by_hand(hand)] = _along_wall(world.turns, hand, last, leads)
    return {name: values.astype(np.float64) for name, values in follows.items()}


def _by_hand(hand: int) -> str:
    return f"{WALLS} {hand}"


def _last_moves(episode: Episode, followed: Indices) -> tuple[Indices, Indices]:
    """Return (T,) the last action that led anywhere before each decision, and (T,)
    where it came from; -1 for none.
    """
    n_decisions = len(episode.states)
    last = np.full(n_decisions, -1)
    before = np.full(n_decisions, -1)
    for t in range(1, n_decisions):
        action = episode.actions[t - 1]
        state = episode.states[t - 1]
        after = followed[t - 1, action]
        has_moved = action != UNUSABLE and after != state
        if has_moved:
            last[t] = action
            before[t] = state
        else:
            last[t] = last[t - 1]
            before[t] = before[t - 1]
    return last, before


def _earlier_visits(episode: Episode, followed: Indices) -> Indices:
    """Return (T, A) how often the successor of each action was visited before."""
    visits = np.zeros(followed.shape, dtype=np.intp)
    counts = np.zeros(episode.mdp.n_states, dtype=np.intp)
    for t, state in enumerate(episode.states):
        counts[state] += 1
        visits[t] = counts[followed[t]]
    return visits


def _along_wall(
    turns: Mapping[int, Indices], hand: int, last: Indices, leads: Mask
) -> Mask:
    """Return (T, A) the action of a hand on the wall: the first open one towards the
    hand, ahead, away, back.
    """
    chosen = np.zeros_like(leads)
    moved = np.flatnonzero(last >= 0)
    for t in moved:
        order = turns[int(last[t])]
        if hand != HANDS[0]:
            order = order[[2, 1, 0, 3]]

        is_open = leads[t, order]
        if is_open.any():
            first = order[is_open.argmax()]
            chosen[t, first] = True
    return chosen


def _evidence(features: Floats, taken: Indices) -> float:
    """Return the log-likelihood ratio to uniform choice of (D, A, K) features of
    actions, given (D,) actions taken.
    """
    D, A, K = features.shape
    chosen = features[np.arange(D), taken]
    score = _posterior(features, chosen)

    # A step of more than one could overshoot where choices are nearly certain.
    weights = np.zeros(K)
    for _ in range(ROUNDS):
        _, slope, curvature = score(weights)
        step = np.linalg.solve(curvature, slope)
        longest = float(np.abs(step).max())
        weights = weights + step / max(1.0, longest)
        if longest < SETTLED:
            break

    # Laplace's method: the posterior is taken for a normal density around its best
    # weights.
    best, _, curvature = score(weights)
    log_determinant = float(np.linalg.slogdet(curvature)[1])
    volume = K * log(2 * pi) / 2 - log_determinant / 2
    chance = D * log(A)
    return float(best + chance + volume)


def _posterior(
    features: Floats, chosen: Floats
) -> Callable[[Floats], tuple[float, Floats, Floats]]:
    """Return a function of weights (K,): log posterior, its slope (K,) and minus its
    curvature (K, K).
    """
    K = features.shape[-1]
    variance = SPREAD**2
    prior = -K * log(2 * pi * variance) / 2

    def score(weights: Floats) -> tuple[float, Floats, Floats]:
        merits = features @ weights
        policy = softmax(merits, axis=1)
        mean = np.einsum("da,dak->dk", policy, features)

        nats = chosen @ weights - logsumexp(merits, axis=1)
        penalty = float(weights @ weights) / (2 * variance)
        value = float(nats.sum()) + prior - penalty

        surprise = (chosen - mean).sum(axis=0)
        slope = surprise - weights / variance

        # The curvature of a log-partition function is the covariance of its features.
        second = np.einsum("da,dak,dal->kl", policy, features, features)
        covariance = second - mean.T @ mean
        curvature = covariance + np.eye(K) / variance
        return value, slope, curvature

    return score
