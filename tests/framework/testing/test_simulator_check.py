"""`check_simulator` passes worlds that copies can stand in for, and names the promise
that each broken counterfactual breaks.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
import pytest
from promised import caught
from recipe_world import Recipe
from scipy.sparse import csr_array

from gde.data.mdp import TabularMDP
from gde.data.observation import Observation, Outcome
from gde.offers import Capability
from gde.parts.environment import Environment
from gde.seeding import derive
from gde.testing import check_environment, check_simulator
from gde.testing.parts import RIGHT, Corridor


@dataclass
class Slippery(Corridor):
    """RIGHT leads on in two of three steps and nowhere else; which ones is a function
    of the seed and the step.
    """

    length: int = 9
    dice: int = field(default=0, init=False)
    steps: int = field(default=0, init=False)

    def reset(self, seed: int) -> Observation:
        self.dice, self.steps = seed, 0
        return super().reset(seed)

    def step(self, action: str) -> Outcome:
        self.steps += 1
        if action == RIGHT and derive(self.dice, "slip", self.steps) % 3 == 0:
            return Outcome.running(self._observe())
        return super().step(action)

    def mdp(self) -> TabularMDP:
        return self.slippery

    @cached_property
    def slippery(self) -> TabularMDP:
        plain = super().mdp()
        left, right = plain.transition
        stay = csr_array(np.eye(self.length))
        return TabularMDP(
            transition=(left, csr_array(right * (2 / 3) + stay * (1 / 3))),
            start=np.full(self.length, 1 / self.length),
            reward=plain.reward,
            terminal=plain.terminal,
            actions=plain.actions,
        )

    def snapshot(self) -> tuple[int, int]:  # type: ignore[override]
        return self.at, self.steps

    def restore(self, snapshot: object) -> Observation:
        assert isinstance(snapshot, tuple)
        self.steps = snapshot[1]
        return super().restore(snapshot[0])

    def reseed(self, seed: int) -> None:
        self.dice = seed


class ForeseesChance(Slippery):
    def reseed(self, seed: int) -> None:
        """Goes on with the dice of the episode."""


class OneWorldForAll(Corridor):
    shared: ClassVar[dict[str, int]] = {"at": 0}

    @property
    def at(self) -> int:
        return self.shared["at"]

    @at.setter
    def at(self, cell: int) -> None:
        self.shared["at"] = cell


@dataclass
class SharesWhatItRemembers(Corridor):
    """Counts steps in a list that its snapshots hand on; the third step of any that
    share it leads nowhere.
    """

    seen: list[int] = field(default_factory=list)

    def reset(self, seed: int) -> Observation:
        self.seen = []
        return super().reset(seed)

    def step(self, action: str) -> Outcome:
        self.seen.append(self.at)
        return (
            Outcome.running(self._observe())
            if len(self.seen) == 3
            else super().step(action)
        )

    def snapshot(self) -> tuple[int, list[int]]:  # type: ignore[override]
        return self.at, self.seen

    def restore(self, snapshot: object) -> Observation:
        assert isinstance(snapshot, tuple)
        self.seen = snapshot[1]
        return super().restore(snapshot[0])


class StandsElsewhere(Corridor):
    def restore(self, snapshot: object) -> Observation:
        assert isinstance(snapshot, int)
        self.at = max(0, snapshot - 1)
        return self._observe()


class LooksAsIfItStoodThere(Corridor):
    def restore(self, snapshot: object) -> Observation:
        shown = super().restore(snapshot)
        self.at = max(0, self.at - 1)
        return shown


class Still(Recipe):
    """Is put back by replay."""

    def reseed(self, seed: int) -> None:
        """Nothing is random."""


@pytest.mark.parametrize(
    "make", [Corridor, Slippery, Still], ids=["plain", "slippery", "replayed"]
)
def test_worlds_that_copies_can_stand_in_for_keep_every_promise(
    make: Callable[[], Environment],
) -> None:
    check_simulator(make, seeds=range(6), actions=("stir",))


def test_a_snapshot_is_copied_on_its_way_to_the_private_world() -> None:
    check_simulator(SharesWhatItRemembers)


class TellsNoActions(Still):
    def _observe(self) -> Observation:
        return Observation(text="Do something.")


BROKEN: dict[str, tuple[Callable[[], Environment], str]] = {
    "no-reseed": (Recipe, "must have reseed"),
    "ForeseesChance": (ForeseesChance, "chance must follow from the new seed"),
    "OneWorldForAll": (OneWorldForAll, "must not change the episode"),
    "StandsElsewhere": (StandsElsewhere, "must show the same observation"),
    "LooksAsIfItStoodThere": (
        LooksAsIfItStoodThere,
        "must be in the same state",
    ),
    "TellsNoActions": (TellsNoActions, "needs `actions` to try"),
}


@pytest.mark.parametrize("counterfactual", BROKEN)
def test_a_broken_promise_is_named(counterfactual: str) -> None:
    make, promise = BROKEN[counterfactual]
    with caught(counterfactual, promise):
        check_simulator(make, seeds=range(6))


def test_it_is_checked_of_every_environment_that_says_so() -> None:
    check_environment(Slippery, gives={Capability.SIMULATOR})
    with pytest.raises(AssertionError, match="chance must follow"):
        check_environment(ForeseesChance, gives={Capability.SIMULATOR})
