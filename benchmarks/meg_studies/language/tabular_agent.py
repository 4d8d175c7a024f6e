"""Goal-directedness of an agent whose action probabilities are known in every state,
without sampling.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import copysign

import numpy as np
from scipy.sparse import csr_array

from gde.data.arrays import Doubles
from gde.data.mdp import TabularMDP
from gde_plugins.meg.solvers.dynamics import Dynamics, Mask
from gde_plugins.meg.trajectories.behaviour import Behaviour
from gde_plugins.meg.trajectories.episodes import UNUSABLE, Episode
from gde_plugins.meg.trajectories.rationality import best_rationality
from gde_plugins.meg.trajectories.sample import (
    Decisions,
    join_worlds,
    planning_horizon,
)
from gde_plugins.meg.trajectories.utilities import Pursuit, own_reward


@dataclass(frozen=True, kw_only=True, eq=False)
class Tabulated:
    """An agent in a world, whose choices depend on the state alone."""

    mdp: TabularMDP
    probabilities: Doubles
    """(S, A). The rest to a sum of 1 is the probability of no action, after which the
    agent stays where it is.
    """
    steps: int
    """Turns after which an episode is cut off."""
    until: Mask | None = None
    """(S,) states that cut it off too, beside the world's terminal states; None for
    none.
    """

    @cached_property
    def taken(self) -> Doubles:
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
    # Each state and action is a decision, weighed by its expected number.
    states: list[int] = []
    actions: list[int] = []
    to_go: list[int] = []
    weights: list[float] = []
    first = 0
    for agent in agents:
        horizon = planning_horizon(agent.mdp)
        for state, action in np.argwhere(agent.taken > 0):
            states.append(first + state)
            actions.append(action)
            to_go.append(horizon)
            weights.append(agent.taken[state, action] / len(agents))
        first += agent.mdp.n_states

    order = np.argsort(to_go, kind="stable")
    decisions = Decisions(
        states=np.array(states)[order],
        to_go=np.array(to_go)[order],
        taken=(np.array(actions)[order], np.arange(len(order))),
        summed=csr_array(np.array(weights)[None, order]),
    )
    mdp = join_worlds([utility(agent.mdp) for agent in agents])
    beta, scores = best_rationality(Behaviour(mdp=mdp, decisions=decisions))
    value = float(scores.sum())
    if value <= 0:
        return Expected(value=0.0, beta=0.0)
    return Expected(value=value, beta=beta)
