"""How well soft-optimal policies predict what was observed, of all episodes at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from gde.data.mdp import Floats
from gde_plugins.meg.solvers.dynamics import Utility
from gde_plugins.meg.solvers.unrolled import Response
from gde_plugins.meg.trajectories.candidates import Pursuit
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.trajectories.side_by_side import Sample, Scene


@dataclass(frozen=True, kw_only=True, eq=False)
class Behaviour:
    """All decisions of N episodes, as behaviour towards a utility in one world: their worlds side by side."""

    sample: Sample
    scene: Scene
    reward: Floats
    """(S,) or (S, A) of the worlds side by side: the utility that behaviour is measured against."""

    @classmethod
    def of(cls, episodes: Sequence[Episode], pursuit: Pursuit) -> "Behaviour":
        """The episodes as behaviour towards what `pursuit` makes of their worlds.

        Raises:
            ValueError: no episodes, or worlds that differ in number of actions, in discount or in kind of reward.
        """
        sample = Sample.of(episodes)
        scene, reward = sample.pursuing(pursuit)
        return cls(sample=sample, scene=scene, reward=reward)

    @property
    def n_actions(self) -> int:
        """A."""
        return self.scene.mdp.n_actions

    def scores(self, beta: float, reward: Floats | None = None) -> Floats:
        """(N,) nats by which the soft-optimal policy predicts each episode better than chance does.

        -inf where the limit policy of infinite rationality rules out what was done; a finite one rules out nothing. A
        decision at time t is weighed by discount**t, as in `known_utility`.

        Args:
            beta: the policy's rationality.
            reward: (S,) or (S, A) of the worlds side by side; None for their own.
        """
        nats: Floats = self.table([beta], reward)[0]
        return nats

    def table(self, betas: Sequence[float] | Floats, reward: Floats | None = None, fast: bool = False) -> Floats:
        """(B, N) as `scores`, at each of B rationalities; `fast` if rounding need not be that of `scores`."""
        utility, receding = self._utility(self.reward if reward is None else reward), self.scene.receding
        at_once = [bool(fast and receding and receding.within(utility, float(beta))) for beta in betas]
        table = np.empty((len(betas), len(self.sample)))
        for i in np.flatnonzero(~np.array(at_once, dtype=bool)).tolist():
            table[i] = self._scores(self._policy(utility, float(betas[i]), fast), bool(np.isinf(betas[i])))
        if receding and any(at_once):
            chosen = receding.policies(utility, np.asarray(betas)[at_once])[self.scene.decisions.taken]
            table[at_once] = (self.scene.decisions.summed @ above_chance(chosen, self.n_actions)).T
        return table

    def scores_of_chance(self, beta: float) -> Floats:
        """(N,) as `scores`, expected of random choice in the same states."""
        policy = self._policy(self._utility(self.reward), beta, fast=False)
        nats = above_chance(policy, self.n_actions, bool(np.isinf(beta)))
        expected: Floats = self.scene.decisions.summed @ nats.mean(axis=0)
        return expected

    def accuracy(self, reward: Floats, chosen: Floats) -> tuple[float, Floats]:
        """Summed nats of the episodes, counted `chosen` (N,) times each, and their derivative by the reward (S,).

        The log-probability of an action changes with the value of what follows an action by whether it is the one,
        less how probable it is; values change with the utility of the states that they come from.
        """
        decisions, response = self.scene.decisions, self._response(self._utility(reward), fast=True)
        counts, taken = chosen @ decisions.summed, decisions.taken
        nats = counts @ above_chance(response.policy[taken], self.n_actions)
        change = -response.policy * counts
        change[taken] += counts
        return float(nats), response.pull(change)

    def _policy(self, utility: Utility, beta: float, fast: bool) -> Floats:
        """(A, D) soft-optimal probabilities."""
        if np.isinf(beta):
            return self.scene.unrolled.policy(utility, beta)
        return self._response(utility.scaled(beta), fast).policy

    def _response(self, utility: Utility, fast: bool) -> Response:
        linear = self.scene.desirability if fast else None
        if linear is not None and linear.within(utility):
            return linear.response(utility)
        return self.scene.unrolled.response(utility)

    def _scores(self, policy: Floats, limit: bool) -> Floats:
        """(N,) nats above chance."""
        decisions = self.scene.decisions
        nats: Floats = decisions.summed @ above_chance(policy[decisions.taken], self.n_actions, limit)
        return nats

    def _utility(self, reward: Floats) -> Utility:
        return self.scene.unrolled.dynamics.utility(reward)


def above_chance(probabilities: Floats, n_actions: int, limit: bool = False) -> Floats:
    """Log-probabilities of actions less that of random choice, in nats.

    A probability of 0 is one that underflowed, and counts as the smallest number, unless the policy is a `limit`.
    """
    with np.errstate(divide="ignore"):
        nats: Floats = np.log(probabilities if limit else np.maximum(probabilities, np.finfo(np.float64).tiny))
    return nats + log(n_actions)
