"""Before a run: is each served model there, and does it answer so that it can be read?

One real question is asked for each part; what the whole run will ask is estimated from
it. Models in this process are left alone: they cost nothing, and a run begins by
loading them.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import cast

from gde.before.estimating import Asked, check_budget, cost_of, count, unknown
from gde.before.first_turn import FirstTurn
from gde.before.preparing import prepare
from gde.before.spending import Question
from gde.data.completion import ChatRequest, Completion, Message, Sampling
from gde.data.estimate import Estimate, together
from gde.data.how import How
from gde.data.json import Json
from gde.data.model_use import has_few_tokens
from gde.data.plan import Plan
from gde.data.trajectory import Decision, Trajectory
from gde.errors import GdeError
from gde.offers import Capability, ModelOffer
from gde.parts.awaiting import finished
from gde.parts.language_model import LanguageModel, Served
from gde.request.catalogue import Catalogue
from gde.request.kinds import MODEL
from gde.request.models import with_model_settings
from gde.request.names import model_names
from gde.request.ready import Chosen, Ready
from gde.stages.asking import Decorator, Journaled
from gde.stages.context import Resources, RunContext
from gde.stages.replaying import problem_of
from gde.stages.rewarding import Shown
from gde.stages.rollout import episode_keys, list_worlds, remarks, seed_of

QUESTIONS = 3
"""Worlds in which the agent is asked until it gives a usable answer: one answer in
three may be unusable by chance.
"""
NEUTRAL = ChatRequest(
    messages=(Message(role="user", content="Answer with the word yes."),),
    seed=0,
    sampling=Sampling(max_tokens=2_000),
)
"""The question to models that no part can ask before a run."""
SHOWN = 200
AUTO = "auto"
"""The value of a setting that leaves it to its part."""
LOWERABLE = {"medium", "high"}
"""Efforts that a server was sent, and has lower ones than."""
ANYWAY = "skip the preflight to begin anyway"


@dataclass(frozen=True, kw_only=True)
class Preflight:
    """What was found out before a run."""

    plan: Plan
    """The plan with the settings that its models turned out to need."""
    how: How
    notes: tuple[str, ...] = ()
    """Sentences on the worlds, and on what was changed."""
    readings: tuple[str, ...] = ()
    """The agent's first answers, and how each was read."""
    estimates: tuple[Estimate, ...] = ()
    """What each part will ask of served models."""
    questions: tuple[Question, ...] = ()
    """What was asked, which counts against the limits of the run."""

    @property
    def over(self) -> str:
        """The first limit of the plan that the run would exceed; empty for none."""
        run = together(self.estimates)
        amounts = {
            "max_calls": None if run.calls is None else run.calls + len(self.questions),
            "max_tokens": run.tokens,
            "max_cost": run.cost,
        }
        for name, amount in amounts.items():
            limit = getattr(self.how, name)
            if limit is not None and amount is not None and amount > limit:
                return f"the run would stop at run.{name}={limit}"
        return ""


def unasked(
    plans: Mapping[str, Plan], _: Catalogue, how: How
) -> Mapping[str, Preflight]:
    """The plans as they are, by name."""
    return {name: Preflight(plan=plan, how=how) for name, plan in plans.items()}


def preflight(
    plan: Plan,
    catalogue: Catalogue | None = None,
    how: How | None = None,
    name: str = "run",
    show: int = 1,
) -> Preflight:
    """Ask every served model of a plan once; nothing is written.

    The arguments are those of `gde.before.preparing.dry`, the name of the plan, and how
    many answers of the agent to show.

    Raises:
        GdeError: the plan is refused, a model cannot be asked, or none of the first
            answers to a part can be used.
    """
    ready = prepare(plan, catalogue, how)
    served = [label for label, model in ready.models.items() if _is_served(model)]
    with closing(Resources(ready)) as resources:
        said = remarks(ready, resources)
        if not served:
            return Preflight(plan=plan, how=ready.how, notes=said)
        check_budget(ready)
        questions = _Questions(name, plan, ready, resources, served, show, count(ready))
        finished(questions.ask_all())
    found = questions.result()
    return replace(found, notes=(*said, *found.notes))


def _is_served(model: Chosen) -> bool:
    offer = model.entry.offer
    return isinstance(offer, ModelOffer) and offer.served


@dataclass(eq=False)
class _First(Decorator):
    """Asks as before a run, and keeps what was answered."""

    _name: str
    _answers: list[Question]

    async def complete(self, request: ChatRequest) -> Completion:
        first = await cast("Served", self._model).first(request)
        self._answers.append(Question(model=self._name, request=request, first=first))
        return replace(first.completion, prompt=request.messages)


