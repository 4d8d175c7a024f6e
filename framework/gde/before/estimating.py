"""What a plan would ask of language models, counted without asking any.

In the first world of each condition, the agent takes its first turn before a model that
says nothing. All turns are taken to be like it, and no episode to end early.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from shutil import disk_usage

from gde.before.first_turn import FirstTurn
from gde.data.completion import ChatRequest, Completion, ModelInfo
from gde.data.estimate import Estimate
from gde.data.footprint import GB, Footprint
from gde.data.trajectory import EpisodeKey
from gde.errors import GdeError
from gde.offers import Capability, EnvironmentOffer, ModelOffer
from gde.parts.awaiting import finished
from gde.parts.environment import Environment
from gde.parts.probe import reads_one_turn
from gde.request.names import model_names
from gde.request.ready import Chosen, Ready
from gde.stages.budget import PER, Cost, left_of, most_tokens, needs
from gde.stages.context import Resources, RunContext
from gde.stages.failing import pass_on
from gde.stages.fits import initialisations_of
from gde.stages.models import Models
from gde.stages.rollout import Listed, episode_keys, list_worlds, seed_of

CHARACTERS = 4
"""Of a token, about."""
TOKENS = 3
"""Of a position, about."""
RATE = 10_000
"""Tokens a second of a forward pass. It is stated with the time that follows from it."""
UNKNOWN = "calls depend on the answers"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the agent of a plan asks in all turns of all episodes."""

    episodes: int
    turns: int
    calls: int | None
    """None where the agent cannot be asked outside of an episode."""
    characters: int = 0
    """Of all prompts."""
    characters_first: int = 0
    """Of the prompts of the first turn alone."""
    answer_tokens: int = 0
    """At most."""


@dataclass(eq=False)
class _Silent:
    """A language model that says nothing, and keeps what it was asked."""

    name: str
    asked: list[ChatRequest] = field(default_factory=list)

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(name=self.name)

    async def complete(self, request: ChatRequest) -> Completion:
        self.asked.append(request)
        return Completion(text="", reasoning=None, finish="stop")

    def close(self) -> None:
        """Nothing to release."""


def estimates(plan: str, ready: Ready, asked: Asked) -> list[Estimate]:
    """Estimate what each part of a plan asks; empty where none asks.

    Args:
        plan: its name in the estimates.
        ready: the plan.
        asked: what was counted of it.
    """
    found = []
    if ready.agent_model:
        one = unknown(plan, ready.agent, asked)
        if asked.calls is not None:
            prompt = asked.characters // CHARACTERS
            one = replace(
                one,
                calls=asked.calls,
                prompt_tokens=prompt,
                answer_tokens=asked.answer_tokens,
                cost=cost_of(ready, ready.agent_model, prompt, asked.answer_tokens),
                note="",
            )
        found.append(one)
    for chosen in ready.rewards:
        if model_names(chosen.config):
            found.append(unknown(plan, chosen, asked))
    if ready.agent_model:
        found += _of_probes(plan, ready, asked)
    return found


def unknown(plan: str, chosen: Chosen, asked: Asked) -> Estimate:
    """The estimate of a part whose calls depend on the answers."""
    return Estimate(plan=plan, part=chosen.label, episodes=asked.episodes, note=UNKNOWN)


def cost_of(ready: Ready, model: str, prompt: float, answer: float) -> float | None:
    """The cost of numbers of tokens; None without prices."""
    prices = ready.how.prices.get(model)
    if prices is None:
        return None
    return (prompt * prices[0] + answer * prices[1]) / PER


def _of_probes(plan: str, ready: Ready, asked: Asked) -> Iterator[Estimate]:
    """What replay takes of time, disk and memory, where the weights tell their size."""
    free = disk_usage(".").free
    with closing(Resources(ready)) as resources:
        for chosen in ready.probes:
            size = _footprint(ready, ready.read_model(chosen))
            if size is None:
                continue
            probe = resources.make(chosen)
            info = ModelInfo(name="", n_layers=size.n_layers, width=size.width)
            request = probe.capture(info)
            draws = initialisations_of(ready.plan, info, probe)
            of_control = asked.episodes if reads_one_turn(probe) else asked.turns
            turns = asked.turns + draws * of_control

            numbers = TOKENS * size.width * len(request.layers) * len(request.positions)
            disk = turns * numbers * size.activation
            tokens = asked.characters // CHARACTERS + asked.answer_tokens
            hours = tokens / max(1, asked.turns) * turns / RATE / 3600
            short = f", only {free / GB:.3g} free here" if disk > free else ""
            note = (
                f"replay of {turns:,} turns, {draws} random initialisations included: at most {hours:.2g} h at"
                f" {RATE:,} tokens/s, about {disk / GB:.3g} GB on disk{short}; {size.text()}"
            )
            yield Estimate(
                plan=plan,
                part=chosen.label,
                episodes=asked.episodes,
                calls=0,
                prompt_tokens=0,
                answer_tokens=0,
                cost=0.0,
                note=note,
            )


