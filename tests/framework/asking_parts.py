"""Parts that ask language models, well and badly, and models that note what they are
asked: a plugin of the tests.
"""

import asyncio
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from judging import QUESTION, Judge, appraise
from odd_parts import AdvisedAgent, SlowCorridor, WhereProbe

from gde import (
    Capability,
    CaptureRequest,
    ChatRequest,
    Completion,
    Context,
    Decision,
    EnvironmentOffer,
    Evidence,
    GdeError,
    Measurement,
    Message,
    MetricOffer,
    ModelInfo,
    ModelName,
    ModelOffer,
    NoConfig,
    Observation,
    Offer,
    ProbeOffer,
    Rewards,
    Transcript,
    Turn,
    hookimpl,
)
from gde.testing.parts import AskingAgent, PlantedModel, ScriptedModel

STOP = "ASKING_PARTS_STOP"
"""An environment variable: after how many requests a model is interrupted, as by
Ctrl-C.
"""
TURNS = "ASKING_PARTS_TURNS"
"""An environment variable: the file that turns are noted in."""


def knows_all(request: ChatRequest) -> str:
    """The number for a judge, the way for an agent."""
    return (
        appraise(request)
        if request.messages[-1].content.startswith(QUESTION)
        else "RIGHT"
    )


def echo(request: ChatRequest) -> str:
    """What a text agent is shown, as its answer."""
    state = request.messages[-1].content.partition("Current state:\n")[2]
    return json.dumps({"action": state}, ensure_ascii=False)


@dataclass(frozen=True)
class NotedConfig:
    source: str
    """The file that requests are noted in; `noted:FILE` names it."""
    note: str = ""


@dataclass
class Noted(PlantedModel):
    """Notes every request in a file."""

    log: Path = Path()

    async def complete(self, request: ChatRequest) -> Completion:
        await asyncio.sleep(0)
        if len(asked(self.log)) >= int(os.environ.get(STOP, "1000000")):
            raise KeyboardInterrupt
        with self.log.open("a") as file:
            file.write(f"{request.identity}\n")
        return await super().complete(request)


def asked(log: Path) -> list[str]:
    """The identities of all requests, in order."""
    return log.read_text().splitlines() if log.exists() else []


@dataclass(frozen=True)
class AskedConfig:
    model: ModelName = "planted"
    adviser: ModelName = "planted"


class Editor(AskingAgent):
    """Trims what it was answered before it hands it on."""

    async def act(self, observation: Observation) -> Decision:
        decision = await super().act(observation)
        assert decision.completion is not None
        return replace(
            decision,
            completion=replace(decision.completion, text="edited", reasoning=None),
        )


class Forger(AskingAgent):
    """Hands on an answer that nobody gave."""

    async def act(self, observation: Observation) -> Decision:
        forged = Completion(text="RIGHT", reasoning=None, finish="stop")
        return replace(await super().act(observation), completion=forged)


class Careless(AskingAgent):
    """Takes whatever goes wrong with a model for a turn of bad luck."""

    async def act(self, observation: Observation) -> Decision:
        try:
            return await super().act(observation)
        except GdeError as error:
            return Decision.unusable("empty", str(error))


class Parrot(AdvisedAgent):
    """Lets the adviser decide."""

    async def act(self, observation: Observation) -> Decision:
        self._turn += 1
        message = Message(role="user", content=observation.text)
        completion = await self.adviser.complete(
            ChatRequest(messages=(message,), seed=self._turn)
        )
        return Decision.act("RIGHT", completion)


@dataclass
class Sloppy(Judge):
    """Gives a reward too few."""

    async def rewards(self, transcript: Transcript) -> Rewards:
        found = await super().rewards(transcript)
        return replace(found, values=found.values[1:])


class Moody(Judge):
    """Cannot judge an episode that begins in the first cell."""

    async def rewards(self, transcript: Transcript) -> Rewards:
        if transcript.steps[0].observation.startswith("#A"):
            raise GdeError("no opinion")
        return await super().rewards(transcript)


class Poll:
    """A metric that asks a language model."""

    def __init__(self, context: Context, name: str) -> None:
        self._context, self._name = context, name

    def __call__(self, evidence: Evidence) -> Sequence[Measurement]:
        request = ChatRequest(
            messages=(Message(role="user", content=f"{QUESTION}\n#_A_#"),), seed=0
        )
        answer = asyncio.run(self._context.model(self._name).complete(request))
        return (Measurement(name="poll", value=float(answer.text), unit="share", n=1),)


