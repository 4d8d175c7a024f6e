"""An episode of gde as a solver of Inspect: the agent asks Inspect's model."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from inspect_ai.model import GenerateConfig, Model, ModelOutput, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from gde.data.completion import ChatRequest, Completion, Finish, ModelInfo
from gde.data.plan import Choice, Plan
from gde.data.trajectory import EpisodeKey, Trajectory
from gde.errors import GdeError
from gde.offers import AnyOffer, Capability
from gde.parts.agent import Agent
from gde.parts.answer_forms import refuse_form
from gde.parts.context import OutsideRun
from gde.parts.environment import Environment
from gde.parts.interventions import refuse_interventions
from gde.parts.language_model import LanguageModel
from gde.request.catalogue import Catalogue
from gde.request.resolve import resolve
from gde.request.settings import build
from gde.runs.plain import trajectory_json
from gde.stages.asking import Scope
from gde.stages.episode import Episode
from gde.stages.failing import pass_on, reason_of
from gde.stages.hosting import Host
from gde.stages.models import Models
from gde.stages.rollout import world_seed
from gde.store.journal import Journal
from gde_plugins.exchange.inspect_messages import chat, conversation

FINISHES: Mapping[str, Finish] = {
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "refusal",
}
RECORD = "gde"
"""Of a sample's metadata: the trajectory."""
OF_THE_AGENT = "agent."
PREFIX = "inspect:"
"""Before the names of Inspect's models in the record."""


class InspectModel:
    """Implements `gde.parts.language_model.LanguageModel` by Inspect's model."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(name=f"{PREFIX}{self._model}")

    async def complete(self, request: ChatRequest) -> Completion:
        refuse_interventions(request, self.info)
        refuse_form(request, self.info)
        asked = chat(request.messages)
        drawn = request.sampling
        config = GenerateConfig(
            temperature=drawn.temperature,
            top_p=drawn.top_p,
            max_tokens=drawn.max_tokens,
            seed=request.seed % 2**31,
            reasoning_effort=request.effort,
        )
        return _completion(await self._model.generate(asked, config=config), request)

    def close(self) -> None:
        """Inspect holds the model."""


def _completion(output: ModelOutput, request: ChatRequest) -> Completion:
    """Reasoning apart from the answer, where the model tells it apart."""
    content = output.message.content
    parts = [] if isinstance(content, str) else content
    thoughts = [each.reasoning for each in parts if each.type == "reasoning"]
    used = output.usage
    return Completion(
        text=output.completion,
        reasoning="\n".join(thoughts) or None,
        finish=FINISHES.get(str(output.stop_reason), "stop"),
        n_prompt=used.input_tokens if used else None,
        n_completion=used.output_tokens if used else None,
        answered_by=output.model,
        request=request.identity,
        model=str(output.model),
    )


class _Context(OutsideRun):
    """Has Inspect's model asked, whichever model an agent names."""

    def __init__(self, scope: Scope, seed: int, model: str) -> None:
        self._scope = scope
        self.seed = seed
        self._model = model
        """The name of Inspect's model, under which the record has its answers."""

    def model(self, _: str) -> LanguageModel:
        return self._scope.model(self._model)


def usual_agent(environment: str, catalogue: Catalogue) -> str:
    """The default agent of the environment's distribution, else of all installed.

    Raises:
        GdeError: there is none, or more than one.
    """
    home = catalogue.find("environment", environment).distribution
    usual = [entry for entry in catalogue.entries("agent") if entry.offer.default]
    found = [entry for entry in usual if entry.distribution == home] or usual
    if len(found) != 1:
        known = ", ".join(entry.qualified for entry in found) or "none"
        raise GdeError(
            f"agent: wanted one default agent for environment {environment!r}, got {known}; say -T agent=NAME"
        )
    name = found[0].offer.name
    return name if name in catalogue.names("agent") else found[0].qualified


def _configured(
    kind: str, name: str, settings: Mapping[str, Any]
) -> tuple[AnyOffer, Any]:
    """An offer with its typed configuration."""
    offer = Catalogue.default().find(kind, name).offer
    return offer, build(offer.config, settings, name)


