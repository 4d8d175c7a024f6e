"""The pairs of trajectories of tasks (Shen et al. 2026, appendix A.1).

1. Positive: random steps, then the environment's demonstration, then random steps where
   the world goes on.
2. True rewards: (i + offset) / T along the expert's T steps; the environment's own at
   the others; 0 in a negative.
3. Negative: as many random steps, or fewer where the environment ends the episode as a
   failure. A trajectory that makes progress is thrown away, and none shares a sequence
   of actions with the expert's.
4. Observations, admissible actions and rewards are the environment's own.

Other failures are those of `failures`; then the truth of all is measured.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from shutil import rmtree
from typing import Literal

import numpy as np

from gde.errors import GdeError
from gde.parts.context import OutsideRun
from gde.parts.environment import HasWorlds
from gde.seeding import derive, generator
from gde_plugins.reward_prediction.config import Recipe
from gde_plugins.reward_prediction.domains import (
    Demonstrating,
    Domain,
    Failure,
    Settings,
    opened,
)
from gde_plugins.reward_prediction.failures import TRIES, make_failure
from gde_plugins.reward_prediction.files import Contents, Pair, Record, Step, contents
from gde_plugins.reward_prediction.play import Play, Unsuitable

Truth = Literal["published", "distance", "score"]
"""What the true rewards are: interpolated along the expert's steps, the share of the
way to the goal, or the environment's own.
"""


def failures(domain: Domain, recipe: Recipe) -> tuple[Failure, ...]:
    """The kinds of the failures of every task; none for the published one."""
    if recipe.pairs == "published":
        return ()
    return domain.hard if recipe.pairs == "hard" else (recipe.pairs,)


def make_positive(
    environment: Demonstrating,
    seed: int,
    recipe: Recipe,
    rng: np.random.Generator,
    truth: Truth = "published",
) -> Record:
    """Record a success: the expert's way between random steps.

    Raises:
        Unsuitable: the expert does not reach the goal, not even from the start.
    """
    for trial in range(TRIES):
        play = Play(environment, seed, measured=truth == "distance")
        # The last trial is the expert's own way from the start.
        is_last = trial == TRIES - 1
        n_before = 0 if is_last else int(rng.integers(recipe.padding + 1))
        _wander(play, n_before, rng)
        if _has_only_wandered(play, n_before) and _follow(play):
            _wander(play, int(rng.integers(recipe.padding + 1)), rng)
            record = play.record()
            return _shaped(record, recipe.offset) if truth == "published" else record

        if trial == 0:
            # Where there is no way from the start, more trials are of no use.
            environment.reset(seed)
            if not environment.demonstration():
                break
    raise Unsuitable("the demonstration does not reach the goal")


def _wander(play: Play, n_steps: int, rng: np.random.Generator) -> None:
    for _ in range(n_steps):
        if play.over:
            return
        play.take(play.choose(rng))


def _has_only_wandered(play: Play, n_steps: int) -> bool:
    """Whether all random steps were taken, and the goal is still ahead."""
    if play.over or len(play.steps) < n_steps:
        return False
    return not play.steps or play.steps[-1].raw < 1


def _follow(play: Play) -> bool:
    """Follow the demonstration; whether its last step, and none before, reached the
    goal.
    """
    for action in play.way.copy():
        if not play.admits(action):
            return False
        play.take(action, expert=True)
    expert = [step for step in play.steps if step.is_expert]
    return bool(expert) and expert[-1].raw == 1


def _shaped(record: Record, offset: int) -> Record:
    """The record with the true rewards of a success."""
    n_expert = len(record.expert_actions)
    steps: list[Step] = []
    n_passed = 0
    for step in record.steps:
        if step.is_expert:
            steps.append(replace(step, shaped=(n_passed + offset) / n_expert))
            n_passed += 1
        else:
            steps.append(step)
    return replace(record, steps=tuple(steps))


def make_negative(
    environment: Demonstrating,
    seed: int,
    positive: Record,
    recipe: Recipe,
    rng: np.random.Generator,
) -> Record:
    """Record a failure, of the same length unless the environment ends it.

    Raises:
        Unsuitable: in every trial, random steps make progress or have to repeat the
            expert's.
    """
    banned = sequences(positive.expert_actions, recipe.overlap)
    for _ in range(TRIES):
        play = Play(environment, seed)
        while len(play.steps) < len(positive.steps) and not play.over:
            action = play.choose(rng, banned, recipe.overlap)
            if not action:
                break
            play.take(action)
            if play.steps[-1].raw > 0:
                break
        else:
            return play.record()
    raise Unsuitable(
        f"no random trajectory of {len(positive.steps)} steps without progress in {TRIES} trials"
    )


def sequences(actions: Sequence[str], n: int) -> frozenset[tuple[str, ...]]:
    """All sequences of n actions that follow one another."""
    return frozenset(tuple(actions[i : i + n]) for i in range(len(actions) - n + 1))


REPLACEMENTS = 10
"""Worlds that are tried for one task, at most."""


@dataclass
class Maker:
    """Makes the pairs of a domain; keeps its environments open from one pair to the
    next.
    """

    domain: Domain
    recipe: Recipe
    asked: Settings = field(default_factory=dict)
    """Settings of the environment."""
    purpose: str = "test"
    """test or train. Both take listed worlds from opposite ends, and draw other seeds
    where every seed is another world.
    """
    left_out: Contents = field(default_factory=dict)
    """What no task that is made may share."""
    n_tasks: int = 0
    """All tasks of the domain, where they are more than the published number: no two of
    so many share a listed world. Fewer are a beginning of the whole, in the same
    worlds.
    """
    _open: dict[int, tuple[Demonstrating, OutsideRun]] = field(
        default_factory=dict, init=False
    )
    """Environment and context of each variant of the domain."""

    def pair(self, index: int) -> Pair:
        """The pair of a task: a function of recipe, settings, purpose and index alone.

        Raises:
            GdeError: the environment is not available, or no pair can be made in any of
                the worlds that were tried.
        """
        environment = self._environment(index % len(self.domain.variants))
        reason = "it has no world left"
        for seed in self._seeds(environment, index):
            rng = generator(
                self.recipe.seed,
                "rewardbench",
                self.domain.name,
                self.purpose,
                index,
                seed,
            )
            try:
                records = self._records(environment, seed, rng)
            except GdeError as error:
                reason = str(error)
                continue
            pair = Pair(
                domain=self.domain.name,
                index=index,
                positive=records[0],
                negatives=tuple(records[1:]),
            )
            made = contents(pair.records)
            shared = [
                kind for kind, known in self.left_out.items() if made[kind] & known
            ]
            if not shared:
                return pair
            reason = f"its worlds share {' and '.join(shared)} with the test"
        raise Unsuitable(
            f"domain {self.domain.name}: no pair for task {index}: {reason}"
        )

    def _records(
        self, environment: Demonstrating, seed: int, rng: np.random.Generator
    ) -> list[Record]:
        """The success and the failures of a world."""
        recipe = self.recipe
        kinds = failures(self.domain, recipe)
        if not kinds:
            positive = make_positive(environment, seed, recipe, rng)
            return [positive, make_negative(environment, seed, positive, recipe, rng)]

        measured = self.domain.measured and recipe.pairs != "scored"
        truth: Truth = "distance" if measured else "score"
        positive = make_positive(environment, seed, recipe, rng, truth)
        begin = partial(Play, environment, seed, measured, self.domain.plays_on)
        n_steps = len(positive.steps)
        return [positive, *(make_failure(kind, begin, n_steps, rng) for kind in kinds)]

    def close(self) -> None:
        """Close all environments."""
        for environment, context in self._open.values():
            environment.close()
            if "scratch" in vars(context):
                rmtree(context.scratch, ignore_errors=True)
        self._open.clear()

    def _environment(self, variant: int) -> Demonstrating:
        if variant not in self._open:
            settings = self.domain.variant(variant, self.asked)
            context = OutsideRun()
            self._open[variant] = opened(self.domain, settings, context), context
        return self._open[variant][0]

    def _seeds(self, environment: Demonstrating, index: int) -> Iterator[int]:
        """Seeds of the worlds to try; tasks take turns at listed worlds, in an order
        drawn by the recipe's seed.
        """
        seed = self.recipe.seed
        name = self.domain.name
        n_worlds = 0
        if isinstance(environment, HasWorlds):
            n_worlds = len(environment.worlds())
        if n_worlds:
            order = generator(seed, "rewardbench", name).permutation(n_worlds).tolist()
            if self.purpose == "train":
                order.reverse()
            # A task's place among those with the same settings of the environment,
            # whose list of worlds is theirs alone, and their number.
            settings = self.domain.variant(index, self.asked)
            n_tasks = max(self.n_tasks, self.domain.pairs)
            alike = [
                self.domain.variant(each, self.asked) == settings
                for each in range(n_tasks)
            ]
            turn, n_turns = sum(alike[:index]), sum(alike)
            yield from order[turn::n_turns][:REPLACEMENTS]
        else:
            for attempt in range(REPLACEMENTS):
                yield derive(seed, "rewardbench", name, self.purpose, index, attempt)