def _footprint(ready: Ready, name: str) -> Footprint | None:
    """The size of a model's weights; None if it does not tell."""
    model = ready.models[name]
    offer = model.entry.offer
    assert isinstance(offer, ModelOffer)
    return offer.footprint(model.config) if offer.footprint else None


def count(ready: Ready) -> Asked:
    """Count episodes, turns and the agent's questions of a plan.

    Turns are counted only where the plan has language models.
    """
    with closing(_silenced(ready)) as resources:
        worlds = list_worlds(ready, resources)
        keys: list[list[EpisodeKey]] = [[] for _ in ready.conditions]
        for key in episode_keys(ready, worlds):
            keys[key.condition].append(key)
        n_episodes = sum(map(len, keys))
        if not ready.models:
            return Asked(episodes=n_episodes, turns=0, calls=0)

        parts = []
        for one in filter(None, keys):
            parts.append(_count_condition(ready, resources, worlds, one))
    calls = [part.calls for part in parts]
    return Asked(
        episodes=n_episodes,
        turns=sum(part.turns for part in parts),
        calls=None if None in calls else sum(filter(None, calls)),
        characters=sum(part.characters for part in parts),
        characters_first=parts[0].characters_first if parts else 0,
        answer_tokens=sum(part.answer_tokens for part in parts),
    )


def check_budget(ready: Ready) -> None:
    """Refuse limits that the agent's first request may exceed alone.

    Raises:
        GdeError: they would stop the run before its first answer.
    """
    left = left_of(ready.how, Cost())
    if not left or not ready.agent_model:
        return
    with closing(_silenced(ready)) as resources:
        worlds = list_worlds(ready, resources)
        key = next(iter(episode_keys(ready, worlds)))
        chosen = ready.conditions[key.condition].environment
        with closing(resources.make(chosen)) as environment:
            questions = finished(
                _first_questions(ready, resources, worlds, key, environment)
            )
    for question in questions:
        needed = needs(left, ready.how.prices, ready.agent_model, most_tokens(question))
        for limit, amount in needed.items():
            if amount > left[limit]:
                raise GdeError(
                    f"run.{limit}={left[limit]:g}: one request may take {amount:g}; raise it, or lower agent.max_tokens"
                )


def _silenced(ready: Ready) -> Resources:
    """The parts of a plan, with language models that say nothing."""
    resources = Resources(ready)
    resources.models = Models(
        lambda name: _Silent(ready.models[name].name), journal=None
    )
    return resources


def _count_condition(
    ready: Ready, resources: Resources, worlds: Listed, keys: list[EpisodeKey]
) -> Asked:
    """Count the episodes of one condition."""
    chosen = ready.conditions[keys[0].condition].environment
    with closing(resources.make(chosen)) as environment:
        turns = _turns(ready, environment, worlds, keys, chosen)
        if not ready.agent_model:
            return Asked(episodes=len(keys), turns=turns, calls=0)
        questions = finished(
            _first_questions(ready, resources, worlds, keys[0], environment)
        )

    characters = 0
    answer_tokens = 0
    for question in questions:
        characters += sum(len(message.content) for message in question.messages)
        answer_tokens += question.sampling.max_tokens
    return Asked(
        episodes=len(keys),
        turns=turns,
        calls=turns * len(questions) if questions else None,
        characters=turns * characters,
        characters_first=characters,
        answer_tokens=turns * answer_tokens,
    )


def _turns(
    ready: Ready,
    environment: Environment,
    worlds: Listed,
    keys: list[EpisodeKey],
    chosen: Chosen,
) -> int:
    """The most turns of these episodes together."""
    offer = chosen.entry.offer
    assert isinstance(offer, EnvironmentOffer)

    # A simulator takes seconds to begin a world: its first one stands for all.
    looked_at = keys[:1] if offer.blocking else keys
    turns = 0
    horizons: dict[int, int] = {}
    for key in looked_at:
        if key.world not in horizons:
            environment.reset(seed_of(ready, worlds, key))
            horizons[key.world] = environment.task().horizon
        turns += horizons[key.world]
    return turns * len(keys) // len(looked_at)


async def _first_questions(
    ready: Ready,
    resources: Resources,
    worlds: Listed,
    key: EpisodeKey,
    environment: Environment,
) -> list[ChatRequest]:
    """What the agent asks before its first action; empty if nobody can know."""
    if Capability.SIMULATOR in ready.agent.needs:
        return []
    context = RunContext(resources, "agent", ready.agent.label, None)
    try:
        seed = seed_of(ready, worlds, key)
        await FirstTurn.of(ready, key, seed, environment).decide(context)
    except BaseException as error:
        # An agent may need more of its model than answers.
        pass_on(error)
        return []
    model = resources.models.get(ready.agent_model)
    assert isinstance(model, _Silent)
    asked = [*model.asked]
    model.asked.clear()
    return asked
