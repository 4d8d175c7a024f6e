"""Before a run: is each served model there, and does it answer so that it can be read?

One real question is asked; what the whole run will ask is estimated from it. Models in
this process are left alone: they cost nothing, and a run begins by loading them.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import cast

from gde.data.completion import ChatRequest, Completion, FirstAnswer, Message, Sampling
from gde.data.json import Json
from gde.data.plan import Plan
from gde.data.trajectory import Decision, EpisodeKey
from gde.errors import GdeError
from gde.offers import Capability, ModelOffer
from gde.parts.agent import Agent, Brief
from gde.parts.language_model import LanguageModel, Served
from gde.request.catalogue import Catalogue
from gde.request.resolve import Chosen, Ready
from gde.runs.evaluating import prepare
from gde.stages.asking import Decorator
from gde.stages.context import WORLD_CAPABILITIES, Resources, RunContext, agent_seed
from gde.stages.episode import Opening, begin_world
from gde.stages.judging import Judge
from gde.stages.rollout import Listed, episode_keys, list_worlds, seed_of

QUESTIONS = 3
"""Worlds in which the agent is asked until it gives a usable answer: one answer in
three may be unusable by chance.
"""
NEUTRAL = ChatRequest(
    messages=(Message(role="user", content="Answer with the word yes."),),
    seed=0,
    sampling=Sampling(max_tokens=2_000),
)
"""The question to models that no agent asks."""
NEEDS_MORE = {*WORLD_CAPABILITIES, Capability.SIMULATOR}
"""Capabilities of agents that cannot be asked outside of an episode."""
SHOWN = 200


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """About what a run asks of the agent's model, if no episode ends early."""

    calls: int
    tokens: int | None
    """None where the server does not count them."""
    hours: float
    """If requests are as fast as the first one."""
    cost: float | None
    """None without prices."""

    def __str__(self) -> str:
        tokens = "tokens unknown" if self.tokens is None else f"{self.tokens:,} tokens"
        cost = "no prices set" if self.cost is None else f"cost {self.cost:,.2f}"
        return f"about {self.calls:,} calls, {tokens}, {self.hours:.2g} hours, {cost}"


@dataclass(frozen=True, kw_only=True)
class Preflight:
    """What was found out before a run."""

    plan: Plan
    """The plan with the settings that its models turned out to need."""
    notes: tuple[str, ...] = ()
    """Sentences on what was changed, and the estimate."""
    estimate: Estimate | None = None
    over: str = ""
    """The limit of the plan that the estimate exceeds; empty for none."""


def preflight(plan: Plan, catalogue: Catalogue | None = None) -> Preflight:
    """Ask every served model of a plan once; nothing is written.

    Raises:
        GdeError: the plan is refused, a model cannot be asked, or none of the agent's
        first answers can be used.
    """
    ready = prepare(plan, catalogue)
    served = [name for name, model in ready.models.items() if _is_served(model)]
    if not served:
        return Preflight(plan=plan)
    with closing(Resources(ready)) as resources:
        return asyncio.run(_ask_all(ready, resources, served))


def _is_served(model: Chosen) -> bool:
    offer = model.entry.offer
    return isinstance(offer, ModelOffer) and offer.served


async def _ask_all(
    ready: Ready, resources: Resources, served: Sequence[str]
) -> Preflight:
    settings: dict[str, Mapping[str, Json]] = {}
    estimate: Estimate | None = None
    for name in served:
        model = cast("Served", resources.models.get(name))
        if name == ready.agent_model and not NEEDS_MORE & ready.agent.needs:
            asked = await _ask_as_agent(ready, resources)
            settings[name] = asked[0].settings if asked else {}
            if asked:
                estimate = _estimate(ready, resources, asked)
        else:
            settings[name] = (await model.first(NEUTRAL)).settings

    notes = []
    models = []
    for choice in ready.plan.models:
        changes = settings.get(choice.label, {})
        models.append(replace(choice, config={**choice.config, **changes}))
        for field_name, value in changes.items():
            notes.append(
                f"{choice.label}: the server needs {field_name}={value}; it is set"
            )
    if estimate is not None:
        notes.append(str(estimate))
    return Preflight(
        plan=replace(ready.plan, models=tuple(models)),
        notes=tuple(notes),
        estimate=estimate,
        over=_over(ready.plan, estimate),
    )


