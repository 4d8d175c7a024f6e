"""The language models of a run: shared by all parts, journaled, and never asked the same again."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from time import perf_counter
from typing import Any

from gde.data.completion import ChatRequest, Completion, ModelInfo
from gde.data.json import Json
from gde.errors import GdeError, RunFailed, Unavailable
from gde.parts.language_model import LanguageModel, WhiteBox
from gde.stages.budget import Budget
from gde.stages.outages import Reach
from gde.stages.reuse import Reuse
from gde.store.journal import Journal

NOTED = "models"
"""The journal's note of the models that were asked, by the names that users gave them."""
IDENTIFYING = ("weights", "revision")
"""Of `ModelInfo.versions`, what another value of makes another model; other software may be used."""


class Models:
    """Makes each model when it is first asked for, once in a process."""

    def __init__(
        self,
        make: Callable[[str], LanguageModel],
        journal: Journal | None,
        budget: Budget | None = None,
        reuse: Reuse | None = None,
    ) -> None:
        """Take what makes a model of a name; without a journal nothing is kept."""
        self._make, self._journal = make, journal
        self._made: dict[str, LanguageModel] = {}
        self.reach = Reach()
        self.budget = budget or Budget(None, None)
        self.reuse = reuse or Reuse()
        self.configs: dict[str, Json] = {}
        """With what each model was made, by its name."""

    def get(self, name: str) -> LanguageModel:
        """The model itself, not journaled: for activations, and for what need not be repeated.

        Raises:
            GdeError: it cannot be made, or its weights are no longer those that answered in this run.
        """
        if name not in self._made:
            model = self._make(name)
            self._check(name, model.info)
            self._made[name] = model
            self._note(name)
        return self._made[name]

    def info(self, name: str) -> ModelInfo:
        """What was noted of the model when it was last made in this run; it is made where nothing was."""
        known = self._noted().get(name)
        return ModelInfo(**known) if known else self.get(name).info

    def white_box(self, name: str) -> WhiteBox:
        """The same, of one whose activations are read.

        Raises:
            GdeError: as `get`, or it gives none.
        """
        model = self.get(name)
        if not isinstance(model, WhiteBox):
            raise GdeError(f"language model {name!r} gives no activations: wanted `capture`, `tokenize`, `untrained`")
        return model

    def scope(self, name: str) -> "Scope":
        """The models as they are asked on behalf of an episode or a part."""
        return Scope(name, self, self._journal)

    def close(self) -> None:
        """Release every model that was made."""
        for model in self._made.values():
            model.close()
        self._made = {}
        self.reuse.close()

    def _check(self, name: str, info: ModelInfo) -> None:
        known = self._noted().get(name, {}).get("versions", {})
        for each in IDENTIFYING:
            if each in known and info.versions.get(each) != known[each]:
                now = info.versions.get(each, "unknown")
                raise GdeError(
                    f"language model {name!r} is no longer the one that answered in this run: its {each} were"
                    f" {known[each]}, now {now}; bring them back, or begin a new run"
                )

    def _noted(self) -> Mapping[str, Any]:
        return (self._journal.noted(NOTED) or {}) if self._journal is not None else {}

    def _note(self, name: str) -> None:
        if self._journal is not None:
            self._journal.add_note(NOTED, {name: asdict(self._made[name].info)})


class Scope:
    """What is asked of models on behalf of one episode or one part of the run."""

    def __init__(self, name: str, models: Models, journal: Journal | None) -> None:
        self.models, self.name = models, name
        self.turn: int | None = None
        """The turn in which the questions are asked, where there is one."""
        self.stopped: RunFailed | None = None
        """Why the run cannot go on, whatever the part that asked has made of it."""
        self.unanswered: Unavailable | None = None
        """Why the last request had no answer, where the model answers nobody."""
        self._journal = journal
        self._known = journal.calls(name) if journal is not None else {}
        self._asked: dict[str, asyncio.Lock] = {}

    def model(self, name: str) -> "Journaled":
        """A model that remembers in this scope."""
        return Journaled(self, name, self.models.get(name))

    def knows(self, completion: Completion) -> bool:
        """Whether the completion was given in this scope, in whatever form it is now."""
        return completion.request in self._known

    async def answer(self, name: str, model: LanguageModel, request: ChatRequest) -> Completion:
        """What the model answered to this request before, else what it answers now."""
        identity = request.asked_of(name)
        # Of two that ask the same at once, the second waits for the first: a server might answer twice differently.
        async with self._asked.setdefault(identity, asyncio.Lock()):
            if identity not in self._known:
                self._known[identity] = await self._new(name, model, request, identity)
        self._asked.pop(identity, None)
        return self._known[identity]

    async def _new(self, name: str, model: LanguageModel, request: ChatRequest, identity: str) -> Completion:
        reuse = self.models.reuse
        key = reuse.key(model, self.models.configs.get(name), request)
        try:
            if known := reuse.find(key):
                return await self._written(name, request, identity, known, cached=True)
            async with self.models.budget.call(name):
                answer, seconds = await self._asked_of(name, model, request)
                completion = await self._written(name, request, identity, answer, seconds=seconds)
                self.models.budget.count(completion)
                reuse.keep(key, completion)
        except RunFailed as error:
            self.stopped = error
            raise
        return completion

    async def _written(
        self, name: str, request: ChatRequest, identity: str, answer: Completion, **told: Any
    ) -> Completion:
        """The answer as it stands in the journal, with what is told of how it came."""
        completion = replace(
            answer, request=identity, model=name, prompt=request.messages, interventions=request.interventions, **told
        )
        if self._journal is not None:
            completion = self._journal.secrets.scrubbed_answer(completion)
            await self._journal.call(self.name, self.turn, completion)
        return completion

    async def _asked_of(self, name: str, model: LanguageModel, request: ChatRequest) -> tuple[Completion, float]:
        """What the model answers, and after how many seconds."""
        reach = self.models.reach
        begun = perf_counter()
        try:
            answer = await model.complete(request)
        except Unavailable as error:
            self.unanswered = error
            reach.unanswered(name, error)
            raise
        self.unanswered = None
        reach.answered(name)
        return answer, perf_counter() - begun


class Journaled:
    """A language model through which a part asks; what it can do beyond completing, it still can."""

    def __init__(self, scope: Scope, name: str, model: LanguageModel) -> None:
        self._scope, self._name, self._model = scope, name, model

    @property
    def info(self) -> ModelInfo:
        return self._model.info

    async def complete(self, request: ChatRequest) -> Completion:
        """The journaled answer to this request, else a new one."""
        return await self._scope.answer(self._name, self._model, request)

    def close(self) -> None:
        """The model belongs to the run and stays open."""

    def __getattr__(self, name: str) -> Any:
        """Activations and the like, which nothing is asked for."""
        return getattr(self._model, name)


def check_known(scope: Scope, completion: Completion | None) -> None:
    """Refuse a completion that no model of the run gave, which the record could not show.

    Raises:
        GdeError: it is one.
        RunFailed: the run cannot go on, e.g. because what was answered could not be kept.
    """
    if scope.stopped is not None:
        raise scope.stopped
    if completion is not None and not scope.knows(completion):
        wanted = "a completion of a model that the agent was made with (context.model), or a copy that keeps `request`"
        raise GdeError(f"the decision's completion is in no journal: wanted {wanted}, got {completion.text[:80]!r}")
