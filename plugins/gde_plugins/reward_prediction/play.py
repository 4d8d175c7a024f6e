"""An episode as it is recorded."""

from dataclasses import dataclass, field

import numpy as np

from gde.data.observation import Observation
from gde.errors import GdeError
from gde.seeding import pick
from gde_plugins.reward_prediction.domains import Demonstrating
from gde_plugins.reward_prediction.files import Record, Step

OUT_OF_REACH = -1.0
"""The truth where no way leads to the goal, and the least that there is."""


class Unsuitable(GdeError):
    """A world without a pair; says why."""


@dataclass
class Play:
    """An episode as it is recorded."""

    environment: Demonstrating
    seed: int
    measured: bool = False
    """Whether the truth is the share of the way to the goal that is covered, less than
    0 where it has become longer; else it is the environment's own success.
    """
    plays_on: bool = True
    """Whether the world goes on after a success."""
    steps: list[Step] = field(default_factory=list)
    over: bool = False

    def __post_init__(self) -> None:
        self.seen: Observation = self.environment.reset(self.seed)
        self.start = self.seen.text
        self._way: list[str] | None = None
        self._n_at_first = len(self.way) if self.measured else 0

    @property
    def way(self) -> list[str]:
        """The demonstration from here, up to the goal."""
        if self._way is None:
            self._way = [*self.environment.demonstration()]
        return self._way

    @property
    def reached(self) -> bool:
        """Whether the goal holds now."""
        return bool(self.steps) and self.steps[-1].raw == 1

    def follow(self) -> None:
        """Take the next step of the demonstration.

        Raises:
            Unsuitable: there is none that is admissible.
        """
        if not self.way or not self.admits(self.way[0]):
            raise Unsuitable("the demonstration cannot be followed from here")
        self.take(self.way[0], expert=True)

    def admits(self, action: str) -> bool:
        """Whether an action may be taken now."""
        return not self.over and (
            self.seen.actions is None or action in self.seen.actions
        )

    def take(self, action: str, expert: bool = False) -> None:
        """Take an action and record it."""
        admissible = self.seen.actions or ()
        # Not every demonstration begins anywhere, so one that is followed is kept.
        is_next = self._way is not None and self._way[:1] == [action]
        rest = self._way[1:] if is_next and self._way else None
        outcome = self.environment.step(action)
        self._way = rest
        self.seen = outcome.observation
        self.over = outcome.terminated or outcome.truncated
        raw = outcome.success or 0.0
        # The end may earn for a part of the goal, such as a purchase.
        if outcome.terminated:
            raw = min(1.0, max(raw, outcome.reward))
        step = Step(
            action=action,
            observation=self.seen.text,
            raw=raw,
            shaped=self._truth(raw),
            is_expert=expert,
            admissible=admissible,
        )
        self.steps.append(step)

    def choose(
        self,
        rng: np.random.Generator,
        banned: frozenset[tuple[str, ...]] = frozenset(),
        n: int = 1,
    ) -> str:
        """A random action that completes no banned sequence of n actions; empty where
        there is none.
        """
        if self.seen.actions is None:
            raise Unsuitable(
                "a random policy needs admissible actions, the environment lists none"
            )
        last = tuple(step.action for step in self.steps[len(self.steps) - n + 1 :])
        free = [action for action in self.seen.actions if (*last, action) not in banned]
        if not free:
            return ""
        return pick(free, rng)

    def record(self, failure: str = "") -> Record:
        """The record so far, with the kind of its failure as a label."""
        labels = {"failure": failure} if failure else {}
        return Record(
            goal=self.environment.task().objective,
            start=self.start,
            steps=tuple(self.steps),
            world={**self.environment.world().labels, **labels},
        )

    def _truth(self, raw: float) -> float:
        if not self.measured or raw == 1:
            return raw
        if not self._n_at_first or not self.way:
            return OUT_OF_REACH
        return max(OUT_OF_REACH, 1 - len(self.way) / self._n_at_first)
