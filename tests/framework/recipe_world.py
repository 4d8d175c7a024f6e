"""A small world without an MDP, and its offer."""

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from gde.data.observation import Observation, Optimum, Outcome, Task, World
from gde.offers import Capability, EnvironmentOffer
from gde.seeding import generator


@dataclass
class Recipe:
    """Steps to take in the order shown. Each right step adds to success.

    Gives OPTIMUM and DEMONSTRATION, both from the expert's way, and nothing else. It
    has no MDP, and replay restores its states.
    """

    length: int = 4
    _order: tuple[str, ...] = field(default=(), init=False)
    _done: int = field(default=0, init=False)

    def reset(self, seed: int) -> Observation:
        shuffled = generator(seed, "recipe").permutation(list(self._steps))
        self._order = tuple(shuffled.tolist())
        self._done = 0
        return self._observe()

    def task(self) -> Task:
        return Task(
            objective="Take the steps in the order of the recipe.",
            horizon=3 * self.length,
        )

    def world(self) -> World:
        return World(id=" ".join(self._order), facts={"order": self._order})

    def step(self, action: str) -> Outcome:
        if action not in self._steps:
            raise ValueError(
                f"the recipe takes {' or '.join(self._steps)}, got {action!r}"
            )
        if self._done == self.length:
            raise ValueError("the episode is over: call reset")
        self._done += action == self._order[self._done]
        if self._done == self.length:
            return Outcome.terminal(self._observe(), 1.0, success=1.0)
        return Outcome.running(self._observe(), success=self._done / self.length)

    def optimum(self) -> Optimum:
        left = self._order[self._done :]
        return Optimum(
            actions=left[:1], value=-float(len(left)), means="the expert's way"
        )

    def demonstration(self) -> tuple[str, ...]:
        return self._order[self._done :]

    def close(self) -> None:
        """Nothing to release."""

    @property
    def _steps(self) -> tuple[str, ...]:
        return tuple(f"STEP{i}" for i in range(self.length))

    def _observe(self) -> Observation:
        return Observation(
            text=f"{' '.join(self._order)}; {self._done} taken", actions=self._steps
        )


@dataclass(frozen=True, kw_only=True)
class RecipeConfig:
    """A recipe."""

    length: Annotated[int, Field(ge=1)] = 4
    """Steps of the recipe."""


RECIPE = EnvironmentOffer(
    name="recipe",
    summary="Steps in an order that an expert knows; no decision process.",
    config=RecipeConfig,
    make=lambda config, _: Recipe(config.length),
    gives={Capability.OPTIMUM, Capability.DEMONSTRATION},
)
