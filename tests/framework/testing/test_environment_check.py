"""`check_environment` passes the corridor and names the promise that each broken
counterfactual breaks.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from promised import caught
from recipe_world import Recipe

from gde.data.mdp import TabularMDP
from gde.data.observation import Observation, Outcome, State, Task, World
from gde.offers import Capability
from gde.testing import check_environment
from gde.testing.parts import ACTIONS, Corridor


def test_the_corridor_keeps_every_promise() -> None:
    check_environment(Corridor)
    check_environment(lambda: Corridor(7), seeds=range(6))


class Listed(Corridor):
    """Both corridors of length 3, by number."""

    def worlds(self) -> list[str]:
        return ["from 0", "from 1"]

    def reset(self, seed: int) -> Observation:
        self.at = self.start = seed % 2
        return self._observe()


def test_a_list_of_worlds_keeps_every_promise() -> None:
    check_environment(Listed)


class Tasks(Listed):
    def tasks_of_worlds(self) -> list[str]:
        return ["both", "both"]


def test_tasks_of_worlds_keep_every_promise() -> None:
    check_environment(Tasks)


class Flips(Corridor):
    """After the second step LEFT and RIGHT change places, and there is another
    model.
    """

    def reset(self, seed: int) -> Observation:
        shown, plain = super().reset(seed), super().mdp()
        self.steps, self.models = (
            0,
            (plain, replace(plain, transition=plain.transition[::-1])),
        )
        return shown

    def step(self, action: str) -> Outcome:
        if self.steps >= 2:
            action = {"LEFT": "RIGHT", "RIGHT": "LEFT"}.get(action, action)
        outcome = super().step(action)
        self.steps += 1
        return outcome

    def mdp(self) -> TabularMDP:
        return self.models[self.steps >= 2]

    def snapshot(self) -> tuple[int, int]:  # type: ignore[override]
        return self.steps, self.at

    def restore(self, snapshot: object) -> Observation:
        assert isinstance(snapshot, tuple)
        self.steps = snapshot[0]
        return super().restore(snapshot[1])


class FlipsUnseenByTheModel(Flips):
    def mdp(self) -> TabularMDP:
        return self.models[0]


def test_a_world_that_changes_with_its_model_keeps_every_promise() -> None:
    check_environment(lambda: Flips(4), seeds=range(6))


class FreeText(Corridor):
    """Stays where it is at any text but a direction."""

    def step(self, action: str) -> Outcome:
        return (
            super().step(action)
            if action in ACTIONS
            else Outcome.running(self._observe())
        )

    def _observe(self) -> Observation:
        return replace(super()._observe(), actions=None)

    def task(self) -> Task:
        return replace(super().task(), actions=None)


def test_free_text_needs_actions_to_try() -> None:
    check_environment(FreeText, actions=("LEFT", "RIGHT"))
    with caught("FreeText", "needs `actions` to try"):
        check_environment(FreeText)


class Lacking:
    def reset(self, seed: int) -> Observation:
        raise NotImplementedError


@dataclass
class ForgetsTheSeed(Corridor):
    resets: int = 0

    def reset(self, seed: int) -> Observation:
        self.resets += 1
        self.at = self.start = self.resets % 2
        return self._observe()


@dataclass
class DependsOnTheObject(Corridor):
    made = 0

    def __post_init__(self) -> None:
        type(self).made += 1
        self.number = self.made

    def task(self) -> Task:
        return replace(super().task(), rules=f"object {self.number}")


class TakesAnything(Corridor):
    def step(self, action: str) -> Outcome:
        return super().step(action if action in {"LEFT", "RIGHT"} else "LEFT")


class GoesOnAfterTheEnd(Corridor):
    def step(self, action: str) -> Outcome:
        if self.at == self.length - 1:
            return Outcome.terminal(self._observe(), 0.0, success=0.0)
        return super().step(action)


class ForgetsTheSnapshot(Corridor):
    def restore(self, snapshot: object) -> Observation:
        return self._observe()


class ShowsTheWrongMoment(Corridor):
    def restore(self, snapshot: object) -> Observation:
        super().restore(snapshot)
        return Observation(text="elsewhere", actions=("LEFT", "RIGHT"))


@dataclass
class Tires(Corridor):
    """Each step ever taken since the reset takes from the next reward; a snapshot does
    not know of it.
    """

    steps: int = 0

    def reset(self, seed: int) -> Observation:
        self.steps = 0
        return super().reset(seed)

    def step(self, action: str) -> Outcome:
        self.steps += 1
        return replace(super().step(action), reward=-float(self.steps))


class TiresInSecret(Tires):
    def step(self, action: str) -> Outcome:
        return replace(super().step(action), reward=0.0)

    def state(self) -> State:
        return replace(super().state(), facts={"steps": self.steps})


class ShowsText(Corridor):
    def reset(self, seed: int) -> Observation:
        return super().reset(seed).text  # type: ignore[return-value]


class AnswersText(Corridor):
    def step(self, action: str) -> Outcome:
        return super().step(action).observation  # type: ignore[return-value]


class RecordsNoNumber(Corridor):
    def state(self) -> State:
        return replace(super().state(), facts={"speed": float("nan")})


class LabelsWithArrays(Corridor):
    def world(self) -> World:
        return replace(super().world(), labels={"map": np.zeros(2)})  # type: ignore[dict-item]


class OwnStart(DependsOnTheObject):
    def task(self) -> Task:
        return Corridor.task(self)

    def reset(self, seed: int) -> Observation:
        super().reset(seed)
        self.at = self.start = self.number % 2
        return self._observe()


class OwnName(DependsOnTheObject):
    def task(self) -> Task:
        return Corridor.task(self)

    def world(self) -> World:
        return replace(super().world(), id=f"world {self.number}")


class ChangesItsWorld(Corridor):
    def world(self) -> World:
        return replace(super().world(), facts={"agent": self.at})


class MovesWhenLookedAt(Corridor):
    def state(self) -> State:
        self.at = (self.at + 1) % (self.length - 1)
        return super().state()


class RecordsArrays(Corridor):
    def world(self) -> World:
        return replace(super().world(), facts={"map": np.zeros(2)})  # type: ignore[dict-item]


class NamelessWorld(Corridor):
    def world(self) -> World:
        return replace(super().world(), id="")


class NoTime(Corridor):
    def task(self) -> Task:
        return replace(super().task(), horizon=0)


class NoPurpose(Corridor):
    def task(self) -> Task:
        return replace(super().task(), objective="")


class InfiniteReward(Corridor):
    def step(self, action: str) -> Outcome:
        return replace(super().step(action), reward=float("inf"))


class RepeatsAnAction(Corridor):
    def _observe(self) -> Observation:
        return Observation(text="?", actions=("LEFT", "LEFT"))


class IndexOutsideTheModel(Corridor):
    def state(self) -> State:
        return replace(super().state(), index=self.at + 3)


class StartsElsewhere(Corridor):
    def mdp(self) -> TabularMDP:
        model = super().mdp()
        return replace(model, start=np.roll(model.start, 1))


class SwapsActionsInTheModel(Corridor):
    def mdp(self) -> TabularMDP:
        model = super().mdp()
        return replace(model, transition=model.transition[::-1])


class NamelessActions(Corridor):
    def mdp(self) -> TabularMDP:
        return replace(super().mdp(), actions=())


class NoEndInTheModel(Corridor):
    def mdp(self) -> TabularMDP:
        return replace(super().mdp(), terminal=None)


class SameName(Listed):
    def worlds(self) -> list[str]:
        return ["corridor", "corridor"]


class ListsWithoutUse(Corridor):
    def worlds(self) -> list[str]:
        return ["from 0", "from 1"]


class ForgetsTheTaskOfOne(Listed):
    def tasks_of_worlds(self) -> list[str]:
        return ["both"]


BROKEN = [
    (ForgetsTheTaskOfOne, "name the task of each of 2 worlds"),
    (SameName, "name each world differently"),
    (ListsWithoutUse, "modulo 2 must begin the same listed world"),
    (Lacking, "must have .*step.* to be a Environment"),
    (ForgetsTheSeed, "same episode after another reset"),
    (DependsOnTheObject, "same episode in another object"),
    (TakesAnything, "for an action that is not admissible"),
    (GoesOnAfterTheEnd, "when the episode is over"),
    (ForgetsTheSnapshot, "restore must"),
    (Tires, "restore the whole state"),
    (TiresInSecret, r"restore state\(\)"),
    (ShowsText, "must return an Observation"),
    (AnswersText, "step must return an Outcome"),
    (RecordsNoNumber, r"state\(\).facts must hold plain JSON"),
    (LabelsWithArrays, r"world\(\).labels must hold plain JSON"),
    (OwnStart, "same episode in another object"),
    (OwnName, "same episode in another object"),
    (ShowsTheWrongMoment, "return the observation at the snapshot"),
    (ChangesItsWorld, "stay the same during an episode"),
    (MovesWhenLookedAt, r"state\(\) must not change the world"),
    (RecordsArrays, r"world\(\).facts must hold plain JSON"),
    (NamelessWorld, r"world\(\).id"),
    (NoTime, "horizon must be at least 1"),
    (NoPurpose, "objective must say"),
    (InfiniteReward, "reward must be finite"),
    (RepeatsAnAction, "distinct actions"),
    (IndexOutsideTheModel, r"a state of mdp\(\)"),
    (StartsElsewhere, "first state a probability above zero"),
    (SwapsActionsInTheModel, "agree with step: "),
    (FlipsUnseenByTheModel, "agree with step: "),
    (NamelessActions, "name every admissible action"),
    (NoEndInTheModel, "terminal must agree"),
]


@pytest.mark.parametrize(
    ("make", "promise"), BROKEN, ids=[make.__name__ for make, _ in BROKEN]
)
def test_a_broken_promise_is_named(make: Callable[[], Corridor], promise: str) -> None:
    with caught(make.__name__, promise):
        check_environment(make, seeds=range(4))


def told(facts: dict[str, Any]) -> Callable[[], Corridor]:
    """A corridor that records these facts of its world in place of its own."""

    class Told(Corridor):
        def world(self) -> World:
            own = super().world()
            return replace(own, facts={**own.facts, **facts})

    return Told


def other_kinds(self: Corridor) -> World:
    """Kinds of cells that depend on where the agent starts."""
    own = Corridor.world(self)
    kinds = ["empty", "agent", "goal", "wall", *["door"][: self.start]]
    return replace(own, facts={**own.facts, "kinds": kinds})


def test_a_record_that_is_drawn_keeps_every_promise() -> None:
    check_environment(Corridor, gives={Capability.MAP, Capability.VIEW})
    check_environment(
        told({"rows": "no map", "view": "a corridor"}), gives={Capability.VIEW}
    )


@pytest.mark.parametrize(
    ("make", "promise"),
    [
        (
            told({"rows": "no map"}),
            "`rows` and `view` must be as gde.data.view reads them; .* wanted a list of equally",
        ),
        (told({"view": 3}), "`rows` and `view` must be .* wanted a text, got 3"),
        (told({"moves": ["UP"]}), "`moves` must be action to"),
        (
            told({"rows": None, "view": "a corridor"}),
            "must record a map in its facts; .*`rows` of a map",
        ),
        (
            type("OtherKinds", (Corridor,), {"world": other_kinds}),
            "must have the same `kinds` of cells",
        ),
    ],
    ids=["rows", "view", "moves", "no map", "kinds"],
)
def test_a_record_that_cannot_be_drawn_is_named(
    make: Callable[[], Corridor], promise: str
) -> None:
    with caught(make.__name__, promise):
        check_environment(make, seeds=range(6), gives={Capability.MAP})


def test_a_view_that_is_promised_must_be_there() -> None:
    def nowhere(self: Corridor) -> World:
        return World(id=f"{self.start}")

    make = type("Nowhere", (Corridor,), {"world": nowhere})
    check_environment(make)
    with caught("Nowhere", "gives VIEW must record `view`, or `rows`"):
        check_environment(make, gives={Capability.VIEW})


def test_a_map_that_is_promised_needs_states() -> None:
    with caught("Recipe", "gives MAP must give STATE"):
        check_environment(Recipe, gives={Capability.MAP})


def test_worlds_of_one_id_are_one_world() -> None:
    def nameless(self: Corridor) -> World:
        return World(id="same", labels={"start": self.start})

    def mute(self: Corridor) -> World:
        return World(id="same")

    for world, promise in (
        (nameless, "be the same and begin alike, 'same' does not"),
        (mute, "be the same and begin alike, 'same' does not"),
    ):
        with caught(world.__name__, promise):
            check_environment(
                partial(type("Nameless", (Corridor,), {"world": world}), 9),
                seeds=range(6),
            )
