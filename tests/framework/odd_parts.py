"""Parts that misbehave on purpose and others for tests alone, offered by name: this
module is loaded as a plugin by the tests.
"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle
from pathlib import Path
from threading import Event
from time import sleep
from typing import Annotated, Any, ClassVar

import numpy as np
from dictating import Dictation
from judging import Judge, appraise
from numpy.typing import NDArray
from pydantic import Field
from recipe_world import RECIPE
from steering_agent import STEERING

from gde import (
    Brief,
    Capability,
    CaptureRequest,
    ChatRequest,
    Choice,
    Completion,
    Context,
    Decision,
    EnvironmentOffer,
    Figure,
    GdeError,
    How,
    LanguageModel,
    Measurement,
    Message,
    MetricOffer,
    ModelInfo,
    ModelName,
    ModelOffer,
    NoConfig,
    Observation,
    Offer,
    Outcome,
    Plan,
    ProbeDataset,
    ProbeLabels,
    ProbeOffer,
    Result,
    Trajectory,
    World,
    hookimpl,
)
from gde.data.mdp import TabularMDP
from gde.data.observation import Optimum
from gde.parts.reproduction import Comparison, Run
from gde.seeding import derive
from gde.testing.parts import (
    RIGHT,
    AskingAgent,
    Corridor,
    PlantedModel,
    ScriptedAgent,
    ScriptedModel,
)
from gde.testing.plugin import OF_CORRIDOR, AskingConfig, CorridorConfig


@dataclass
class SlowCorridor(Corridor):
    """A corridor with slow steps, and perhaps a cell whose step never returns."""

    seconds: float = 0.01
    trap: int = -1
    """The cell whose step never returns; -1 for none."""

    def step(self, action: str) -> Outcome:
        if self.at == self.trap:
            Event().wait()
        sleep(self.seconds)
        return super().step(action)


@dataclass
class AdvisedAgent(AskingAgent):
    """Asks a second model first and shows what that one says to the first, which
    decides.
    """

    adviser: LanguageModel = field(kw_only=True)

    async def act(self, observation: Observation) -> Decision:
        question = Message(
            role="user", content=f"What would you do?\n{observation.text}"
        )
        asked = ChatRequest(
            messages=(question,), seed=derive(self._seed, "adviser", self._turn + 1)
        )
        advice = await self.adviser.complete(asked)
        return await super().act(
            replace(observation, text=f"{observation.text}\nAdvice: {advice.text}")
        )


@dataclass
class Copyist:
    """Says again what it is shown, in one action of as many lines."""

    def begin(self, brief: Brief) -> None:
        """Copying needs no preparation."""

    async def act(self, observation: Observation) -> Decision:
        return Decision.act(observation.text)


@dataclass(frozen=True, kw_only=True)
class SlowConfig(CorridorConfig):
    """A corridor with slow steps."""

    seconds: Annotated[float, Field(ge=0)] = 0.01
    """Of every step."""
    trap: Annotated[int, Field(ge=-1)] = -1
    """A cell whose step never returns, -1 for none."""


@dataclass(frozen=True, kw_only=True)
class AdvisedConfig(AskingConfig):
    """An agent's model and its adviser."""

    adviser: ModelName = "appraising"
    """The language model that is asked first."""


@dataclass
class Trapdoor(Corridor):
    """A corridor whose second cell breaks the simulator."""

    def step(self, action: str) -> Outcome:
        outcome = super().step(action)
        if self.at == 1:
            raise RuntimeError("the floor gave way")
        return outcome


@dataclass
class Bottomless(Corridor):
    """A corridor in which the second world cannot be made."""

    def reset(self, seed: int) -> Observation:
        if seed == derive(0, "world", 1):
            raise GdeError("no such corridor")
        return super().reset(seed)


@dataclass
class Faulty(Corridor):
    """A corridor whose simulator is away now and then."""

    def step(self, action: str) -> Outcome:
        if os.environ.get("ODD_PARTS_OUTAGE") and self.start == 1:
            raise ConnectionError("the simulator is away")
        return super().step(action)


@dataclass
class Careless(Corridor):
    """A corridor that pays in numbers which are none, and calls a label like the swept
    field.
    """

    def step(self, action: str) -> Outcome:
        outcome = super().step(action)
        return replace(
            outcome,
            reward=float("nan") if self.start == 0 else np.float32(outcome.reward),
        )

    def world(self) -> World:
        return replace(super().world(), labels={"length": "long"})


