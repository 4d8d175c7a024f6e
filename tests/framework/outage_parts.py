"""A language model that answers nobody now and then, and agents that ask it: a plugin
of the tests.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from judging import QUESTION, Judge, appraise

from gde import (
    ChatRequest,
    Completion,
    Context,
    Decision,
    GdeError,
    ModelInfo,
    ModelOffer,
    NoConfig,
    Observation,
    Offer,
    Unavailable,
    hookimpl,
)
from gde.testing.parts import AskingAgent, ScriptedModel


@dataclass
class Outage:
    """When the model is away; tests set it."""

    after: int | None = None
    """From the request of this number on."""
    at: frozenset[int] = frozenset()
    """At the requests of these numbers."""
    seeds: frozenset[int] = frozenset()
    """For the requests with these seeds, whenever they come."""
    asked: list[int] = field(default_factory=list)
    """The seeds of all requests so far."""

    def now(self, seed: int) -> bool:
        """Note a request, and say whether it gets no answer."""
        self.asked.append(seed)
        number = len(self.asked)
        return (
            number in self.at
            or seed in self.seeds
            or (self.after is not None and number > self.after)
        )


OUTAGE = Outage()


def knows_all(request: ChatRequest) -> str:
    """The number for a judge, the way for an agent."""
    return (
        appraise(request)
        if request.messages[-1].content.startswith(QUESTION)
        else "RIGHT"
    )


class Flickering(ScriptedModel):
    """Away when the outage says so."""

    def __init__(self) -> None:
        super().__init__(knows_all)

    async def complete(self, request: ChatRequest) -> Completion:
        if OUTAGE.now(request.seed):
            raise Unavailable("no server here")
        return await super().complete(request)

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(name="flickering")


class Swallowing(AskingAgent):
    """Makes of an error what agents make of it."""

    async def act(self, observation: Observation) -> Decision:
        try:
            return await super().act(observation)
        except GdeError as error:
            return Decision.unusable("error", str(error))


@hookimpl
def gde_language_models() -> Sequence[ModelOffer[Any, Any]]:
    return (
        ModelOffer(
            name="flickering",
            summary="s",
            config=NoConfig,
            make=lambda _, __: Flickering(),
        ),
    )


@hookimpl
def gde_agents() -> Sequence[Offer[Any, Any]]:
    def asking(_: NoConfig, context: Context) -> AskingAgent:
        return AskingAgent(context.model("flickering"))

    def swallowing(_: NoConfig, context: Context) -> Swallowing:
        return Swallowing(context.model("flickering"))

    return (
        Offer(name="asking-flickering", summary="s", config=NoConfig, make=asking),
        Offer(
            name="swallowing-flickering", summary="s", config=NoConfig, make=swallowing
        ),
    )


@hookimpl
def gde_reward_models() -> Sequence[Offer[Any, Any]]:
    make = lambda _, context: Judge(context.model("flickering"))  # noqa: E731
    return (Offer(name="judge-flickering", summary="s", config=NoConfig, make=make),)
