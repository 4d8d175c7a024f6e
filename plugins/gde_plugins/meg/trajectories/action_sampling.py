"""What an agent did in a world that is a black box, and what else it could have done, by trying.

Of the environment no model is asked: it begins an episode from a seed, takes actions, and is put back, by snapshots of
its own or by replay. So it may be far too large to tabulate, or one of Gymnasium (`gde.bridges.from_gymnasium`).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gde.data.observation import Observation
from gde.data.trajectory import Trajectory
from gde.parts.environment import Environment, HasSimulator
from gde.parts.snapshots import Played, Restorable, restorable
from gde_plugins.meg.trajectories.black_box import Tries

Inputs = Callable[[Environment, Observation], ArrayLike]
"""(F,) what a network is told of the present moment, e.g. from `environment.state().facts`."""
Reseed = Callable[[int], None]
Vector = NDArray[np.float32]


def played(trajectories: Iterable[Trajectory]) -> list[Played]:
    """The episodes of a run, as moments that can be played again. Unusable answers, which change nothing, are left out;
    so are episodes that failed."""
    return [
        Played(one.seed, tuple(turn.decision.action for turn in one.turns if turn.decision.action is not None))
        for one in trajectories
        if one.ending != "failed"
    ]


def try_out(
    environment: Environment,
    episodes: Sequence[Played],
    inputs: Inputs,
    *,
    tries: int = 1,
    reseed: Reseed | None = None,
    discount: float = 1.0,
    rng: np.random.Generator | None = None,
) -> Tries:
    """Play episodes again, and at every decision try every admissible action, for `lower_bound`.

    Where something is left to chance, a try is one draw of what follows. An environment with the facet SIMULATOR draws
    each try anew, any other if `reseed` says how. Else the chance of the episode repeats itself, and one try is all
    that is to be had. One is enough for a bound that holds; more make it closer.

    Args:
        environment: in which the episodes were played; ends somewhere in the last one, and is not closed.
        episodes: by seed and actions, see `played`. Episodes of several worlds are clustered by world; in a single
            world each is a cluster of its own.
        inputs: what a network is told of a state.
        tries: of each action.
        reseed: has what is random in the environment from now on follow from another seed; None for its own `reseed`,
            where it has one.
        discount: the chance that an episode goes on after a step.
        rng: seeds what is tried anew; None for `numpy.random.default_rng(0)`.

    Raises:
        ValueError: no episode, or one that the environment does not take; a number of tries that is no positive one, or
            that the environment would only repeat; an environment that lists no actions; inputs that are not as many
            finite numbers in every state.
    """
    if not isinstance(tries, Integral) or tries < 1:
        raise ValueError(f"tries: wanted a whole number, at least 1, got {tries!r}")
    reseed = environment.reseed if reseed is None and isinstance(environment, HasSimulator) else reseed
    if tries > 1 and reseed is None:
        raise ValueError(f"tries: wanted 1 where chance cannot be drawn anew, got {tries}: give `reseed`")
    if others := [type(one).__name__ for one in episodes if not isinstance(one, Played)]:
        raise ValueError(f"episodes: wanted a list of Played, got {others[0]} among them")
    table = _Table(restorable(environment), inputs, int(tries), reseed, rng or np.random.default_rng(0))
    lengths = [table.play(episode) for episode in episodes]
    if not sum(lengths):
        raise ValueError(f"episodes: wanted at least one with a decision, got {len(lengths)} without")
    times = np.concatenate([np.arange(length) for length in lengths])
    following, chances = table.arrays()
    return Tries(
        following=following,
        chances=chances,
        taken=np.array(table.taken),
        episodes=np.repeat(np.arange(len(lengths)), lengths),
        clusters=_clusters(table.worlds),
        weights=discount ** times.astype(np.float64),
        discount=discount,
    )


@dataclass
class _Table:
    """What was tried so far."""

    environment: Restorable
    inputs: Inputs
    tries: int
    reseed: Reseed | None
    rng: np.random.Generator
    actions: dict[str, int] = field(default_factory=dict)
    found: list[dict[int, list[Vector]]] = field(default_factory=list)
    """For each decision, by admissible action, what each try led to."""
    taken: list[int] = field(default_factory=list)
    worlds: list[str] = field(default_factory=list)
    """The cluster of each episode's world."""

    def play(self, episode: Played) -> int:
        """All moments first, and then all tries: whatever is drawn anew, the episode is as it was."""
        moments = [*self._moments(episode)]
        self.worlds.append(self.environment.world().cluster)
        for moment, admissible, taken in moments:
            self.found.append({self._number(action): self._led(moment, action) for action in admissible})
            self.taken.append(self._number(taken))
        return len(moments)

    def arrays(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """(D, A, M, F) and (D, A, M); an action that is not admissible leads nowhere."""
        example = next(iter(self.found[0].values()))[0]
        shape = len(self.found), len(self.actions), self.tries
        following, chances = np.zeros((*shape, len(example)), np.float32), np.zeros(shape, np.float32)
        for d, each in enumerate(self.found):
            for a, led in each.items():
                following[d, a], chances[d, a] = led, 1 / self.tries
        return following, chances

    def _moments(self, episode: Played) -> Iterator[tuple[object, tuple[str, ...], str]]:
        """Each decision's snapshot, what was admissible and what was done."""
        observation = self.environment.reset(episode.seed)
        for action in episode.actions:
            if observation.actions is None:
                raise ValueError("environment: wanted one that lists its actions, got one that takes any text")
            yield self.environment.snapshot(), observation.actions, action
            observation = self.environment.step(action).observation

    def _led(self, moment: object, action: str) -> list[Vector]:
        led = []
        for _ in range(self.tries):
            self.environment.restore(moment)
            if self.reseed is not None:
                self.reseed(int(self.rng.integers(2**63)))
            led.append(self._told(self.environment.step(action).observation))
        return led

    def _told(self, observation: Observation) -> Vector:
        told = np.asarray(self.inputs(self.environment, observation), dtype=np.float32)
        size = len(next(iter(self.found[0].values()))[0]) if self.found else told.size
        if told.shape != (size,) or not np.isfinite(told).all():
            raise ValueError(f"inputs: wanted ({size},) finite numbers in every state, got {told.tolist()}")
        return told

    def _number(self, action: str) -> int:
        return self.actions.setdefault(action, len(self.actions))


def _clusters(worlds: Sequence[str]) -> NDArray[np.intp]:
    """(N,) by world; in a single world, episodes are independent given the world, which is all that they tell of."""
    groups: NDArray[np.intp] = np.unique(worlds, return_inverse=True)[1]
    return groups if groups.any() else np.arange(len(worlds))
