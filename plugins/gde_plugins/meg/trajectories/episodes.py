"""Observed behaviour in tabulated worlds, and how well a soft-optimal policy predicts it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from math import isinf, log

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_diag, csr_array

from gde.data.mdp import Floats, TabularMDP
from gde_plugins.meg.solvers.finite import Finite

UNUSABLE = -1
"""In place of an action: a decision that named none that could be taken."""
Indices = NDArray[np.intp]
Pursuit = Callable[[TabularMDP], TabularMDP]
"""Gives the world with the utility, as its reward, that behaviour in it is measured against."""
Nats = Callable[[Indices | slice, Indices], Floats]
"""Actions and states to nats above chance, at one time step."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Episode:
    """What was done in one episode.

    Raises:
        ValueError: states and actions that the model does not have, a decision in a terminal state, a step that the
            model rules out, or more decisions than the horizon.
    """

    mdp: TabularMDP
    states: Indices
    """(T,) the state before each decision."""
    actions: Indices
    """(T,) UNUSABLE where there is none. Such a decision uses up its time step and is worth 0 nats: neither the goal
    nor chance predicts it. It still counts as a decision wherever nats are divided by decisions."""
    horizon: int
    """Number of states whose utility counts, as in `known_utility`; the last of as many decisions affects nothing. An
    episode that is cut off after H decisions, but whose last action can still reach the goal, has H + 1."""
    cluster: str = ""
    """Episodes of one cluster are resampled together; empty: the episode is independent of all others."""

    def __post_init__(self) -> None:
        if self.states.shape != self.actions.shape or self.states.ndim != 1:
            raise ValueError(f"states and actions must be equally long, got {self.states.shape}, {self.actions.shape}")
        if len(self.states) > self.horizon or self.horizon < 1:
            raise ValueError(f"horizon: wanted at least one and each decision, {len(self.states)}, got {self.horizon}")
        for name, values, least, n in (
            ("states", self.states, 0, self.mdp.n_states),
            ("actions", self.actions, UNUSABLE, self.mdp.n_actions),
        ):
            if ((values < least) | (values >= n)).any():
                raise ValueError(
                    f"{name}: wanted whole numbers from {least} to {n - 1}, got {_outside(values, least, n)}"
                )
        self._check_possible()

    def _check_possible(self) -> None:
        terminal = self.mdp.terminal
        if terminal is not None and terminal[self.states].any():
            at = int(terminal[self.states].argmax())
            raise ValueError(f"decision {at} is taken in state {self.states[at]}, where the episode is over")
        for a in np.unique(self.actions[:-1]):
            if a != UNUSABLE:
                self._check_steps(np.flatnonzero(self.actions[:-1] == a))

    def _check_steps(self, steps: Indices) -> None:
        """Of one action: the model gives each a chance."""
        action, before, after = self.actions[steps[0]], self.states[steps], self.states[steps + 1]
        chances = np.asarray(self.mdp.transition[action][before, after]).ravel()
        if (chances == 0).any():
            at = int(chances.argmin())
            step = f"from state {before[at]} by action {action} to state {after[at]}"
            raise ValueError(f"decision {steps[at]} leads {step}, which the model rules out")


@dataclass(frozen=True, kw_only=True, eq=False)
class Behaviour:
    """All decisions of many episodes, as behaviour in one world: their worlds side by side, with no way between them.

    One sweep over this world gives the policies of all worlds at once.
    """

    mdp: TabularMDP
    """The worlds side by side, each with the utility that behaviour is measured against."""
    horizon: int
    """The longest of all episodes."""
    n_decisions: Floats
    """(N,) decisions of each episode, unusable ones included, weighed by the discount."""
    n_unusable: int
    decisions: "Decisions"

    @classmethod
    def of(cls, episodes: Sequence[Episode], pursuit: Pursuit) -> "Behaviour":
        """The episodes as behaviour towards what `pursuit` makes of their worlds.

        Raises:
            ValueError: no episodes, or worlds that differ in number of actions, in discount or in kind of reward.
        """
        worlds = {id(episode.mdp): episode.mdp for episode in episodes}
        pursued = {key: pursuit(world) for key, world in worlds.items()}
        kinds = {(world.n_actions, world.discount, world.reward.ndim) for world in pursued.values()}
        if len(kinds) != 1:
            kind = "worlds of one number of actions, one discount and one shape of reward"
            raise ValueError(f"wanted episodes in {kind}, got {sorted(kinds) or 'no episode'}")
        sizes = [world.n_states for world in pursued.values()]
        return cls(
            mdp=_side_by_side(list(pursued.values())),
            horizon=max(episode.horizon for episode in episodes),
            n_decisions=np.array([_weights(episode).sum() for episode in episodes]),
            n_unusable=sum(int((episode.actions == UNUSABLE).sum()) for episode in episodes),
            decisions=Decisions.of(episodes, dict(zip(pursued, np.cumsum([0, *sizes[:-1]]), strict=True))),
        )

    @cached_property
    def process(self) -> Finite:
        """The soft-optimal policies of the worlds side by side."""
        return Finite(self.mdp, self.horizon)

    def scores(self, beta: float, reward: Floats | None = None) -> Floats:
        """(N,) nats by which the soft-optimal policy predicts each episode better than chance does.

        -inf where the limit policy of infinite rationality rules out what was done; a finite one rules out nothing. A
        decision at time t is weighed by discount**t, as in `known_utility`.

        Args:
            beta: the policy's rationality.
            reward: (S,) or (S, A) of the worlds side by side; None for their own.
        """
        actions, states = self.decisions.actions, self.decisions.states
        return self._summed(beta, reward, lambda here, nats: nats(actions[here], states[here]))

    def scores_of_chance(self, beta: float) -> Floats:
        """(N,) as `scores`, expected of random choice in the same states."""
        states = self.decisions.states
        return self._summed(beta, None, lambda here, nats: nats(slice(None), states[here]).mean(axis=0))

    def _summed(self, beta: float, reward: Floats | None, read: Callable[[slice, Nats], Floats]) -> Floats:
        """(N,) sums over decisions of what is read off the policy at their time step."""
        utility = self.process.dynamics.utility(self.mdp.reward if reward is None else reward)
        policies, decisions = self.process.policies(utility, beta), self.decisions
        total = np.zeros(len(self.n_decisions))
        for here, policy in zip(decisions.backwards(self.horizon), policies, strict=True):
            nats = partial(above_chance, policy, limit=isinf(beta))
            np.add.at(total, decisions.episodes[here], decisions.weights[here] * read(here, nats))
        return total


