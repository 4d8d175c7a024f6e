"""`check_agent` passes good agents and names the promise that each broken
counterfactual breaks.
"""

import random
from collections.abc import Callable

import pytest
from promised import caught

from gde.data.observation import Observation
from gde.data.trajectory import Decision
from gde.parts.agent import Agent, Brief, FunctionAgent
from gde.parts.environment import HasMDP
from gde.testing import check_agent
from gde.testing.parts import AskingAgent, PlantedModel, ScriptedAgent, ScriptedModel


def test_good_agents_keep_every_promise() -> None:
    check_agent(lambda: ScriptedAgent(("LEFT", "RIGHT")))
    check_agent(
        lambda: FunctionAgent(lambda observation: (observation.actions or ("",))[-1])
    )
    check_agent(lambda: AskingAgent(PlantedModel()))


def test_an_unusable_answer_is_a_kept_promise() -> None:
    check_agent(lambda: AskingAgent(ScriptedModel(lambda _: "UP")))


class Lacking:
    def begin(self, brief: Brief) -> None: ...


class Chance(ScriptedAgent):
    async def act(self, observation: Observation) -> Decision:
        return Decision.act(random.choice(["LEFT", "RIGHT"]))


class SharesItsMemory(ScriptedAgent):
    episodes: list[int] = []  # noqa: RUF012 - shared on purpose

    def begin(self, brief: Brief) -> None:
        self.episodes.append(brief.seed)

    async def act(self, observation: Observation) -> Decision:
        return Decision.act("LEFT" if len(self.episodes) % 2 else "RIGHT")


class NotAsync(ScriptedAgent):
    def act(self, observation: Observation) -> Decision:  # type: ignore[override]
        return Decision.act("LEFT")


class Inadmissible(ScriptedAgent):
    async def act(self, observation: Observation) -> Decision:
        return Decision.act("UP")


class SaysNotWhy(ScriptedAgent):
    async def act(self, observation: Observation) -> Decision:
        return Decision.unusable("refusal", "")


class AnswersText(ScriptedAgent):
    async def act(self, observation: Observation) -> Decision:
        return "RIGHT"  # type: ignore[return-value]


class MovesTheWorld(ScriptedAgent):
    oracle: HasMDP | None

    def begin(self, brief: Brief) -> None:
        self.oracle = brief.environment

    async def act(self, observation: Observation) -> Decision:
        self.oracle.step("RIGHT")  # type: ignore[union-attr]
        return Decision.act("LEFT")


BROKEN = [
    (Lacking, "must have act to be a Agent"),
    (Chance, "function of its seed"),
    (SharesItsMemory, "function of its seed"),
    (Inadmissible, "must be one of LEFT, RIGHT; got 'UP'"),
    (SaysNotWhy, "must have the answer in `detail`"),
    (NotAsync, "must be an `async def`"),
    (AnswersText, "must return a Decision"),
    (MovesTheWorld, "must not change the environment"),
]


@pytest.mark.parametrize(
    ("make", "promise"), BROKEN, ids=[make.__name__ for make, _ in BROKEN]
)
def test_a_broken_promise_is_named(make: Callable[[], Agent], promise: str) -> None:
    with caught(make.__name__, promise):
        check_agent(make, seeds=range(8))
