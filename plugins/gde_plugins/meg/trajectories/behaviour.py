"""The accuracy with which soft-optimal policies predict observed behaviour, for all
episodes at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isinf, log

import numpy as np

from gde.data.arrays import Doubles
from gde.data.mdp import TabularMDP
from gde_plugins.meg.solvers.choices import Choices
from gde_plugins.meg.solvers.dynamics import Dynamics
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.trajectories.sample import Decisions, Sample, join_worlds
from gde_plugins.meg.trajectories.utilities import Pursuit


@dataclass(frozen=True, kw_only=True, eq=False)
class Behaviour:
    """The decisions of N episodes, as behaviour towards the reward of their joined
    worlds.
    """

    mdp: TabularMDP
    decisions: Decisions

    @classmethod
    def of(cls, episodes: Sequence[Episode], pursuit: Pursuit) -> "Behaviour":
        """Read the episodes as behaviour towards the utility that `pursuit` gives their
        worlds.

        Raises:
            ValueError: no episodes, or worlds that differ in number of actions, in
                discount or in kind of reward.
        """
        sample = Sample.of(episodes)
        mdp = join_worlds([pursuit(world) for world in sample.worlds])
        return cls(mdp=mdp, decisions=sample.decisions)

    @cached_property
    def choices(self) -> Choices:
        """The decisions, ready to be predicted."""
        return Choices(self.dynamics, self.decisions.states, self.decisions.to_go)

    @cached_property
    def dynamics(self) -> Dynamics:
        """The transitions of the joined worlds."""
        return Dynamics(self.mdp)

    @property
    def n_episodes(self) -> int:
        """N."""
        return int(self.decisions.summed.shape[0])

    @property
    def n_actions(self) -> int:
        """A."""
        return self.mdp.n_actions

    @property
    def span(self) -> float:
        """Largest less smallest utility of a state; 1 if all are equal."""
        return float(np.ptp(self.mdp.reward)) or 1.0

    def scores(self, beta: float, reward: Doubles | None = None) -> Doubles:
        """Return (N,) nats by which the soft-optimal policy predicts each episode
        better than chance does.

        -inf where the limit policy of infinite rationality rules out what was done; a
        finite rationality rules out nothing. A decision at time t is weighed by
        discount**t, as in `known_utility`.

        Args:
            beta: the policy's rationality.
            reward: (S,) or (S, A) of the joined worlds; None for their own.
        """
        if reward is None:
            reward = self.mdp.reward
        decisions = self.decisions
        utility = self.dynamics.utility(reward)
        policy = self.choices.policy(utility, beta)

        probabilities = policy[decisions.taken]
        by_decision = above_chance(probabilities, self.n_actions, limit=isinf(beta))
        nats: Doubles = decisions.summed @ by_decision
        return nats

    def table(self, betas: Sequence[float] | Doubles) -> Doubles:
        """Return (B, N) `scores` at each of B rationalities."""
        table = np.empty((len(betas), self.n_episodes))
        for i, beta in enumerate(betas):
            table[i] = self.scores(float(beta))
        return table

    def scores_of_chance(self, beta: float) -> Doubles:
        """Return (N,) the expectation of `scores` for uniform choice in the same
        states.
        """
        # The mean over actions, since chance takes each of them equally often.
        by_action = self.by_action(beta)
        expected: Doubles = self.decisions.summed @ by_action.mean(axis=0)
        return expected

    def by_action(self, beta: float) -> Doubles:
        """Return (A, D) nats by which the soft-optimal policy predicts each action in
        each decision better than chance does.
        """
        utility = self.dynamics.utility(self.mdp.reward)
        policy = self.choices.policy(utility, beta)
        return above_chance(policy, self.n_actions, limit=isinf(beta))

    def accuracy(self, reward: Doubles, chosen: Doubles) -> tuple[float, Doubles]:
        """Return the summed nats of the episodes, counted `chosen` (N,) times each, and
        the derivative by reward (S,).

        The derivative of an action's log-probability by the value of an action is
        whether it is the one, less its probability. Values change with the utility of
        the states that they come from.
        """
        decisions = self.decisions
        policy, pull = self.choices.response(self.dynamics.utility(reward))

        counts = chosen @ decisions.summed
        probabilities = policy[decisions.taken]
        nats = counts @ above_chance(probabilities, self.n_actions)

        # Of log-softmax: the indicator of the action taken, less the probabilities.
        change = -policy * counts
        change[decisions.taken] += counts
        return float(nats), pull(change)


def above_chance(
    probabilities: Doubles, n_actions: int, limit: bool = False
) -> Doubles:
    """Return log-probabilities of actions less that of uniform choice, in nats.

    A probability of 0 has underflowed and counts as the smallest number, unless the
    policy is a `limit`.
    """
    if not limit:
        smallest = np.finfo(np.float64).tiny
        probabilities = np.maximum(probabilities, smallest)
    with np.errstate(divide="ignore"):
        nats: Doubles = np.log(probabilities)
    return nats + log(n_actions)
