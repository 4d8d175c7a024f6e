"""Estimate a tabular model of an environment by trying every action in every
reachable state.

`python examples/explored_model.py` explores the cliff world, whose wind needs many
seeds, and measures a policy in it.
"""

import json
from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array, diags_array

from gde.data.arrays import Doubles
from gde.data.mdp import TabularMDP
from gde.data.observation import Observation
from gde.errors import GdeError
from gde.parts.environment import Environment, HasState
from gde.parts.snapshots import Restorable, restorable
from gde_plugins.meg import known_utility, soft_policy
from gde_plugins.meg.cliffworld.environment import CliffWorldEnvironment
from gde_plugins.meg.config import CliffWorldConfig

Key = Callable[[Environment], Hashable]
MOST_STATES = 10_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Explored:
    """An estimated model."""

    mdp: TabularMDP
    """Frequencies as probabilities; the reward (S, A) is the mean of what an action
    earned. An action that is not admissible in a state leaves it as it is, as do all in
    states that were reached but not tried in.
    """
    index: Mapping[Hashable, int]
    """Row of each state, by its key."""
    tries: Doubles
    """(S, A) how often each action was tried: a probability estimated from n tries is
    off by up to about 1 / sqrt(n).
    """


def explore(
    environment: Environment,
    seeds: Sequence[int] = (0,),
    *,
    key: Key | None = None,
    depth: int | None = None,
    most_states: int = MOST_STATES,
) -> Explored:
    """Try every action in every state, breadth first, by snapshots or, where it has
    none, by replay.

    An environment is a function of its seed, so that a snapshot that is restored
    repeats itself: one seed is enough where nothing is left to chance, and a frequency
    from more tries takes more seeds, which must give the same world.

    Args:
        environment: ends as it was left by the last try; not closed.
        seeds: one episode is explored for each.
        key: tells states apart; by default their recorded facts. Leave out of it what
            has no consequences.
        depth: tries are made in states that fewer steps lead to. With a horizon of H
            states, H - 1 is enough.
        most_states: where to give up.

    Raises:
        GdeError: too many states; no facts and no key; free text as actions; seeds of
        different worlds; states that
            only an episode that was cut off leads to, or that end the episode at one
            time and not at another.
    """
    table = _Table(
        restorable(environment), _facts if key is None else key, depth, most_states
    )
    worlds = {}
    for seed in seeds:
        observation = table.environment.reset(seed)
        worlds[environment.world().id] = seed
        if len(worlds) > 1:
            raise GdeError(
                f"seeds: wanted episodes of one world, got different ones of {sorted(worlds.values())}"
            )
        table.explore(observation)
    return table.finish()


def _facts(environment: Environment) -> Hashable:
    if not isinstance(environment, HasState):
        raise GdeError(
            "the environment tells no state: give `key`, a function that tells its states apart"
        )
    return json.dumps(environment.state().facts, sort_keys=True)


@dataclass
class _Table:
    """Observed transitions over all seeds."""

    environment: Restorable
    key: Key
    depth: int | None
    most_states: int
    index: dict[Hashable, int] = field(default_factory=dict)
    actions: dict[str, int] = field(default_factory=dict)
    ends: dict[int, bool] = field(default_factory=dict)
    starts: list[int] = field(default_factory=list)
    tries: list[tuple[int, int, int, float]] = field(default_factory=list)
    """(state, action, next state, reward)."""
    cut_off: set[int] = field(default_factory=set)
    """States where the episode was cut off."""

    def explore(self, observation: Observation) -> None:
        """Explore all states reachable from the current start."""
        self.starts.append(self._row())
        seen = {self.starts[-1]}
        waiting = deque(
            [
                (
                    self.starts[-1],
                    0,
                    self.environment.snapshot(),
                    self._admissible(observation),
                )
            ]
        )
        while waiting:
            state, steps, snapshot, admissible = waiting.popleft()
            self.cut_off.discard(state)
            if self.depth is not None and steps >= self.depth:
                continue
            for action in admissible:
                self.environment.restore(snapshot)
                outcome = self.environment.step(action)
                reached = self._row()
                self.tries.append(
                    (state, self.actions[action], reached, outcome.reward)
                )
                if (
                    self.ends.setdefault(reached, outcome.terminated)
                    != outcome.terminated
                ):
                    raise GdeError(
                        f"state {self._name(reached)} ends some episodes and not others: give a finer `key`"
                    )
                if reached in seen or outcome.terminated:
                    continue
                if outcome.truncated:
                    self.cut_off.add(reached)
                    continue
                seen.add(reached)
                following = self._admissible(outcome.observation)
                waiting.append(
                    (reached, steps + 1, self.environment.snapshot(), following)
                )

    def finish(self) -> Explored:
        if self.cut_off:
            name = self._name(min(self.cut_off))
            raise GdeError(
                f"{len(self.cut_off)} states, e.g. {name}, are seen only when the environment cuts off"
            )
        S, A = len(self.index), len(self.actions)
        states, actions, reached, rewards = (
            np.array(each) for each in zip(*self.tries, strict=True)
        )
        tries, earned = np.zeros((S, A)), np.zeros((S, A))
        np.add.at(tries, (states, actions), 1.0)
        np.add.at(earned, (states, actions), rewards)
        mdp = TabularMDP(
            transition=tuple(
                _frequencies(states[actions == a], reached[actions == a], tries[:, a])
                for a in range(A)
            ),
            start=np.bincount(self.starts, minlength=S) / len(self.starts),
            reward=earned / np.maximum(tries, 1.0),
            terminal=np.array([self.ends.get(state, False) for state in range(S)]),
            actions=tuple(self.actions),
        )
        return Explored(mdp=mdp, index=self.index, tries=tries)

    def _row(self) -> int:
        """The row of the environment's state, a new one for a new state."""
        row = self.index.setdefault(self.key(self.environment), len(self.index))
        if row >= self.most_states:
            raise GdeError(
                f"the environment is too large to tabulate: more than {self.most_states:,} states were found in"
                f" {len(self.tries):,} tries; give a coarser `key`, limit `depth` to the horizon, raise `most_states`,"
                " or make the model in another way and hand episodes in it to gde_plugins.meg.from_trajectories"
            )
        return row

    def _admissible(self, observation: Observation) -> tuple[str, ...]:
        if observation.actions is None:
            raise GdeError(
                "the environment takes any text as an action: only listed actions can be tabulated"
            )
        for action in observation.actions:
            self.actions.setdefault(action, len(self.actions))
        return observation.actions

    def _name(self, row: int) -> Any:
        return next(key for key, known in self.index.items() if known == row)


def _frequencies(states: Any, reached: Any, tries: Doubles) -> csr_array:
    """(S, S) how often each state followed; a state where the action was not tried
    stays.
    """
    S = len(tries)
    counts = coo_array((np.ones(len(states)), (states, reached)), shape=(S, S)).tocsr()
    untried = diags_array((tries == 0).astype(np.float64))
    return csr_array(diags_array(1 / np.maximum(tries, 1.0)) @ counts + untried)


def main() -> None:
    """Print the size of an explored cliff world and the MEG of a soft-optimal policy in
    it.
    """
    environment = CliffWorldEnvironment(CliffWorldConfig(width=4, height=2, horizon=6))
    found = explore(environment, range(100))
    policy = soft_policy(found.mdp, 0.2, 6)
    meg = known_utility(found.mdp, policy, 6)
    print(
        f"{found.mdp.n_states} states, {meg.value:.2f} nats at rationality {meg.beta:.2f}"
    )


if __name__ == "__main__":
    main()
