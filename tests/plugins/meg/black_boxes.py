"""Worlds that are played as black boxes, small enough to be tabulated too, so that the
truth is known.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.preprocessing import FunctionTransformer

from gde.data.mdp import Policy, TabularMDP
from gde.data.observation import Observation
from gde.numerics.stats import Estimate
from gde.parts.context import OutsideRun
from gde.parts.environment import Environment, HasMDP
from gde.parts.snapshots import Played
from gde_plugins.grid.config import GridConfig
from gde_plugins.grid.environment import GridEnvironment
from gde_plugins.gymnasium import from_gymnasium
from gde_plugins.meg import unknown_utility
from gde_plugins.meg.cliffworld.environment import CliffWorldEnvironment
from gde_plugins.meg.config import CliffWorldConfig
from gde_plugins.meg.trajectories.action_sampling import try_out
from gde_plugins.meg.trajectories.black_box import lower_bound
from gde_plugins.meg.worlds import epsilon_greedy, greedy


@dataclass(frozen=True)
class Box:
    """An environment, and what an agent does in it."""

    environment: Environment
    model: TabularMDP
    policy: Policy
    """(S, A)."""
    reseed: Callable[[int], None] | None
    vary: bool
    """Whether episodes have seeds of their own; else there is one world, without
    chance.
    """

    def told(self, environment: Environment, _: Observation) -> np.ndarray:
        """Which state it is, so that the network can hold any function of states."""
        assert isinstance(environment, HasMDP)
        return np.eye(self.model.n_states, dtype=np.float32)[environment.state().index]

    def value(self, environment: Environment, _: Observation) -> np.ndarray:
        """What a state is worth to the policy that predicts best: nothing better can be
        told.
        """
        assert isinstance(environment, HasMDP)
        return self.best[1][[environment.state().index]]

    @cached_property
    def best(self) -> tuple[float, np.ndarray]:
        """The most that any function V of states predicts, and (S,) that function, by
        ascent over the whole table.
        """
        discount, S, A = self.model.discount, self.model.n_states, self.model.n_actions
        acts = np.zeros((S, A))
        here = self.model.start.astype(float)
        for _ in range(500):
            if self.model.terminal is not None:
                here = np.where(self.model.terminal, 0.0, here)
            taken = here[:, None] * self.policy.probabilities
            acts += taken
            here = discount * sum(
                matrix.T @ taken[:, a] for a, matrix in enumerate(self.model.transition)
            )

        def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
            ahead = discount * np.stack(
                [matrix @ values for matrix in self.model.transition], axis=1
            )
            log = log_softmax(ahead, axis=1)
            off = acts.sum(axis=1, keepdims=True) * np.exp(log) - acts
            slope = discount * sum(
                matrix.T @ off[:, a] for a, matrix in enumerate(self.model.transition)
            )
            return -float((acts * (log + np.log(A))).sum()), slope

        found = minimize(
            loss, np.zeros(S), jac=True, method="L-BFGS-B", options={"maxiter": 5000}
        )
        return -found.fun, found.x

    def truth(self) -> float:
        """An upper bound of MEG towards any utility of states, 1e-6 nats from it."""
        return unknown_utility(self.model, self.policy, "states", None).bounds[1]

    def play(self, rng: np.random.Generator) -> Played:
        """One episode of the agent."""
        environment, actions = self.environment, list[str]()
        assert isinstance(environment, HasMDP)
        seed = int(rng.integers(2**31)) if self.vary else 0
        environment.reset(seed)
        while True:
            chosen = rng.choice(
                self.model.n_actions,
                p=self.policy.probabilities[environment.state().index],
            )
            actions.append(self.model.actions[chosen])
            outcome = environment.step(actions[-1])
            if outcome.terminated or outcome.truncated:
                return Played(seed, tuple(actions))

    def bound(
        self, n: int, seed: int, tries: int = 1, oracle: bool = False
    ) -> Estimate:
        """From n episodes; with an oracle, the network is told what a state is worth
        and need but scale it.
        """
        rng = np.random.default_rng(seed)
        episodes = [self.play(rng) for _ in range(n)]
        tried = try_out(
            self.environment,
            episodes,
            self.value if oracle else self.told,
            tries=tries,
            reseed=self.reseed,
            discount=self.model.discount,
            rng=rng,
        )
        return lower_bound(tried, AS_THEY_ARE, rng)


AS_THEY_ARE = FunctionTransformer()
"""Any function of one-hot inputs, beginning at zero."""


def cliff() -> Box:
    """Wind, and the time in the state."""
    environment = CliffWorldEnvironment(CliffWorldConfig(width=4, height=3, horizon=6))
    model, erring = (
        environment.mdp(),
        epsilon_greedy(greedy(environment._map, 6), 0.2).probabilities,
    )
    policy = np.concatenate([erring, np.full((1, 12, 4), 0.25)]).reshape(-1, 4)
    return Box(environment, model, Policy(probabilities=policy), None, vary=True)


def grid() -> Box:
    """A grid with walls, and an agent that errs in one step of three."""
    environment = GridEnvironment(GridConfig(size=7, density=0.5))
    environment.reset(0)
    model = environment.mdp()
    return Box(environment, model, _erring(model, 0.3), None, vary=False)


def lake() -> Box:
    """Gymnasium's slippery lake, put back by replay."""
    actions = ("LEFT", "DOWN", "RIGHT", "UP")
    choice = from_gymnasium("FrozenLake-v1", actions=actions, discount=0.8, horizon=100)
    environment = choice.part.made(
        choice.part.config(discount=0.8, actions=actions, horizon=100), OutsideRun()
    )
    environment.reset(0)
    model = environment.mdp()

    def reseed(seed: int) -> None:
        environment.environment.unwrapped.np_random = np.random.default_rng(seed)

    return Box(environment, model, _erring(model, 0.3), reseed, vary=True)


def _erring(model: TabularMDP, epsilon: float) -> Policy:
    best = greedy(model, 60, "uniform").probabilities[0]
    return epsilon_greedy(Policy(probabilities=best), epsilon)