@dataclass(eq=False)
class _Questions:
    """Asks the served models of a plan on behalf of its parts."""

    name: str
    """Of the plan."""
    plan: Plan
    """As it was asked for."""
    ready: Ready
    resources: Resources
    served: Sequence[str]
    show: int
    asked: Asked
    answers: list[Question] = field(default_factory=list)
    """All of them, in their order."""
    readings: list[str] = field(default_factory=list)
    estimates: list[Estimate] = field(default_factory=list)

    async def ask_all(self) -> None:
        """Ask each model what its parts would ask, or else a neutral question.

        Raises:
            GdeError: a model cannot be asked, or none of its answers can be used.
        """
        ready = self.ready
        shown: Trajectory | None = None
        if ready.agent_model in self.served:
            # One with a simulator cannot be asked outside of an episode.
            if Capability.SIMULATOR in ready.agent.needs:
                self._estimate(ready.agent, ())
            else:
                shown = await self._ask_as_agent()

        for chosen in ready.rewards:
            names = model_names(chosen.config).values()
            if not any(name in self.served for name in names):
                continue
            shown = shown or self._any_turn()
            if shown is None:
                self._estimate(chosen, ())
            else:
                await self._ask_as_reward_model(chosen, shown)

        heard = {answer.model for answer in self.answers}
        for name in self.served:
            if name not in heard:
                model = cast("Served", self.resources.models.get(name))
                first = await model.first(NEUTRAL)
                self.answers.append(Question(model=name, request=NEUTRAL, first=first))
        self._check_sent()

    def result(self) -> Preflight:
        """The plan as its models need it, and what it will ask."""
        changes: dict[str, dict[str, Json]] = {}
        for answer in self.answers:
            changes.setdefault(answer.model, {}).update(answer.first.settings)

        notes = []
        for label, changed in changes.items():
            for setting in _settings(changed):
                notes.append(
                    f"{label} refuses the request as it is, so gde asks with {setting}"
                )
        short = {
            one.model
            for one in self.answers
            if has_few_tokens(one.request, one.first.completion)
        }
        for label in sorted(short):
            notes.append(
                f"{label} counts fewer tokens of a prompt than it has words: raise the context of its server"
            )
        return Preflight(
            plan=with_model_settings(self.plan, changes),
            how=self.ready.how,
            notes=tuple(notes),
            readings=tuple(self.readings),
            estimates=tuple(self.estimates),
            questions=tuple(self.answers),
        )

    def _check_sent(self) -> None:
        """Refuse to leave out what a user has set, since it is part of the condition.

        Raises:
            GdeError: a model refuses it.
        """
        plan = self.plan
        asking = (plan.agent, *plan.rewards, *plan.probes, *plan.metrics)
        set_by_user = {choice.label: choice.config for choice in asking}
        for answer in self.answers:
            for part in self.ready.parts:
                if answer.model in model_names(part.config).values():
                    config = set_by_user.get(part.label, {})
                    self._refuse_unsent(answer, part, config)

    def _refuse_unsent(
        self, answer: Question, part: Chosen, config: Mapping[str, Json]
    ) -> None:
        for name, refusal in answer.first.unsent.items():
            value = config.get(name, AUTO)
            if value == AUTO:
                continue
            is_agents = answer.model == self.ready.agent_model
            whose = MODEL.table if is_agents else answer.model
            needed = [f"{whose}.{each}" for each in _settings(answer.first.settings)]
            raise GdeError(
                f"{part.whose}.{name}={value}: model {answer.model!r} refuses it ({refusal}). Take a value"
                f" that it takes, leave it out, or set {' and '.join(needed)} to ask without"
            )

    def _context(self, chosen: Chosen, answers: list[Question]) -> RunContext:
        """The context of a part, whose questions to served models are kept."""

        def through(model: LanguageModel) -> LanguageModel:
            assert isinstance(model, Journaled)
            if model.name not in self.served:
                return model
            return _First(model, model.name, answers)

        return RunContext(self.resources, chosen.kind, chosen.label, None, through)

    def _first_turns(self) -> Iterator[FirstTurn]:
        """Begin an episode in one world after another."""
        ready = self.ready
        worlds = list_worlds(ready, self.resources)
        most = max(QUESTIONS, self.show)
        for key in islice(episode_keys(ready, worlds), most):
            chosen = ready.conditions[key.condition].environment
            with closing(self.resources.make(chosen)) as environment:
                seed = seed_of(ready, worlds, key)
                yield FirstTurn.of(ready, key, seed, environment)

    async def _ask_as_agent(self) -> Trajectory | None:
        """Let the agent decide until it can; give its turn, if it asked anything."""
        decision: Decision | None = None
        first: Trajectory | None = None
        problem = ""
        for n_asked, turn in enumerate(self._first_turns(), start=1):
            answers: list[Question] = []
            decision = await turn.decide(self._context(self.ready.agent, answers))
            self.answers += answers
            shown = turn.trajectory(decision)
            # The world may read nothing in what the agent takes for an action.
            decision = shown.turns[0].decision
            self._note(decision)
            if decision.status == "ok" and first is None:
                problem = self._unread(decision)
                first = None if problem else shown
                if first and answers:
                    self._estimate(self.ready.agent, answers)
            elif decision.status != "ok" and decision.completion is None:
                raise GdeError(decision.detail)
            if first and n_asked >= self.show:
                break
        if decision is None or first:
            return first
        raise GdeError(problem or _unusable(decision, self.ready))

    def _note(self, decision: Decision) -> None:
        """Show an answer as it was read."""
        if decision.completion is not None:
            said = _excerpt(decision.completion.text)
            read = decision.read or f"{decision.status}: {decision.detail}"
            self.readings.append(f"answered {said!r}, read as {read}")

    def _unread(self, decision: Decision) -> str:
        """Why a probe's weights cannot replay an answer; empty where all can."""
        ready = self.ready
        for chosen in ready.probes:
            name = ready.read_model(chosen)
            if decision.completion is None or name in ("", ready.agent_model):
                continue
            model = self.resources.models.white_box(name)
            if problem := problem_of(model, decision.completion):
                return (
                    f"{chosen.label}.weights: {name!r} cannot replay the answers of {ready.agent_model!r}: "
                    f"{problem}; set {chosen.label}.weights to the weights that are served, or {ANYWAY}"
                )
        return ""

    def _any_turn(self) -> Trajectory | None:
        """A turn with any action; None where actions are free text."""
        for turn in self._first_turns():
            actions = turn.opening.observation.actions
            if actions:
                return turn.trajectory(Decision.act(actions[0]))
        return None

    async def _ask_as_reward_model(self, chosen: Chosen, shown: Trajectory) -> None:
        answers: list[Question] = []
        model = chosen.make(self._context(chosen, answers))
        source = Shown(chosen.label, model, chosen.needs)
        found = await source.rewards(shown)
        self.answers += answers
        if found.failure:
            is_cut = bool(answers) and answers[-1].first.completion.finish == "length"
            remedy = f"raise {chosen.label}.max_tokens, or " if is_cut else ""
            raise GdeError(
                f"reward model {chosen.label!r} cannot score a first turn: {found.failure}; {remedy}{ANYWAY}"
            )
        self._estimate(chosen, answers)

    def _estimate(self, chosen: Chosen, answers: Sequence[Question]) -> None:
        """Take every turn to be like the one that was asked about."""
        one = unknown(self.name, chosen, self.asked)
        if answers:
            one = self._estimated(one, chosen, answers)
        self.estimates.append(one)

    def _estimated(
        self, one: Estimate, chosen: Chosen, answers: Sequence[Question]
    ) -> Estimate:
        asked = self.asked
        how = self.ready.how
        completions = [answer.first.completion for answer in answers]
        prompts = [each.n_prompt for each in completions]
        replies = [each.n_completion for each in completions]
        seconds = sum(answer.first.seconds for answer in answers)

        # Worlds differ in size, so prompts are taken to differ as their texts do.
        prompt_turns = float(asked.turns)
        if chosen is self.ready.agent and asked.characters_first:
            prompt_turns = asked.characters / asked.characters_first
        prompt_tokens = answer_tokens = cost = None
        if None not in prompts and None not in replies:
            prompt_tokens = round(prompt_turns * sum(filter(None, prompts)))
            answer_tokens = asked.turns * sum(filter(None, replies))
            cost = cost_of(self.ready, answers[0].model, prompt_tokens, answer_tokens)
        return replace(
            one,
            calls=asked.turns * len(answers),
            prompt_tokens=prompt_tokens,
            answer_tokens=answer_tokens,
            seconds=asked.turns
            * seconds
            / max(1, min(how.concurrency, asked.episodes)),
            cost=cost,
            note="",
        )


def _excerpt(text: str) -> str:
    """An answer in one line, without its middle: it concludes at its end."""
    line = " ".join(text.split())
    if len(line) <= SHOWN:
        return line
    return f"{line[: SHOWN // 2]} ... {line[-SHOWN // 2 :]}"


def _settings(changed: Mapping[str, Json]) -> Iterator[str]:
    """Settings of a model as the command line takes them."""
    for setting, value in changed.items():
        shown = ",".join(map(str, value)) if isinstance(value, list) else value
        yield f"{setting}={shown}"


def _unusable(decision: Decision, ready: Ready) -> str:
    assert decision.completion is not None
    remedy = ""
    if decision.status == "truncated" and decision.completion.effort in LOWERABLE:
        remedy = ", or set a lower model.effort"
    elif decision.status == "refusal":
        remedy = "; take another model"
    # The detail of other answers says what to set.
    answer = decision.completion.text[:SHOWN]
    return (
        f"model {ready.agent_model!r}: none of {QUESTIONS} first answers can be used, the last was {answer!r}"
        f" ({decision.status}: {decision.detail}){remedy}, or {ANYWAY}"
    )
