"""Goal-directedness of an agent whose action probabilities are known in every state, without sampling."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import copysign, exp, inf, log

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from gde.data.mdp import Floats, TabularMDP
from gde_plugins.meg.solvers.dynamics import Dynamics
from gde_plugins.meg.trajectories.behaviour import Behaviour
from gde_plugins.meg.trajectories.candidates import Pursuit, own_reward
from gde_plugins.meg.trajectories.episodes import UNUSABLE, Episode

MAGNITUDES = np.geomspace(0.003, 100, 40)
"""Rationalities that are tried, in units of 1 / the utility's range; the best is refined."""
PRECISION = 1e-6
"""Of the logarithm of the best rationality."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Tabulated:
    """An agent in a world, as far as a state decides what it does."""

    mdp: TabularMDP
    probabilities: Floats
    """(S, A); what is missing to a sum of 1 are answers without an action, after which it stays where it is."""
    steps: int
    """Turns after which an episode is cut off."""
    until: NDArray[np.bool_] | None = None
    """(S,) where it is cut off too, beside the world's terminal states; None for nowhere."""

    def __post_init__(self) -> None:
        wanted, found = (self.mdp.n_states, self.mdp.n_actions), self.probabilities.shape
        if found != wanted or (self.probabilities < 0).any() or (self.probabilities.sum(axis=1) > 1 + 1e-9).any():
            raise ValueError(f"wanted probabilities of shape {wanted} with sums of at most 1, got shape {found}")

    @cached_property
    def taken(self) -> Floats:
        """(S, A) how often each action is taken in each state, in expectation over an episode."""
        dynamics, visits, total = Dynamics(self.mdp), self.mdp.start, np.zeros_like(self.probabilities)
        silent = self.mdp.discount * (1 - self.probabilities.sum(axis=1))
        going = dynamics.going if self.until is None else dynamics.going & ~self.until
        for _ in range(self.steps):
            deciding = visits * going
            taken = deciding[:, None] * self.probabilities
            total += taken
            visits = dynamics.arrivals(taken.T) + deciding * silent
        return total

    def draw(self, rng: np.random.Generator, cluster: str) -> Episode:
        """One episode; `until` plays no part in it."""
        moves = [matrix.tocsr() for matrix in self.mdp.transition]
        ended = np.zeros(self.mdp.n_states, dtype=bool) if self.mdp.terminal is None else self.mdp.terminal
        silent = np.maximum(1 - self.probabilities.sum(axis=1), 0.0)
        state, states, actions = int(rng.choice(len(ended), p=self.mdp.start)), list[int](), list[int]()
        while len(states) < self.steps and not ended[state]:
            weights = np.append(self.probabilities[state], silent[state])
            choice = int(rng.choice(len(weights), p=weights / weights.sum()))
            states.append(state)
            actions.append(choice if choice < self.mdp.n_actions else UNUSABLE)
            if actions[-1] != UNUSABLE:
                row = moves[choice][[state]]
                state = int(rng.choice(row.indices, p=row.data))
        return Episode(
            mdp=self.mdp, states=np.array(states, dtype=int), actions=np.array(actions, dtype=int), cluster=cluster
        )


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What `from_trajectories` would find from endless samples."""

    value: float
    """Nats an episode."""
    beta: float

    @property
    def signed(self) -> float:
        """The value, negative where the agent works against the utility."""
        return copysign(self.value, self.beta) if self.value else 0.0


def expected(agents: Sequence[Tabulated], utility: Pursuit = own_reward) -> Expected:
    """MEG of an agent in several worlds at one rationality for all, told of no deadline (Definition 3.2).

    Args:
        agents: the agent in each of the worlds.
        utility: as in `from_trajectories`.
    """
    decisions, counts = [], []
    for agent in agents:
        for state, action in np.argwhere(agent.taken > 0).tolist():
            decisions.append(Episode(mdp=agent.mdp, states=np.array([state]), actions=np.array([action])))
            counts.append(agent.taken[state, action])
    behaviour, weights = Behaviour.of(decisions, utility), np.array(counts) / len(agents)

    def accuracy(beta: float) -> float:
        return float(behaviour.table([beta])[0] @ weights)

    unit = float(np.ptp(behaviour.reward)) or 1.0
    tried = {sign * size / unit: 0.0 for sign in (1, -1) for size in MAGNITUDES}
    tried |= {beta: accuracy(beta) for beta in (*tried, inf, -inf)}
    best = max(tried, key=tried.__getitem__)
    if tried[best] <= 0:
        return Expected(value=0.0, beta=0.0)
    if np.isinf(best):
        return Expected(value=tried[best], beta=best)
    width = log(MAGNITUDES[1] / MAGNITUDES[0])
    around = log(abs(best)) - width, log(abs(best)) + width
    sign = float(np.sign(best))
    found = minimize_scalar(
        lambda x: -accuracy(sign * exp(x)), bounds=around, method="bounded", options={"xatol": PRECISION}
    )
    return Expected(value=max(-float(found.fun), tried[best]), beta=sign * exp(found.x))
