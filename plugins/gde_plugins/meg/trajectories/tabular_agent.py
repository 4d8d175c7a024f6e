"""Goal-directedness of an agent whose action probabilities are known in every state,
without sampling.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import copysign, exp, inf, log

import numpy as np
from scipy.optimize import minimize_scalar

from gde.data.mdp import Floats, TabularMDP
from gde_plugins.meg.solvers.dynamics import Dynamics, Mask
from gde_plugins.meg.trajectories.behaviour import Behaviour
from gde_plugins.meg.trajectories.episodes import UNUSABLE, Episode
from gde_plugins.meg.trajectories.utilities import Pursuit, own_reward

MAGNITUDES = np.geomspace(0.003, 100, 40)
"""Rationalities that are tried, in units of 1 / the utility's range; the best is
refined.
"""
PRECISION = 1e-6
"""Error of the logarithm of the best rationality."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Tabulated:
    """An agent in a world, whose choices depend on the state alone."""

    mdp: TabularMDP
    probabilities: Floats
    """(S, A). The rest to a sum of 1 is the probability of no action, after which the
    agent stays where it is.
    """
    steps: int
    """Turns after which an episode is cut off."""
    until: Mask | None = None
    """(S,) states that cut it off too, beside the world's terminal states; None for
    none.
    """

    def __post_init__(self) -> None:
        wanted = (self.mdp.n_states, self.mdp.n_actions)
        found = self.probabilities.shape
        is_table = found == wanted and not (self.probabilities < 0).any()
        if not is_table or (self.probabilities.sum(axis=1) > 1 + 1e-9).any():
            raise ValueError(
                f"wanted probabilities of shape {wanted} with sums of at most 1, got shape {found}"
            )

    @cached_property
    def taken(self) -> Floats:
        """(S, A) expected number of times that each action is taken in each state in an
        episode.
        """
        dynamics = Dynamics(self.mdp)
        going = dynamics.going
        if self.until is not None:
            going = going & ~self.until

        # An answer without an action leaves the agent where it is.
        answered = self.probabilities.sum(axis=1)
        silent = self.mdp.discount * (1 - answered)

        visits = self.mdp.start
        total = np.zeros_like(self.probabilities)
        for _ in range(self.steps):
            deciding = visits * going
            taken = deciding[:, None] * self.probabilities
            total += taken
            visits = dynamics.arrivals(taken.T) + deciding * silent
        return total

    def draw(self, rng: np.random.Generator, cluster: str) -> Episode:
        """Draw one episode; `until` plays no part in it."""
        mdp = self.mdp
        moves = [matrix.tocsr() for matrix in mdp.transition]
        ended = np.zeros(mdp.n_states, dtype=bool)
        if mdp.terminal is not None:
            ended = mdp.terminal

        # One more choice in each state: an answer without an action.
        answered = self.probabilities.sum(axis=1)
        silent = np.maximum(1 - answered, 0.0)

        states: list[int] = []
        actions: list[int] = []
        state = int(rng.choice(mdp.n_states, p=mdp.start))
        while len(states) < self.steps and not ended[state]:
            weights = np.append(self.probabilities[state], silent[state])
            choice = int(rng.choice(len(weights), p=weights / weights.sum()))
            states.append(state)
            if choice == mdp.n_actions:
                actions.append(UNUSABLE)
                continue

            actions.append(choice)
            row = moves[choice][[state]]
            state = int(rng.choice(row.indices, p=row.data))
        return Episode(
            mdp=mdp,
            states=np.array(states, dtype=int),
            actions=np.array(actions, dtype=int),
            cluster=cluster,
        )


@dataclass(frozen=True, kw_only=True)
class Expected:
    """The estimate of `from_trajectories` from endless samples."""

    value: float
    """Nats an episode."""
    beta: float

    @property
    def signed(self) -> float:
        """The value, negative where the agent works against the utility."""
        return copysign(self.value, self.beta) if self.value else 0.0


def expected(agents: Sequence[Tabulated], utility: Pursuit = own_reward) -> Expected:
    """Compute the MEG of an agent in several worlds at one rationality for all, without
    deadline (Definition 3.2).

    Args:
        agents: the agent in each of the worlds.
        utility: as in `from_trajectories`.
    """
    # Each state and action is an episode of one decision, weighed by its expected
    # number.
    decisions = []
    counts = []
    for agent in agents:
        for state, action in np.argwhere(agent.taken > 0):
            states = np.array([state])
            actions = np.array([action])
            decisions.append(Episode(mdp=agent.mdp, states=states, actions=actions))
            counts.append(agent.taken[state, action])
    behaviour = Behaviour.of(decisions, utility)
    weights = np.array(counts) / len(agents)

    def accuracy(beta: float) -> float:
        nats = behaviour.scores(beta)
        return float(nats @ weights)

    unit = float(np.ptp(behaviour.reward)) or 1.0
    magnitudes = MAGNITUDES / unit
    grid = [*magnitudes.tolist(), *(-magnitudes).tolist(), inf, -inf]
    tried = {beta: accuracy(beta) for beta in grid}
    best = max(tried, key=tried.__getitem__)
    if tried[best] <= 0:
        return Expected(value=0.0, beta=0.0)
    if np.isinf(best):
        return Expected(value=tried[best], beta=best)

    # Refine the best of the grid between its neighbours, on the logarithm since the
    # unit of utility is arbitrary.
    width = log(MAGNITUDES[1] / MAGNITUDES[0])
    center = log(abs(best))
    sign = float(np.sign(best))

    def loss(log_magnitude: float) -> float:
        return -accuracy(sign * exp(log_magnitude))

    found = minimize_scalar(
        loss,
        bounds=(center - width, center + width),
        method="bounded",
        options={"xatol": PRECISION},
    )
    refined = -float(found.fun)
    return Expected(value=max(refined, tried[best]), beta=sign * exp(found.x))
