"""The extractor that asks a language model: three questions a turn, asked again where the answer cannot be used."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from gde.data.completion import ChatRequest, Effort, Message, Sampling
from gde.data.trajectory import Trajectory
from gde.errors import GdeError, RunFailed, Unavailable
from gde.parts.language_model import LanguageModel
from gde.seeding import derive
from gde_plugins.statefactory.language_model.answers import Malformed, parse_items
from gde_plugins.statefactory.language_model.prompts import NOTHING, Question, again, ask, written
from gde_plugins.statefactory.state import Items, Level, Reading

SHOWN = 2000
"""Characters of an unusable answer that the model is shown again."""
ASKED_AGAIN, UNREAD = "asked again", "unread, held"


@dataclass(frozen=True, kw_only=True)
class Asking:
    """How a language model is asked."""

    level: Level
    repairs: int
    hold: bool
    seed: int
    effort: Effort
    sampling: Sampling


@dataclass(frozen=True)
class ModelExtractor:
    """Implements `gde_plugins.statefactory.state.Extractor`."""

    name: str
    """The model, as the user named it."""
    model: LanguageModel
    asking: Asking

    async def read(self, trajectory: Trajectory) -> Reading:
        made_by = f"language model {self.name}, level {self.asking.level}"
        task = trajectory.world.objective
        if not task:
            lacking = f"the world {trajectory.world.id[:80]!r} has no fact `objective` that says what is asked for"
            return Reading(made_by=made_by, failure=lacking)
        episode = _Episode(self.model, self.asking, task)
        try:
            for index, (action, turn) in enumerate(zip(trajectory.actions_before, trajectory.turns, strict=True)):
                await episode.turn(index, action or NOTHING, turn.observation.text)
        except Unreadable as error:
            return Reading(made_by=made_by, counts=episode.counts, failure=str(error))
        return Reading(made_by=made_by, states=episode.states, goals=episode.goals, counts=episode.counts)


class Unreadable(Exception):
    """A turn of which no use can be made; says why."""


@dataclass
class _Episode:
    model: LanguageModel
    asking: Asking
    task: str
    states: list[Items] = field(default_factory=list)
    goals: list[Items] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    async def turn(self, index: int, action: str, observation: str) -> None:
        """Read one turn.

        Raises:
            Unreadable: an answer of it cannot be used, and nothing is held instead.
        """
        state_before, goal_before = (written(each[-1]) if each else "" for each in (self.states, self.goals))
        task, seen = ("Task", self.task), [("Action", action), ("Observation", observation)]
        known = ("Known state", state_before)
        current = await self._answer(
            index, "current", [task, ("Goal so far", goal_before), known, *seen], self.states[-1:]
        )
        now = ("Present", written(current))
        state = await self._answer(index, "state", [task, known, ("Action", action), now], self.states[-1:])
        held = ("State", written(state))
        goal = await self._answer(index, "goal", [task, held, *seen, ("Goal so far", goal_before)], self.goals[-1:])
        self.states.append(state)
        self.goals.append(goal)

    async def _answer(
        self, index: int, question: Question, sections: Sequence[tuple[str, str]], held: Sequence[Items]
    ) -> Items:
        reason, asked = "", ask(question, self.asking.level, sections)
        messages = asked
        for attempt in range(self.asking.repairs + 1):
            self.counts[ASKED_AGAIN] += attempt > 0
            text = ""
            try:
                text = await self._said(messages, attempt)
                return parse_items(text, empty=question != "goal")
            except Malformed as error:
                reason = str(error)
                messages = again(asked, text[:SHOWN] or NOTHING, reason)
        if not (self.asking.hold and held):
            raise Unreadable(f"turn {index}: {question}: {reason}")
        self.counts[UNREAD] += 1
        return held[-1]

    async def _said(self, messages: tuple[Message, ...], attempt: int) -> str:
        """What the model answers; a request that it refuses is an answer that cannot be used."""
        request = ChatRequest(
            messages=messages,
            seed=derive(self.asking.seed, "statefactory", attempt),
            sampling=self.asking.sampling,
            effort=self.asking.effort,
        )
        try:
            completion = await self.model.complete(request)
        except (RunFailed, Unavailable):
            raise
        except GdeError as error:
            raise Malformed(str(error)) from error
        if completion.finish == "refusal":
            raise Malformed("the model refused")
        return completion.text
