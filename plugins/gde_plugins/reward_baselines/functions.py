"""Full EPIC and DARD distances: reward models as functions of the transitions of a
world, compared with the reward of its own model.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gde.data.evidence import Evidence
from gde.data.mdp import TabularMDP
from gde.data.observation import Observation
from gde.data.result import Measurement
from gde.data.reward import READS_TRUTH
from gde.data.trajectory import Decision, Trajectory, Turn
from gde.errors import GdeError
from gde.numerics.episodes import Place, over_worlds, played, unmeasured
from gde.numerics.stats import Floats, cluster_mean
from gde.parts.context import Context
from gde.parts.environment import Environment, HasMDP, HasSnapshot
from gde.parts.reward_model import RewardSource
from gde_plugins.reward_baselines.canonical import (
    Setting,
    dard_distance,
    epic_distance,
)
from gde_plugins.reward_baselines.config import FunctionsConfig

DISTANCES = {"functions.epic": epic_distance, "functions.dard": dard_distance}
UNDECIDED = Decision.unusable("empty", "nothing is decided yet")


class Functions:
    """Distances of reward models from the reward of the world's model, where potential
    shaping cancels; n counts worlds.

    A reward model is asked about every pair of states and every action: an episode
    comes to the first by a shortest way, takes the action and is in the second, and its
    last reward is that of the transition. So EPIC (Gleave et al. 2021) also has
    transitions that never happen; DARD (Wulfe et al. 2022) weights those that do.
    States are the reachable ones, uniformly. Reward models that read the truth are left
    out: they need the values of a whole episode.
    """

    def __init__(self, config: FunctionsConfig, context: Context) -> None:
        self._config = config
        self._context = context

    def __call__(self, evidence: Evidence) -> Sequence[Measurement]:
        labels = dict.fromkeys(
            trace.model
            for trace in evidence.reward_traces
            if not trace.counts.get(READS_TRUTH)
        )
        if not labels:
            reason = "no reward model that reads no truth has judged an episode"
            return [unmeasured(name, reason) for name in DISTANCES]
        firsts: dict[Place, Trajectory] = {}
        for one in played(evidence):
            firsts.setdefault(Place.of(one), one)
        try:
            scenes = {
                place: explored(evidence, one, self._config.states)
                for place, one in firsts.items()
            }
        except GdeError as error:
            return [unmeasured(name, str(error)) for name in DISTANCES]
        found: list[Measurement] = []
        for label in labels:
            for number in self._of_model(evidence, scenes, label):
                found.append(replace(number, where={"reward": label}))
        return found

    def _of_model(
        self, evidence: Evidence, scenes: "dict[Place, Scene]", label: str
    ) -> Iterator[Measurement]:
        values: dict[str, dict[Place, float]] = {name: {} for name in DISTANCES}
        try:
            model = self._context.reward_model(label)
            for place, scene in scenes.items():
                judged = asyncio.run(scene.judged(model))
                for name, distance in DISTANCES.items():
                    values[name][place] = distance(judged, scene.true, scene.setting)
        except GdeError as error:
            for name in DISTANCES:
                yield unmeasured(name, str(error))
            return
        for name, of_worlds in values.items():
            yield over_worlds(evidence, name, of_worlds, cluster_mean)


@dataclass(frozen=True)
class Scene:
    """A world, with the ways to its reachable states."""

    begun: Trajectory
    """An episode in it."""
    mdp: TabularMDP
    ways: dict[int, tuple[Turn, ...]]
    """A shortest way to each state, by its index; the last turn is in the state."""

    @cached_property
    def setting(self) -> Setting:
        """The reachable states and all actions, uniformly.

        Raises:
            GdeError: some of the states that the model leads to were not reached.
        """
        states = [*self.ways]
        whole = Setting.uniform(self.mdp)
        transition = whole.transition[np.ix_(states, range(self.mdp.n_actions), states)]
        if not np.allclose(transition.sum(axis=2), 1):
            raise GdeError("chance leads to states that no trial has reached")
        S = len(states)
        return Setting(transition, np.full(S, 1 / S), whole.actions, whole.discount)

    @property
    def true(self) -> Floats:
        """(S,) or (S, A) the reward of the model."""
        reward: Floats = self.mdp.reward[[*self.ways]]
        return reward

    async def judged(self, model: RewardSource) -> Floats:
        """(S, A, S) the reward of each transition.

        Raises:
            GdeError: a transition has none.
        """
        S = len(self.ways)
        rewards = np.zeros((S, self.mdp.n_actions, S))
        for i, way in enumerate(self.ways.values()):
            for a, action in enumerate(self.mdp.actions):
                before = _decided(way, action)
                for j, (*_, there) in enumerate(self.ways.values()):
                    turns = (*before, replace(there, index=len(before)))
                    trace = await model.rewards(replace(self.begun, turns=turns))
                    if trace.failure:
                        raise GdeError(f"a transition has no reward: {trace.failure}")
                    rewards[i, a, j] = trace.values[-1]
        return rewards


def explored(evidence: Evidence, one: Trajectory, most: int) -> Scene:
    """Reach every state of the world of an episode by trying all actions.

    Raises:
        GdeError: the world gives no model or cannot be put back, or has more than
        `most` states.
    """
    if evidence.mdp is None or evidence.begin is None:
        raise GdeError("no environment is known that could be begun again")
    mdp = evidence.mdp(one)
    environment = evidence.begin(one)
    assert isinstance(environment, Environment)
    with closing(environment):
        if not (
            isinstance(environment, HasMDP) and isinstance(environment, HasSnapshot)
        ):
            raise GdeError("the environment gives no model and no snapshots")
        start = environment.snapshot()
        seen = _turn(environment, environment.restore(start), 0)
        ways: dict[int, tuple[Turn, ...]] = {_index(seen): (seen,)}
        to_try = [(start, ways[_index(seen)])]
        for snapshot, way in to_try:
            for action in environment.restore(snapshot).actions or ():
                environment.restore(snapshot)
                outcome = environment.step(action)
                seen = _turn(environment, outcome.observation, len(way))
                if _index(seen) in ways:
                    continue
                if len(ways) == most:
                    raise GdeError(f"a world has more than {most} states: raise states")
                ways[_index(seen)] = (*_decided(way, action), seen)
                if not outcome.terminated:
                    to_try.append((environment.snapshot(), ways[_index(seen)]))
    return Scene(one, mdp, ways)


def _decided(way: tuple[Turn, ...], action: str) -> tuple[Turn, ...]:
    """The way with the action that is taken at its end."""
    *before, last = way
    return (*before, replace(last, decision=Decision.act(action)))


def _turn(environment: HasMDP, seen: Observation, index: int) -> Turn:
    return Turn(
        index=index,
        observation=seen,
        decision=UNDECIDED,
        reward=0.0,
        terminated=False,
        truncated=False,
        state=environment.state(),
    )


def _index(turn: Turn) -> int:
    assert turn.state is not None
    if turn.state.index is None:
        raise GdeError("a state has no index in the model of its world")
    return turn.state.index
