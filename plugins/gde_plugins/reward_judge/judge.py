"""A reward model that asks a language model for the score of every turn."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gde.data.completion import AnswerForm, ChatRequest, Completion, Message, Sampling
from gde.data.observation import OBJECTIVE
from gde.data.reward import Rewards
from gde.data.transcript import Step, Transcript
from gde.errors import GdeError, RunFailed, Unavailable
from gde.parts.context import Context
from gde.parts.language_model import LanguageModel
from gde.seeding import derive
from gde_plugins.reward_judge.config import JudgeConfig
from gde_plugins.reward_judge.prompts import again, ask
from gde_plugins.reward_judge.scores import NoScore, parse_belief, parse_score

SHOWN = 1000
"""Characters of an answer without a score that the model sees again."""
ASKED_AGAIN = "asked again"
HELD = "no score, held"
FORGOTTEN = "no belief, kept"


@dataclass(frozen=True)
class Judge:
    """Implements `gde.parts.reward_model.RewardModel`."""

    config: JudgeConfig
    model: LanguageModel
    seed: int

    async def rewards(self, transcript: Transcript) -> Rewards:
        goal = transcript.objective
        if not goal:
            reason = f"the world has no fact `{OBJECTIVE}` that says what is asked for"
            return self._made((), Counter(), reason)
        hearing = _Hearing(self, goal, transcript.steps)
        failure = await hearing.judge()
        return self._made(hearing.scores, hearing.counts, failure)

    def _made(
        self, scores: Sequence[float], counts: Counter[str], failure: str
    ) -> Rewards:
        memory = "with memory" if self.config.memory else "without memory"
        thinking = "with thinking" if self.config.thinking else "no thinking"
        how = f"{memory}, {thinking}, effort {self.config.effort}"
        if self.config.form == "json":
            how += ", answers in JSON"
        return Rewards(
            values=np.array([] if failure else scores, dtype=np.float64),
            failure=failure,
            made_by=f"language model {self.config.model}, {how}",
            counts={name: n for name, n in counts.items() if n},
        )


def judge(config: JudgeConfig, context: Context) -> Judge:
    """Make a judge that asks a model of the run."""
    return Judge(config, context.model(config.model), context.seed)


@dataclass
class _Hearing:
    """One episode before the judge."""

    by: Judge
    goal: str
    steps: Sequence[Step]
    scores: list[float] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    """Mishaps, by their names."""
    belief: str = ""
    """The judge's last note to itself."""

    async def judge(self) -> str:
        """Score every turn.

        Returns:
            Why a turn has no score; empty where all turns have one.
        """
        config = self.by.config
        for index in range(len(self.steps)):
            # A judge with a memory sees its belief in the place of the earlier steps.
            if config.memory:
                question = ask(
                    self.goal,
                    self.steps[index : index + 1],
                    self.belief,
                    config.thinking,
                )
            else:
                question = ask(
                    self.goal,
                    self.steps[: index + 1],
                    None,
                    config.thinking,
                    config.form,
                )

            reason = await self._score(question)
            if not reason:
                continue
            if config.unread != "hold" or not self.scores:
                return f"turn {index}: {reason}"
            self.counts[HELD] += 1
            self.scores.append(self.scores[-1])
        return ""

    async def _score(self, question: tuple[Message, ...]) -> str:
        """Ask until there is a score.

        Returns:
            Why the last answer has no score; empty where it has one.
        """
        messages = question
        reason = ""
        for attempt in range(self.by.config.repairs + 1):
            if attempt > 0:
                self.counts[ASKED_AGAIN] += 1
            answer = ""
            try:
                completion = await self._complete(messages, attempt)
                answer = completion.text
                self.scores.append(parse_score(completion))
            except NoScore as error:
                reason = str(error)
                # JSON and servers can spell lone surrogates, which no tokenizer takes.
                shown = answer[:SHOWN].encode("utf-8", "replace").decode()
                messages = again(question, shown, reason, self.by.config.form)
            else:
                self._remember(answer)
                return ""
        return reason

    async def _complete(
        self, messages: tuple[Message, ...], attempt: int
    ) -> Completion:
        """The model's answer.

        Raises:
            NoScore: the model refuses the request.
        """
        config = self.by.config
        sampling = Sampling(
            temperature=config.temperature, top_p=1.0, max_tokens=config.max_tokens
        )
        seed = derive(self.by.seed, "judge", attempt)
        request = ChatRequest(
            messages=messages,
            seed=seed,
            sampling=sampling,
            effort=config.effort,
            form=AnswerForm(kind="json") if config.form == "json" else None,
        )
        try:
            return await self.by.model.complete(request)
        except (RunFailed, Unavailable):
            raise
        except GdeError as error:
            raise NoScore(str(error)) from error

    def _remember(self, answer: str) -> None:
        if not self.by.config.memory:
            return
        belief = parse_belief(answer)
        if belief:
            self.belief = belief
        else:
            self.counts[FORGOTTEN] += 1