@dataclass
class Listed(Corridor):
    """A list of corridors, one for each cell to start in, of a make that the
    environment variable names.
    """

    def worlds(self) -> list[str]:
        make = os.environ.get("ODD_PARTS_MAKE", "sturdy")
        if make == "none":
            raise GdeError("no corridors on the list")
        return [f"{start} of {self.length}, {make}" for start in range(self.length - 1)]

    def reset(self, seed: int) -> Observation:
        self.at = self.start = seed % (self.length - 1)
        return self._observe()


@dataclass
class Chatty(Corridor):
    """A corridor that prints, in Python and below it."""

    def step(self, action: str) -> Outcome:
        print("a step")  # noqa: T201
        os.write(1, b"a step of a library\n")
        return super().step(action)


@dataclass(frozen=True)
class MoodyConfig:
    statuses: tuple[str, ...] = ("unparsable", "empty", "refusal", "ok")


@dataclass
class Moody:
    """Goes RIGHT, but answers usably only now and then."""

    statuses: Sequence[str]

    def begin(self, brief: Brief) -> None:
        self._moods = cycle(self.statuses)

    async def act(self, observation: Observation) -> Decision:
        match next(self._moods):
            case "ok":
                return Decision.act("RIGHT")
            case "wild":
                return Decision.act("JUMP")
            case "crash":
                raise KeyError("lost")
            case "unreachable":
                raise GdeError("the server is gone")
            case status:
                return Decision.unusable(status, "no idea")  # type: ignore[arg-type]


@dataclass
class Restless(ScriptedAgent):
    """Not a function of its seed: every process acts in its own way."""

    async def act(self, observation: Observation) -> Decision:
        return Decision.act(("LEFT", "RIGHT")[os.getpid() % 2])


@dataclass(frozen=True)
class LoggedConfig:
    log: str = ""
    pause: float = 0.0
    source: str = ""
    prices: Annotated[tuple[float, float] | None, How] = None


@dataclass
class Logged(PlantedModel):
    """Notes every request in a file, and takes its time."""

    log: Path = Path()
    pause: float = 0.0

    async def complete(self, request: ChatRequest) -> Completion:
        await asyncio.sleep(self.pause)
        completion = await super().complete(request)
        with self.log.open("a") as file:
            file.write(f"{os.getpid()} {request.seed}\n")
        return completion


@dataclass(frozen=True)
class AskingConfig:
    model: ModelName = "logged"