@hookimpl
def gde_environments() -> Sequence[EnvironmentOffer[Any, Any]]:
    gives = frozenset({Capability.STATE, Capability.MDP})
    make = lambda _, __: SlowCorridor(6, 0.0, trap=1)  # noqa: E731
    return (
        EnvironmentOffer(
            name="trap", summary="s", config=NoConfig, make=make, gives=gives
        ),
    )


@hookimpl
def gde_agents() -> Sequence[Offer[Any, Any]]:
    one, gives = (
        lambda part: lambda config, context: part(context.model(config.model)),
        frozenset({Capability.ACTIVATIONS}),
    )

    def parrot(config: AskedConfig, context: Context) -> Parrot:
        return Parrot(
            context.model(config.model), adviser=context.model(config.adviser)
        )

    return (
        Offer(
            name="editor",
            summary="s",
            config=AskedConfig,
            make=one(Editor),
            gives=gives,
        ),
        Offer(
            name="forger",
            summary="s",
            config=AskedConfig,
            make=one(Forger),
            gives=gives,
        ),
        Offer(
            name="careless",
            summary="s",
            config=AskedConfig,
            make=one(Careless),
            gives=gives,
        ),
        Offer(name="parrot", summary="s", config=AskedConfig, make=parrot, gives=gives),
    )


@hookimpl
def gde_language_models() -> Sequence[ModelOffer[Any, Any]]:
    make = lambda config, _: Noted(knows_all, log=Path(config.source))  # noqa: E731
    gives = frozenset({Capability.ACTIVATIONS})
    return (
        ModelOffer(
            name="noted", summary="s", config=NotedConfig, make=make, gives=gives
        ),
        ModelOffer(
            name="echo",
            summary="s",
            config=NoConfig,
            make=lambda _, __: ScriptedModel(echo),
        ),
    )


@dataclass(frozen=True)
class StrictConfig:
    scale: float


@dataclass(frozen=True)
class HomelessConfig:
    folder: str = ""


def homeless(config: HomelessConfig, context: Context) -> Judge:
    """Only who makes it knows that it needs a folder."""
    if not config.folder:
        raise GdeError("homeless.folder: wanted a folder, got none")
    return Judge(context.model("echo"))


@hookimpl
def gde_reward_models() -> Sequence[Offer[Any, Any]]:
    strict = lambda _, context: Judge(context.model("echo"))  # noqa: E731
    return (
        Offer(name="strict", summary="s", config=StrictConfig, make=strict),
        Offer(name="homeless", summary="s", config=HomelessConfig, make=homeless),
        *_judges(),
    )


def _judges() -> Sequence[Offer[Any, Any]]:
    return tuple(
        Offer(
            name=name,
            summary="s",
            config=AskedConfig,
            make=lambda c, context, part=part: part(context.model(c.model)),
        )
        for name, part in (("sloppy", Sloppy), ("moody-judge", Moody))
    )


@hookimpl
def gde_metrics() -> Sequence[MetricOffer[Any, Any]]:
    make = lambda config, context: Poll(context, config.model)  # noqa: E731
    return (MetricOffer(name="poll", summary="s", config=AskedConfig, make=make),)


@dataclass(frozen=True)
class LayeredConfig:
    layer: tuple[int, ...] = (1,)


class Layered(WhereProbe):
    """Where the agent is, as several layers say it."""

    def __init__(self, layers: tuple[int, ...]) -> None:
        super().__init__()
        self.layers = layers

    def capture(self, model: ModelInfo) -> CaptureRequest:
        return CaptureRequest(layers=self.layers, positions=("pre",))


@hookimpl
def gde_probes() -> Sequence[ProbeOffer[Any, Any]]:
    needs = frozenset({Capability.ACTIVATIONS, Capability.STATE})
    make = lambda config, _: Layered(config.layer)  # noqa: E731
    return (
        ProbeOffer(
            name="layered", summary="s", config=LayeredConfig, make=make, needs=needs
        ),
    )


@hookimpl
def gde_turn_finished(episode: str, turn: Turn) -> None:
    if log := os.environ.get(TURNS):
        with Path(log).open("a") as file:
            file.write(
                f"{episode} {turn.index} {turn.decision.action} {turn.decision.completion}\n"
            )