def above_chance(policy: Floats, actions: Indices | slice, states: Indices, limit: bool = False) -> Floats:
    """Log-probability of actions in states, less that of random choice, in nats.

    A probability of 0 is one that underflowed, and counts as the smallest number, unless the policy is a `limit`.
    """
    probabilities = policy[actions, states]
    with np.errstate(divide="ignore"):
        nats: Floats = np.log(probabilities if limit else np.maximum(probabilities, np.finfo(np.float64).tiny))
    return nats + log(len(policy))


@dataclass(frozen=True, eq=False)
class Decisions:
    """The usable decisions of all episodes, ordered by how many states are still to come."""

    states: Indices
    """In the world side by side."""
    actions: Indices
    episodes: Indices
    to_go: Indices
    """States that count from the decision on, its own included: the policy depends on time through it alone."""
    weights: Floats

    @classmethod
    def of(cls, episodes: Sequence[Episode], first: dict[int, int]) -> "Decisions":
        lengths = [len(episode.states) for episode in episodes]
        actions = np.concatenate([episode.actions for episode in episodes])
        to_go = np.concatenate(
            [episode.horizon - np.arange(length) for episode, length in zip(episodes, lengths, strict=True)]
        )
        usable = np.flatnonzero(actions != UNUSABLE)
        order = usable[np.argsort(to_go[usable], kind="stable")]
        return cls(
            states=np.concatenate([episode.states + first[id(episode.mdp)] for episode in episodes])[order],
            actions=actions[order],
            episodes=np.repeat(np.arange(len(episodes)), lengths)[order],
            to_go=to_go[order],
            weights=np.concatenate([_weights(episode) for episode in episodes])[order],
        )

    def backwards(self, horizon: int) -> Iterator[slice]:
        """Which decisions have 1, 2, ... `horizon` states to go."""
        ends = np.searchsorted(self.to_go, np.arange(1, horizon + 2))
        return (slice(start, end) for start, end in pairwise(ends))


def _weights(episode: Episode) -> Floats:
    weights: Floats = episode.mdp.discount ** np.arange(len(episode.states), dtype=np.float64)
    return weights


def _outside(values: Indices, least: int, n: int) -> int:
    return int(values[(values < least) | (values >= n)][0])


def clusters_of(episodes: Sequence[Episode]) -> Indices:
    """(N,) index of each episode's cluster."""
    names = [episode.cluster or f"episode {i}" for i, episode in enumerate(episodes)]
    groups: Indices = np.unique(names, return_inverse=True)[1]
    return groups


def shared_labels(worlds: Sequence[TabularMDP]) -> list[str]:
    """Names of the state features that every world has, in the order of the first."""
    return [name for name in worlds[0].labels if all(name in world.labels for world in worlds)]


def _side_by_side(worlds: Sequence[TabularMDP]) -> TabularMDP:
    return TabularMDP(
        transition=tuple(
            csr_array(block_diag(each, format="csr"))
            for each in zip(*(world.transition for world in worlds), strict=True)
        ),
        start=np.concatenate([world.start for world in worlds]) / len(worlds),
        reward=np.concatenate([world.reward for world in worlds]),
        terminal=np.concatenate([_terminal(world) for world in worlds]),
        discount=worlds[0].discount,
        labels={name: np.concatenate([world.labels[name] for world in worlds]) for name in shared_labels(worlds)},
    )


def _terminal(world: TabularMDP) -> NDArray[np.bool_]:
    return np.zeros(world.n_states, dtype=bool) if world.terminal is None else world.terminal
