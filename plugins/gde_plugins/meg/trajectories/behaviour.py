"""How well soft-optimal policies predict what was observed, of all episodes at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from gde.data.mdp import Floats
from gde_plugins.meg.solvers.dynamics import Indices, Utility
from gde_plugins.meg.solvers.unrolled import Response
from gde_plugins.meg.trajectories.candidates import Pursuit
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.trajectories.side_by_side import Sample, Scene

AT_ONCE = 2**20
"""Most values of states and times that are worked out at once, for as many rationalities as that are."""


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
        decisions = self.scene.decisions
        found = np.empty((len(betas), len(self.sample)))
        for rows, policy in self._policies(np.asarray(betas, dtype=np.float64), reward, fast):
            chosen = policy[decisions.actions, np.arange(len(decisions.actions))]
            nats = above_chance(chosen, self.n_actions, bool(np.isinf(betas[rows[0]])))
            found[rows] = (decisions.summed @ nats).T
        return found

    def scores_of_chance(self, beta: float) -> Floats:
        """(N,) as `scores`, expected of random choice in the same states."""
        ((_, policy),) = self._policies(np.array([beta]), None, fast=False)
        nats = above_chance(policy[..., 0], self.n_actions, bool(np.isinf(beta)))
        expected: Floats = self.scene.decisions.summed @ nats.mean(axis=0)
        return expected

    def response(self, reward: Floats) -> Response:
        """The soft-optimal choices for a reward (S,) in nats, and how they change with it."""
        utility, linear = self._utility(reward), self.scene.desirability
        if linear is not None and linear.within(utility, 1.0):
            return linear.response(utility)
        return self.scene.unrolled.response(utility)

    def _policies(self, betas: Floats, reward: Floats | None, fast: bool) -> Iterator[tuple[Indices, Floats]]:
        """(b,) which rationalities, and (A, D, b) soft-optimal probabilities; infinite ones come by themselves."""
        unrolled, utility = self.scene.unrolled, self._utility(self.reward if reward is None else reward)
        linear = self.scene.desirability if fast else None
        easy = np.array([linear is not None and linear.within(utility, beta) for beta in betas], dtype=bool)
        for some in self._portions(easy):
            assert linear is not None
            yield some, linear.policies(utility, betas[some])
        for some in self._portions(~easy & np.isfinite(betas)):
            yield some, unrolled.policies(utility, betas[some])
        for some in np.flatnonzero(np.isinf(betas)):
            yield np.array([some]), unrolled.limit(utility.scaled(np.sign(betas[some])))[..., None]

    def _portions(self, chosen: NDArray[np.bool_]) -> list[Indices]:
        """Indices of what is chosen, as many at a time as memory, or rather its caches, are for."""
        indices, size = np.flatnonzero(chosen), max(1, AT_ONCE // max(1, self.scene.unrolled.size))
        return [indices[start : start + size] for start in range(0, len(indices), size)]

    def _utility(self, reward: Floats) -> Utility:
        return self.scene.unrolled.dynamics.utility(reward)


def above_chance(probabilities: Floats, n_actions: int, limit: bool = False) -> Floats:
    """Log-probabilities of actions less that of random choice, in nats.

    A probability of 0 is one that underflowed, and counts as the smallest number, unless the policy is a `limit`.
    """
    with np.errstate(divide="ignore"):
        nats: Floats = np.log(probabilities if limit else np.maximum(probabilities, np.finfo(np.float64).tiny))
    return nats + log(n_actions)