class Centroids:
    """A readout that knows where the mean activation of each position lies."""

    def __init__(self, means: NDArray[np.float32], n: int) -> None:
        self._means, self._n = means, n

    def predict(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        distances = ((inputs[:, None] - self._means[None]) ** 2).sum(-1)
        return np.eye(self._n, dtype=np.float32)[distances.argmin(1)]

    def arrays(self) -> Mapping[str, NDArray[np.float32]]:
        return {"means": self._means}


@dataclass
class WhereProbe:
    """Which cell of the corridor the agent is in."""

    layer: int = 1
    variants: tuple[str, ...] = ("centroid",)

    def capture(self, model: ModelInfo) -> CaptureRequest:
        return CaptureRequest(
            layers=(min(self.layer, model.n_layers - 1),), positions=("pre",)
        )

    def labels(self, trajectory: Trajectory) -> ProbeLabels:
        return ProbeLabels(
            values=np.array(
                [turn.state.index for turn in trajectory.turns if turn.state]
            )
        )

    def fit(
        self, variant: str, train: ProbeDataset, rng: np.random.Generator
    ) -> Centroids:
        n = int(train.labels.max()) + 1
        everywhere = train.inputs.mean(0)
        means = [
            train.inputs[train.labels == i].mean(0)
            if (train.labels == i).any()
            else everywhere
            for i in range(n)
        ]
        return Centroids(np.stack(means).astype(np.float32), n)

    def load(
        self, variant: str, arrays: Mapping[str, NDArray[np.float32]]
    ) -> Centroids:
        return Centroids(arrays["means"], len(arrays["means"]))

    def score(
        self, readout: Any, test: ProbeDataset, rng: np.random.Generator
    ) -> Sequence[Measurement]:
        right = readout.predict(test.inputs).argmax(1) == test.labels
        return (
            Measurement(
                name="accuracy", value=float(right.mean()), unit="share", n=len(right)
            ),
        )


class Certified(Corridor):
    """Its optima do not come from its process, which may not be had."""

    error: ClassVar[Exception | None] = None
    asked: ClassVar[list[str]] = []

    def optimum(self) -> Optimum:
        steps = self.length - 1 - self.at
        return Optimum(actions=(RIGHT,), value=float(-steps), means="solved")

    def mdp(self) -> TabularMDP:
        self.asked.append(self.world().id)
        if self.error is not None:
            raise self.error
        return super().mdp()


def _unmakable(_: NoConfig, __: Context) -> Corridor:
    raise OSError("no simulator here")


@dataclass(frozen=True, kw_only=True)
class DictationConfig:
    """A text to write down."""

    lines: Annotated[int, Field(ge=1)] = 3
    """Lines of the text."""


@hookimpl
def gde_environments() -> Sequence[EnvironmentOffer[Any, Any]]:
    gives = frozenset({Capability.STATE, Capability.MDP, Capability.MAP})
    return (
        RECIPE,
        EnvironmentOffer(
            name="dictation",
            summary="Lines of any length to be written down in free text.",
            config=DictationConfig,
            make=lambda config, _: Dictation(config.lines),
            gives={Capability.OPTIMUM},
        ),
        EnvironmentOffer(
            name="slow-corridor",
            summary="A corridor with slow steps, one of which may never return.",
            config=SlowConfig,
            make=lambda config, _: SlowCorridor(
                config.length, config.seconds, config.trap
            ),
            gives=OF_CORRIDOR,
            blocking=True,
        ),
        EnvironmentOffer(
            name="certified",
            summary="s",
            config=NoConfig,
            make=lambda _, __: Certified(12),
            gives=gives,
        ),
        EnvironmentOffer(
            name="trapdoor",
            summary="s",
            config=NoConfig,
            make=lambda _, __: Trapdoor(),
            gives=gives,
        ),
        EnvironmentOffer(
            name="bottomless",
            summary="s",
            config=NoConfig,
            make=lambda _, __: Bottomless(),
            gives=gives,
        ),
        EnvironmentOffer(
            name="faulty",
            summary="s",
            config=NoConfig,
            make=lambda _, __: Faulty(),
            gives=gives,
        ),
        EnvironmentOffer(
            name="careless",
            summary="s",
            config=CorridorConfig,
            make=lambda c, _: Careless(c.length),
            gives=gives,
        ),
        EnvironmentOffer(
            name="listed",
            summary="s",
            config=CorridorConfig,
            make=lambda c, _: Listed(c.length),
            gives=gives | {Capability.WORLDS},
        ),
        EnvironmentOffer(
            name="chatty",
            summary="s",
            config=NoConfig,
            make=lambda _, __: Chatty(),
            gives=gives,
        ),
        EnvironmentOffer(
            name="unmakable", summary="s", config=NoConfig, make=_unmakable, gives=gives
        ),
        EnvironmentOffer(
            name="long-corridor",
            summary="s",
            config=NoConfig,
            make=lambda _, __: Corridor(12),
            gives=gives,
        ),
    )


@hookimpl
def gde_agents() -> Sequence[Offer[Any, Any]]:
    return (
        STEERING,
        Offer(
            name="copyist",
            summary="Repeats the observation.",
            config=NoConfig,
            make=lambda _, __: Copyist(),
        ),
        Offer(
            name="advised",
            summary="Asks one language model for advice and another for the action.",
            config=AdvisedConfig,
            make=lambda config, context: AdvisedAgent(
                context.model(config.model), adviser=context.model(config.adviser)
            ),
            gives={Capability.ACTIVATIONS},
        ),
        Offer(
            name="moody",
            summary="s",
            config=MoodyConfig,
            make=lambda config, _: Moody(statuses=config.statuses),
        ),
        Offer(
            name="restless", summary="s", config=NoConfig, make=lambda _, __: Restless()
        ),
        Offer(
            name="asking-logged",
            summary="s",
            config=AskingConfig,
            make=lambda config, context: AskingAgent(context.model(config.model)),
            gives={Capability.ACTIVATIONS},
        ),
        Offer(
            name="needs-absent",
            summary="s",
            config=NoConfig,
            make=lambda _, __: None,
            imports=("not_there",),
            extra="x",
        ),
    )


@hookimpl
def gde_language_models() -> Sequence[ModelOffer[Any, Any]]:
    gives = frozenset({Capability.ACTIVATIONS, Capability.INTERVENTIONS})
    make = lambda config, _: Logged(log=Path(config.log), pause=config.pause)  # noqa: E731
    return (
        ModelOffer(
            name="appraising",
            summary="Says how far along a corridor the agent stands.",
            config=NoConfig,
            make=lambda _, __: ScriptedModel(appraise),
        ),
        ModelOffer(
            name="logged", summary="s", config=LoggedConfig, make=make, gives=gives
        ),
        ModelOffer(
            name="blackbox",
            summary="s",
            config=NoConfig,
            make=lambda _, __: PlantedModel(),
        ),
    )


class DeepProbe(WhereProbe):
    """Wants a layer that no model has."""

    def capture(self, model: ModelInfo) -> CaptureRequest:
        raise GdeError(f"layer: the model has {model.n_layers}")


@dataclass(frozen=True, kw_only=True)
class JudgeConfig:
    """A judge's model."""

    model: ModelName = "appraising"
    """The language model that says how far an episode is."""


@hookimpl
def gde_reward_models() -> Sequence[Offer[Any, Any]]:
    return (
        Offer(
            name="progress-judge",
            summary="Asks a language model about every turn.",
            config=JudgeConfig,
            make=lambda config, context: Judge(context.model(config.model)),
        ),
    )


@hookimpl
def gde_probes() -> Sequence[ProbeOffer[Any, Any]]:
    return (
        ProbeOffer(
            name="where",
            summary="s",
            config=NoConfig,
            make=lambda _, __: WhereProbe(),
            needs={Capability.ACTIVATIONS, Capability.STATE},
        ),
        ProbeOffer(
            name="deep", summary="s", config=NoConfig, make=lambda _, __: DeepProbe()
        ),
    )


@hookimpl
def gde_run_started(plan: Plan) -> None:
    _note(f"started {plan.episodes}")


@hookimpl
def gde_episode_finished(trajectory: Trajectory, done: int, total: int) -> None:
    _note(f"episode {trajectory.ending} {done}/{total}")


@hookimpl
def gde_run_finished(result: Result) -> None:
    _note(f"finished {result.status}")


def _note(event: str) -> None:
    if log := os.environ.get("ODD_PARTS_EVENTS"):
        with Path(log).open("a") as file:
            file.write(event + "\n")


class CorridorStudy:
    """Two corridors, of which the first is printed."""

    def plans(self, scale: float, agent: Choice) -> Mapping[str, Plan]:
        success = (Choice(name="success"),)
        return {
            name: Plan(
                environment=Choice(name="corridor", config={"length": length}),
                agent=agent,
                episodes=max(1, round(10 * scale)),
                metrics=success,
            )
            for name, length in (("short", 2), ("long", 4))
        }

    def compare(self, runs: Mapping[str, Run]) -> Sequence[Comparison]:
        printed = {"short": 0.75, "long": None}
        missing = Measurement(
            name="success", value=None, unit="share", n=0, reason="not in the run"
        )
        return [
            Comparison(
                quantity=f"success in the {name} corridor",
                paper=printed[name],
                ours=next(
                    (
                        each
                        for each in run.result.measurements
                        if each.name == "success"
                    ),
                    missing,
                ),
                source="Table 1",
                table="Success",
            )
            for name, run in runs.items()
        ]

    def figures(self, runs: Mapping[str, Run]) -> Sequence[Figure]:
        raise GdeError("figures need altair")


class ArmchairStudy(CorridorStudy):
    """Nobody walks."""

    agentless = True

    def plans(self, scale: float, agent: Choice) -> Mapping[str, Plan]:
        return {}


@hookimpl
def gde_reproductions() -> Sequence[Offer[Any, Any]]:
    return (
        Offer(
            name="corridors",
            summary="s",
            config=NoConfig,
            make=lambda _, __: CorridorStudy(),
        ),
        Offer(
            name="armchair",
            summary="s",
            config=NoConfig,
            make=lambda _, __: ArmchairStudy(),
        ),
    )


def _talkative(evidence: object) -> Sequence[Measurement]:
    print("a metric")  # noqa: T201
    return ()


def _broken(evidence: object) -> Sequence[Measurement]:
    raise ZeroDivisionError("nothing to divide by")


@hookimpl
def gde_metrics() -> Sequence[MetricOffer[Any, Any]]:
    return (
        MetricOffer(
            name="broken", summary="s", config=NoConfig, make=lambda _, __: _broken
        ),
        MetricOffer(
            name="talkative",
            summary="s",
            config=NoConfig,
            make=lambda _, __: _talkative,
        ),
    )
