"""Four decorators around a language model, each a language model itself.

A part of the run asks the outermost one. A request goes inwards until something can
answer it:

1. `Journaled` answers what the same scope has asked before from the journal of this
   run.
2. `Cached` answers what an earlier run has asked before from the file `run.cache`.
3. `Budgeted` reserves what a request may take, and stops the run when its calls,
   tokens or money are spent.
4. `Watched` asks the model, measures the time, and stops the run when the model answers
   nobody.

`gde.stages.models.Models` builds the inner three, and `Scope` the outermost, for each
episode or part.
"""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from time import perf_counter
from typing import Any

from gde.data.completion import ChatRequest, Completion, ModelInfo
from gde.data.json import Json
from gde.data.model_use import PROMPT_CUT, has_few_tokens
from gde.errors import GdeError, RunFailed, Unavailable
from gde.parts.language_model import LanguageModel
from gde.parts.lending import lend
from gde.stages.budget import Budget
from gde.stages.outages import Reach
from gde.stages.reuse import Reuse
from gde.store.journal import Journal

RECENT = 8
"""The most earlier answers that a new one is compared with: a part may have 100,000."""


@dataclass(eq=False)
class Decorator:
    """A language model around another one, with all its other abilities."""

    _model: LanguageModel

    def __post_init__(self) -> None:
        # What only some models have, e.g. `capture`.
        lend(self, self._model)

    @property
    def info(self) -> ModelInfo:
        return self._model.info

    async def complete(self, request: ChatRequest) -> Completion:
        return await self._model.complete(request)

    def close(self) -> None:
        """Do nothing: the model belongs to the run, which closes it."""

    def __getattr__(self, name: str) -> Any:
        """Reach what is no method, e.g. of a third party's model."""
        return getattr(self._model, name)


@dataclass(eq=False)
class Watched(Decorator):
    """Asks the model; stops the run after several outages in a row."""

    _name: str
    _reach: Reach
    _journal: Journal | None

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer a request.

        Raises:
            Unavailable: the model answers nobody at the moment.
            RunFailed: it has been unavailable for some time.
        """
        begun = perf_counter()
        try:
            answer = await self._model.complete(request)
        except Unavailable as error:
            self._reach.unanswered(self._name, error)
            raise
        seconds = perf_counter() - begun
        self._reach.answered(self._name)

        # The decorators further out store the answer: no key that the server sent back
        # may reach them.
        if self._journal is not None:
            answer = self._journal.secrets.scrubbed_answer(answer)
        return replace(answer, seconds=seconds)


@dataclass(eq=False)
class Budgeted(Decorator):
    """Reserves what requests may take, and stops the run when its budget is spent."""

    _name: str
    _budget: Budget
    _scope: str

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer a request within the budget.

        Raises:
            RunFailed: the budget is spent, or its limits cannot be checked.
        """
        return await self._budget.answered(
            self._scope, self._name, self._model, request
        )


@dataclass(eq=False)
class Cached(Decorator):
    """Answers from the cache of earlier runs, and adds new answers to it."""

    _config: Json
    _reuse: Reuse

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer a request from the cache, or else ask.

        Raises:
            RunFailed: the cache cannot be read or written.
        """
        key = self._reuse.key(self._model, self._config, request)
        known = self._reuse.find(key)
        if known is not None:
            return replace(known, cached=True)
        answer = await self._model.complete(request)
        self._reuse.keep(key, answer)
        return answer


class Scope:
    """An episode or part of the run on whose behalf models are asked.

    Equal requests in it get equal answers.
    """

    def __init__(
        self, name: str, find: Callable[[str], LanguageModel], journal: Journal | None
    ) -> None:
        """Take the name of the episode or part, a model finder and the journal.

        The journal keeps the answers.
        """
        self.name = name
        self.journal = journal
        self.turn: int | None = None
        """The turn in which models are asked; None outside of episodes."""
        self.stopped: RunFailed | None = None
        """Why the run cannot go on, even if the part that asked has caught the
        error.
        """
        self.unanswered: Unavailable | None = None
        """Why the last request had no answer, where the model was unavailable."""
        self.answers = journal.calls(name) if journal is not None else {}
        """All answers in this scope, by the identity of their requests."""
        self.locks: dict[str, asyncio.Lock] = {}
        """Held while a request is asked, by its identity."""
        self._find = find

    def model(self, name: str) -> "Journaled":
        """The model of this name, as it is asked in this scope."""
        return Journaled(self._find(name), name, self)


@dataclass(eq=False)
class Journaled(Decorator):
    """Answers known requests of its scope from the journal; records new answers."""

    name: str
    """As the user named it."""
    _scope: Scope

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer a request from the journal, or else ask.

        Raises:
            RunFailed: the journal cannot be written, or an inner decorator stops the
                run.
        """
        scope = self._scope
        identity = request.asked_of(self.name)

        # When two ask the same at once, the second waits for the first: a server might
        # give it another answer.
        async with scope.locks.setdefault(identity, asyncio.Lock()):
            if identity not in scope.answers:
                scope.answers[identity] = await self._ask(request, identity)
        scope.locks.pop(identity, None)
        return scope.answers[identity]

    async def _ask(self, request: ChatRequest, identity: str) -> Completion:
        scope = self._scope
        try:
            answer = await self._model.complete(request)
            scope.unanswered = None
            return await self._write(answer, request, identity)
        except Unavailable as error:
            scope.unanswered = error
            raise
        except RunFailed as error:
            scope.stopped = error
            raise

    async def _write(
        self, answer: Completion, request: ChatRequest, identity: str
    ) -> Completion:
        """Write the answer with its request; return it as the journal has it."""
        journal = self._scope.journal
        completion = replace(
            answer,
            request=identity,
            model=self.name,
            prompt=request.messages,
            interventions=request.interventions,
        )
        answers = reversed(self._scope.answers.values())
        is_short = has_few_tokens(request, answer)
        if is_short or _lost_turns(completion, islice(answers, RECENT)):
            completion = replace(
                completion, served={**completion.served, PROMPT_CUT: "cut"}
            )
        if journal is not None:
            completion = journal.secrets.scrubbed_answer(completion)
            # The cache does not say when an answer was given.
            day = "" if completion.cached else today()
            await journal.call(self._scope.name, self._scope.turn, completion, day)
        return completion


def _lost_turns(answer: Completion, earlier: Iterable[Completion]) -> bool:
    """Whether a longer conversation than before had no more tokens for the server."""
    for one in earlier:
        n = len(one.prompt)
        is_longer = n < len(answer.prompt) and one.prompt == answer.prompt[:n]
        # A server that does not count says nothing or 0.
        before, now = one.n_prompt or 0, answer.n_prompt or 0
        if is_longer and one.model == answer.model and before >= now > 0:
            return True
    return False


def today() -> str:
    """The day in UTC, e.g. "2026-11-23"."""
    return str(datetime.now(UTC).date())


def check_known(scope: Scope, completion: Completion | None) -> None:
    """Refuse a completion that no model gave in this scope.

    The record could not show where it comes from.

    Raises:
        GdeError: no model gave the completion.
        RunFailed: the run cannot go on, e.g. because an answer could not be written.
    """
    if scope.stopped is not None:
        raise scope.stopped
    # Its text may have been changed since.
    if completion is not None and completion.request not in scope.answers:
        raise GdeError(
            f"the decision's completion is in no journal: {completion.text[:80]!r}. Decide by a completion of"
            " context.model(...), or by a copy of one that keeps `request`"
        )