@dataclass(eq=False)
class _First(Decorator):
    """Asks as before a run, and keeps what it was answered."""

    answers: list[FirstAnswer] = field(default_factory=list)

    async def complete(self, request: ChatRequest) -> Completion:
        answer: FirstAnswer = await self._model.first(request)  # type: ignore[attr-defined]
        self.answers.append(answer)
        return answer.completion


async def _ask_as_agent(ready: Ready, resources: Resources) -> list[FirstAnswer]:
    """The answers to the requests of one usable turn; empty if it asked nothing.

    Raises:
        GdeError: the model cannot be asked, or no answer can be used.
    """
    worlds = list_worlds(ready, resources)
    decision: Decision | None = None
    for key in islice(episode_keys(ready, worlds), QUESTIONS):
        first: list[_First] = []
        through = _remember(first)
        context = RunContext(resources, "agent", ready.agent.label, None, through)
        agent: Agent = ready.agent.make(context)
        opening = _opened(ready, resources, worlds, key)
        agent.begin(Brief(task=opening.task, seed=agent_seed(ready.plan.seed, key)))
        decision = await agent.act(opening.observation)
        answers = [answer for model in first for answer in model.answers]
        if decision.status == "ok":
            return answers
        if decision.completion is None:
            raise GdeError(decision.detail)
    if decision is None:
        return []
    raise GdeError(_unusable(decision, ready))


def _opened(
    ready: Ready, resources: Resources, worlds: Listed, key: EpisodeKey
) -> Opening:
    part = ready.conditions[key.condition].environment
    with closing(resources.make(part)) as environment:
        return begin_world(environment, seed_of(ready, worlds, key), Judge())


def _remember(made: list[_First]) -> Callable[[LanguageModel], LanguageModel]:
    def through(model: LanguageModel) -> LanguageModel:
        made.append(_First(model))
        return made[-1]

    return through


def _unusable(decision: Decision, ready: Ready) -> str:
    assert decision.completion is not None
    remedy = {
        "truncated": "raise agent.max_tokens, or set a lower model.effort",
        "empty": "raise agent.max_tokens",
        "refusal": "take another model",
    }.get(
        decision.status,
        "take another model, or another form of answer in the agent's settings",
    )
    answer = decision.completion.text[:SHOWN]
    return (
        f"model {ready.agent_model!r}: none of {QUESTIONS} first answers can be used ({decision.status}:"
        f" {decision.detail}); the last was {answer!r}: {remedy}, or run with --no-preflight"
    )


def _estimate(
    ready: Ready, resources: Resources, answers: list[FirstAnswer]
) -> Estimate:
    """What the run asks if every turn is like the first, and no episode ends early."""
    worlds = list_worlds(ready, resources)
    horizons: dict[int, int] = {}
    turns = 0
    for key in episode_keys(ready, worlds):
        # The first world stands for all of its condition.
        if key.condition not in horizons:
            opening = _opened(ready, resources, worlds, key)
            horizons[key.condition] = opening.task.horizon
        turns += horizons[key.condition]
    calls = turns * len(answers)

    plan = ready.plan
    prompt = answer = 0
    counted = True
    for each in answers:
        completion = each.completion
        counted &= None not in (completion.n_prompt, completion.n_completion)
        prompt += completion.n_prompt or 0
        answer += completion.n_completion or 0
    prices = plan.prices.get(ready.agent_model)
    cost = None
    if prices is not None and counted:
        cost = turns * (prompt * prices[0] + answer * prices[1]) / 1e6
    seconds = turns * sum(each.seconds for each in answers)
    return Estimate(
        calls=calls,
        tokens=turns * (prompt + answer) if counted else None,
        hours=seconds / plan.concurrency / 3600,
        cost=cost,
    )


def _over(plan: Plan, estimate: Estimate | None) -> str:
    """The first limit of the plan that the run would exceed; empty for none."""
    if estimate is None:
        return ""
    amounts = {
        "max_calls": estimate.calls,
        "max_tokens": estimate.tokens,
        "max_cost": estimate.cost,
    }
    for name, amount in amounts.items():
        limit = getattr(plan, name)
        if limit is not None and amount is not None and amount > limit:
            return f"the run would stop at run.{name}={limit}"
    return ""