@dataclass(frozen=True)
class Setting:
    """The parts of a task, as plain values and made."""

    environment: str
    agent: str
    seed: int
    config: Mapping[str, Any]
    """Of the environment."""
    agent_config: Mapping[str, Any]

    @classmethod
    def of(
        cls, environment: str, agent: str, seed: int, settings: Mapping[str, Any]
    ) -> "Setting":
        """Split and check the settings; names with `agent.` belong to the agent.

        Raises:
            GdeError: an unknown name or field, or a value out of range.
        """
        own = {}
        rest = {}
        for name, value in settings.items():
            if name.startswith(OF_THE_AGENT):
                own[name.removeprefix(OF_THE_AGENT)] = value
            else:
                rest[name] = value
        catalogue = Catalogue.default()
        agent = agent or usual_agent(environment, catalogue)
        # Wrong values are refused now.
        _configured("environment", environment, rest)
        _configured("agent", agent, own)
        return cls(environment, agent, seed, rest, own)

    @property
    def plain(self) -> dict[str, Any]:
        """The setting as plain values for Inspect's log."""
        return {
            **vars(self),
            "config": dict(self.config),
            "agent_config": dict(self.agent_config),
        }

    def usual_metrics(self) -> list[str]:
        """What a run of gde measures of the two where nobody names a metric."""
        plan = Plan(
            environment=Choice(name=self.environment, config=self.config),
            agent=Choice(name=self.agent, config=self.agent_config),
        )
        return [each.name for each in resolve(plan, Catalogue.default()).plan.metrics]

    def make_environment(self) -> Environment:
        """A new environment."""
        offer, config = _configured("environment", self.environment, self.config)
        made: Environment = offer.made(config, OutsideRun())
        return made

    def make_agent(self, scope: Scope, model: str) -> Agent:
        """A new agent that asks Inspect's model of this name within the scope."""
        offer, config = _configured("agent", self.agent, self.agent_config)
        made: Agent = offer.made(config, _Context(scope, self.seed, model))
        return made

    async def play(self, key: EpisodeKey, model: InspectModel) -> Trajectory:
        """Play an episode as a run would, but alone, and give its trajectory."""
        with (
            TemporaryDirectory(prefix="gde-") as folder,
            closing(Journal.create(Path(folder) / "run.sqlite")) as journal,
            closing(self.make_environment()) as environment,
        ):
            episode = Episode(
                key=key,
                root=self.seed,
                seed=self.world_seed(key.world),
                labels={},
                host=Host(environment),
                models=Models(lambda _: model, journal),
                make_agent=partial(self.make_agent, model=model.info.name),
                journal=journal,
                lends_world=True,
            )
            try:
                played, _ = await episode.play()
                await journal.end(key, played.ending, "", played.final_state)
            except BaseException as error:
                pass_on(error)
                # The agent's errors belong to the episode. All others are shown by
                # Inspect as those of its sample.
                decisions = journal.decisions(str(key))
                if not decisions or decisions[-1].status != "error":
                    raise
                await journal.end(key, "failed", reason_of(error), None)
            return journal.trajectory(str(key))

    def world_seed(self, world: int) -> int:
        """The seed of the same world in a run of gde."""
        offer = Catalogue.default().find("environment", self.environment).offer
        listed = 0
        if Capability.WORLDS in offer.gives:
            with closing(self.make_environment()) as environment:
                listed = len(environment.worlds())  # type: ignore[attr-defined]
        return world_seed(self.seed, world, listed)

    def objective(self, world: int) -> str:
        """What is asked for in a world."""
        with closing(self.make_environment()) as environment:
            shown = environment.reset(self.world_seed(world))
            return f"{environment.task().objective}\n\n{shown.text}"


@solver  # type: ignore[untyped-decorator]  # types are checked without Inspect
def episode(setting: dict[str, Any]) -> Solver:
    """Play the episode of a sample's world; keep the trajectory in its metadata."""
    parts = Setting(**setting)

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - the agent asks by itself
        model = InspectModel(get_model())
        world = int(state.metadata["world"])
        key = EpisodeKey(condition=0, world=world, repeat=state.epoch - 1)
        played = await parts.play(key, model)
        state.metadata[RECORD] = trajectory_json(played)
        # Inspect's own record has the calls of all turns. An agent without memory has
        # a conversation in each, of which the last one stands here.
        state.messages = conversation(played.turns[-1])
        state.output = ModelOutput.from_content(
            str(get_model()), played.turns[-1].decision.action or ""
        )
        state.completed = True
        return state

    return solve
