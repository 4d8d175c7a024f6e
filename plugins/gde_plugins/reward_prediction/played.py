"""Pairs whose failures an agent has made in a run: any agent, in any of the domains."""

from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import cast

import gde
from gde.data.trajectory import Trajectory
from gde.errors import ConfigError
from gde.seeding import generator
from gde_plugins.reward_prediction.config import Recipe
from gde_plugins.reward_prediction.domains import (
    DOMAINS,
    Demonstrating,
    Domain,
    offer_of,
)
from gde_plugins.reward_prediction.files import Pair, Record
from gde_plugins.reward_prediction.maker import Truth, make_positive
from gde_plugins.reward_prediction.play import Play, Unsuitable

PLAN = "plan.toml"
Failed = list[list[Trajectory]]
"""The failed episodes of every world that has one, none of them twice."""


@dataclass
class PlayedMaker:
    """Makes the pairs of the worlds in which the agent of a run failed."""

    domain: Domain
    recipe: Recipe
    run: Path

    def pair(self, index: int) -> Pair:
        """The pair of a world: the demonstration, and every failed episode.

        Raises:
            GdeError: the world can no longer be made, or goes otherwise than recorded.
        """
        failed = self.failed[index]
        first = failed[0]
        if self._evidence.begin is None:
            raise Unsuitable(f"run {self.run}: its worlds cannot be made again")
        # That of a domain has demonstrations.
        environment = cast("Demonstrating", self._evidence.begin(first))
        with closing(environment):
            truth: Truth = "distance" if self.domain.measured else "score"
            rng = generator(self.recipe.seed, "played", self.domain.name, index)
            positive = make_positive(environment, first.seed, self.recipe, rng, truth)
            n_steps = len(positive.steps)
            negatives = []
            for one in failed:
                play = Play(environment, one.seed, measured=self.domain.measured)
                negatives.append(replay(play, one, n_steps, self.agent))
        return Pair(
            domain=self.domain.name,
            index=index,
            positive=positive,
            negatives=tuple(negatives),
        )

    def close(self) -> None:
        """Every pair closes its environment."""

    @cached_property
    def agent(self) -> str:
        """The label of the run's agent."""
        return gde.read_plan(self.run / PLAN).agent.label

    @cached_property
    def failed(self) -> Failed:
        """The failed episodes, by world."""
        return _failures(self._evidence.trajectories)

    @cached_property
    def digest(self) -> str:
        """What the run's failures are."""
        content = [
            (one.world.id, [turn.decision.action for turn in one.turns])
            for failed in self.failed
            for one in failed
        ]
        return sha256(repr(content).encode()).hexdigest()[:16]

    @cached_property
    def _evidence(self) -> gde.Evidence:
        return gde.load_evidence(self.run)


def replay(play: Play, episode: Trajectory, n_steps: int, agent: str) -> Record:
    """Record an episode again, with the truth of every step, up to so many steps.

    Answers that were no action changed nothing and are left out.

    Raises:
        Unsuitable: the world goes otherwise than recorded, no action was taken, or the
        goal holds after these steps.
    """
    for turn in episode.turns:
        action = turn.decision.action
        if action is None:
            continue
        if len(play.steps) == n_steps:
            break
        if play.over or play.seen.text != turn.observation.text:
            raise Unsuitable(
                f"episode {episode.key}: the world goes otherwise than it was recorded"
            )
        play.take(action)
    if not play.steps:
        raise Unsuitable(f"episode {episode.key}: the agent took no action")
    if play.reached:
        raise Unsuitable(f"episode {episode.key}: the goal was reached on the way")
    return play.record(failure=agent)


def find_domain_of(run: Path) -> Domain:
    """The domain that a run was played in.

    Raises:
        GdeError: there is no run, it was played elsewhere, or its environment is not
        available.
    """
    if not (run / PLAN).is_file():
        raise ConfigError(f"--failures: wanted the folder of a run, got {run}")
    name = gde.read_plan(run / PLAN).environment.name
    if name not in DOMAINS:
        raise ConfigError(
            f"--failures: wanted a run in one of {', '.join(DOMAINS)}, got one in {name}"
        )
    offer_of(DOMAINS[name])
    return DOMAINS[name]


def _failures(episodes: Iterable[Trajectory]) -> Failed:
    by_world: dict[tuple[int, int], list[Trajectory]] = {}
    taken: set[tuple[object, ...]] = set()
    for one in episodes:
        if one.ending == "failed" or one.succeeded:
            continue
        world = (one.key.condition, one.key.world)
        actions = tuple(turn.decision.action for turn in one.turns)
        if any(actions) and (world, actions) not in taken:
            taken.add((world, actions))
            by_world.setdefault(world, []).append(one)
    return [*by_world.values()]
