"""What an agent that is after nothing may do without choosing at random: reflexes, as rivals of goals.

A reflex says of each action whether it follows from what the agent did last, whatever there is to gain. It is held to
choose in proportion to exp(w * reflex + v * open), `open` being whether the action leads anywhere at all. How strictly
it follows its reflex, and how well it sees walls, is not known: both weights have a normal prior, and the evidence
averages over them (Laplace's method).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log, pi

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax

from gde.data.mdp import Floats, TabularMDP
from gde_plugins.meg.solvers.dynamics import Indices
from gde_plugins.meg.trajectories.episodes import UNUSABLE, Episode

NON_REVERSING, NOVELTY, MOMENTUM, WALLS = "non-reversing", "novelty-seeking", "momentum", "wall-following"
SPREAD = 3.0
"""Standard deviation of the prior of each weight: e^3 = 20 to 1 for what the reflex says is usual."""
ROUNDS = 30
"""Newton steps; concave, so that a handful do."""
SETTLED = 1e-9
HANDS = (1, -1)
"""Right and left."""


def reflexes(episodes: Sequence[Episode]) -> dict[str, float]:
    """By reflex: log-likelihood ratio of following it against random choice, of all episodes together.

    Empty where a world leaves something to chance. Without labels `row` and `column` that actions change by the same
    steps everywhere there is no telling right from left, and no wall-following.
    """
    if not all(each.mdp.deterministic for each in episodes):
        return {}
    taken = np.concatenate([each.actions for each in episodes])
    used, taken = taken != UNUSABLE, taken[taken != UNUSABLE]
    if not len(taken):
        return {}
    worlds = {id(each.mdp): _Moves.of(each.mdp) for each in episodes}
    rows: dict[str, list[Floats]] = {}
    for episode in episodes:
        for name, values in _of_episode(episode, worlds[id(episode.mdp)]).items():
            rows.setdefault(name, []).append(values)
    complete = {name: np.concatenate(each)[used] for name, each in rows.items() if len(each) == len(episodes)}
    leads = complete.pop("open")
    found = {name: _evidence(np.stack([values, leads], axis=-1), taken) for name, values in complete.items()}
    hands = [found.pop(f"{WALLS} {hand}") for hand in HANDS if f"{WALLS} {hand}" in found]
    if hands:
        found[WALLS] = float(logsumexp(hands)) - log(len(hands))
    return found


def _of_episode(episode: Episode, world: "_Moves") -> dict[str, Floats]:
    """By reflex (T, A): what it says of the actions of each decision."""
    followed = world.successors[:, episode.states].T
    leads = followed != episode.states[:, None]
    last, before = _last_moves(episode, followed)
    visits = np.array([*_visits(episode, followed)]).reshape(followed.shape)
    fewest = np.where(leads, visits, np.inf).min(axis=1, keepdims=True)
    says = {
        "open": leads,
        NON_REVERSING: followed != before[:, None],
        NOVELTY: leads & (visits == fewest),
        MOMENTUM: np.arange(followed.shape[1]) == last[:, None],
    }
    if world.turns is not None:
        says |= {f"{WALLS} {hand}": _by_hand(world.turns, hand, last, leads) for hand in HANDS}
    return {name: values.astype(np.float64) for name, values in says.items()}


def _last_moves(episode: Episode, followed: Indices) -> tuple[Indices, Indices]:
    """(T,) the last action that led anywhere before each decision, and (T,) where it came from; -1 for none."""
    last, before = np.full((2, len(episode.states)), -1)
    for t in range(1, len(last)):
        action, state = episode.actions[t - 1], episode.states[t - 1]
        moved = action != UNUSABLE and followed[t - 1, action] != state
        last[t], before[t] = (action, state) if moved else (last[t - 1], before[t - 1])
    return last, before


def _visits(episode: Episode, followed: Indices) -> Iterator[list[int]]:
    """For each decision: how often each successor was visited before."""
    counts: dict[int, int] = {}
    for state, after in zip(episode.states.tolist(), followed.tolist(), strict=True):
        counts[state] = counts.get(state, 0) + 1
        yield [counts.get(each, 0) for each in after]


def _by_hand(turns: Mapping[int, Indices], hand: int, last: Indices, leads: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(T, A) whether the action is the one that a hand on the wall leads to: towards the hand, ahead, away, back."""
    chosen = np.zeros_like(leads)
    for t in np.flatnonzero(last >= 0):
        towards = turns[int(last[t])]
        for action in towards if hand == HANDS[0] else towards[[2, 1, 0, 3]]:
            if leads[t, action]:
                chosen[t, action] = True
                break
    return chosen


@dataclass(frozen=True, eq=False)
class _Moves:
    """Where the actions of a deterministic world lead."""

    successors: Indices
    """(A, S)."""
    turns: Mapping[int, Indices] | None

    @classmethod
    def of(cls, mdp: TabularMDP) -> "_Moves":
        successors = np.stack([matrix.indices for matrix in mdp.transition])
        return cls(successors, _turns(mdp.labels, successors))


def _turns(labels: Mapping[str, Floats], successors: Indices) -> dict[int, Indices] | None:
    """By action: the actions to the right of it, straight on, to the left and back; None where that means nothing."""
    if not {"row", "column"} <= labels.keys() or len(successors) != 4:
        return None
    places = np.stack([labels["row"], labels["column"]], axis=-1)
    steps = []
    for followed in successors:
        moved = np.unique((places[followed] - places)[followed != np.arange(len(followed))], axis=0)
        if len(moved) != 1:
            return None
        steps.append(tuple(moved[0]))
    try:
        return {
            a: np.array([steps.index(way) for way in ((column, -row), (row, column), (-column, row), (-row, -column))])
            for a, (row, column) in enumerate(steps)
        }
    except ValueError:
        return None


def _evidence(says: Floats, taken: Indices) -> float:
    """Log-likelihood ratio against random choice of (D, A, K) features of actions, given what was taken (D,)."""
    D, A, K = says.shape
    weights, chosen = np.zeros(K), says[np.arange(D), taken]
    score = _posterior(says, chosen)
    for _ in range(ROUNDS):
        _, slope, curvature = score(weights)
        step = np.linalg.solve(curvature, slope)
        weights = weights + step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < SETTLED:
            break
    best, _, curvature = score(weights)
    volume = K * log(2 * pi) / 2 - float(np.linalg.slogdet(curvature)[1]) / 2
    return float(best + D * log(A) + volume)


def _posterior(says: Floats, chosen: Floats) -> Callable[[Floats], tuple[float, Floats, Floats]]:
    """The log of likelihood times prior at some weights (K,), its slope (K,) and minus its curvature (K, K)."""
    K = says.shape[-1]
    prior = -K * log(2 * pi * SPREAD**2) / 2

    def score(weights: Floats) -> tuple[float, Floats, Floats]:
        merits = says @ weights
        policy = softmax(merits, axis=1)
        mean = np.einsum("da,dak->dk", policy, says)
        nats = chosen @ weights - logsumexp(merits, axis=1)
        spread = np.einsum("da,dak,dal->kl", policy, says, says) - mean.T @ mean
        slope = (chosen - mean).sum(axis=0) - weights / SPREAD**2
        value = float(nats.sum()) + prior - float(weights @ weights) / (2 * SPREAD**2)
        return value, slope, spread + np.eye(K) / SPREAD**2

    return score
