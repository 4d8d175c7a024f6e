"""The extractor that asks a language model: three questions a turn, each repeated after
an unusable answer.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from gde.data.completion import AnswerForm, ChatRequest, Message, Sampling
from gde.data.transcript import Transcript
from gde.errors import GdeError, RunFailed, Unavailable
from gde.parts.language_model import LanguageModel
from gde_plugins.statefactory.config import StateFactoryConfig
from gde_plugins.statefactory.language_model.answers import Malformed, parse_items
from gde_plugins.statefactory.language_model.prompts import (
    NOTHING,
    Question,
    again,
    ask,
    written,
)
from gde_plugins.statefactory.state import Items, Reading

SHOWN = 2000
"""Characters of an unusable answer that the model is shown again."""
ANY_JSON = AnswerForm(kind="json")
ASKED_AGAIN = "asked again"
UNREAD = "unread, held"


class Unreadable(Exception):
    """A turn whose answers stay unusable; says why."""


@dataclass(frozen=True)
class ModelExtractor:
    """Implements `gde_plugins.statefactory.state.Extractor`."""

    config: StateFactoryConfig
    model: LanguageModel

    async def read(self, transcript: Transcript) -> Reading:
        made_by = f"language model {self.config.model}, level {self.config.level}"
        task = transcript.objective
        if not task:
            lacking = "the world has no fact `objective` that says what is asked for"
            return Reading(made_by=made_by, failure=lacking)

        episode = _Episode(self, task)
        try:
            for index, step in enumerate(transcript.steps):
                await episode.turn(index, step.action or NOTHING, step.observation)
        except Unreadable as error:
            return Reading(made_by=made_by, counts=episode.counts, failure=str(error))
        return Reading(
            made_by=made_by,
            states=episode.states,
            goals=episode.goals,
            counts=episode.counts,
        )


@dataclass
class _Episode:
    by: ModelExtractor
    task: str
    states: list[Items] = field(default_factory=list)
    goals: list[Items] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    async def turn(self, index: int, action: str, observation: str) -> None:
        """Read one turn.

        Raises:
            Unreadable: an answer stays unusable, and none is held instead.
        """
        last_states = self.states[-1:]
        last_goals = self.goals[-1:]
        level = self.by.config.level
        task = ("Task", self.task)
        acted = ("Action", action)
        observed = ("Observation", observation)
        step = ("Step", f"{index}, {action}")
        known = (
            "Previous States",
            "".join(written(each, level) for each in last_states),
        )
        goal_so_far = (
            "Previous Goal",
            "".join(written(each, level) for each in last_goals),
        )

        current = await self._answer(
            index, "current", [task, goal_so_far, acted, observed, known], last_states
        )
        present = ("Current State", written(current, level))
        state = await self._answer(
            index, "state", [task, known, present, acted], last_states
        )
        now = ("Current State", written(state, level))
        goal = await self._answer(
            index, "goal", [task, now, observed, step, goal_so_far], last_goals
        )
        self.states.append(state)
        self.goals.append(goal)

    async def _answer(
        self,
        index: int,
        question: Question,
        sections: Sequence[tuple[str, str]],
        held: Sequence[Items],
    ) -> Items:
        """The objects of an answer; `held` has at most one answer to stand in for
        it.
        """
        reason = ""
        asked = ask(question, self.by.config.level, sections)
        messages = asked
        for attempt in range(self.by.config.repairs + 1):
            self.counts[ASKED_AGAIN] += attempt > 0
            text = ""
            try:
                text = await self._said(messages, attempt)
                return parse_items(text, empty=question != "goal")
            except Malformed as error:
                reason = str(error)
                messages = again(asked, text[:SHOWN] or NOTHING, reason)

        if self.by.config.unread != "hold" or not held:
            raise Unreadable(f"turn {index}: {question}: {reason}")
        self.counts[UNREAD] += 1
        return held[-1]

    async def _said(self, messages: tuple[Message, ...], attempt: int) -> str:
        """The model's answer.

        Raises:
            Malformed: the model refused the request.
            RunFailed: the model failed for good.
            Unavailable: the model cannot be reached.
        """
        config = self.by.config
        request = ChatRequest(
            messages=messages,
            # The same for every reward model, so that all read one extraction.
            seed=attempt,
            sampling=Sampling(
                temperature=config.temperature, top_p=1.0, max_tokens=config.max_tokens
            ),
            effort=config.effort,
            form=ANY_JSON,
        )
        try:
            completion = await self.by.model.complete(request)
        except (RunFailed, Unavailable):
            raise
        except GdeError as error:
            raise Malformed(str(error)) from error
        if completion.finish == "refusal":
            raise Malformed("the model refused")
        return completion.text
