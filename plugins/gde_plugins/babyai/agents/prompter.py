"""A language model prompted in four ways (Choukrani et al. 2025, section 5.1)."""

import json
from collections.abc import Mapping, Sequence

from gde.data.answer import read_silence
from gde.data.completion import AnswerForm, ChatRequest, Completion, Message, Sampling
from gde.data.observation import Observation
from gde.data.trajectory import Decision
from gde.errors import GdeError
from gde.parts.agent import Brief
from gde.parts.context import Context
from gde.seeding import derive
from gde_plugins.babyai.config import PrompterConfig
from gde_plugins.babyai.tasks.environment import QuestionEnvironment

N_EXAMPLES = 3
WAYS: Mapping[str, str] = {
    "zero_shot": "Give the answer in the form that is asked for, and nothing else.",
    "few_shot": "Give the answer in the form that is asked for, and nothing else.",
    "cot": (
        "Think step by step: go through the question in order, write down what holds after every step, and only then "
        "give the answer in the form that is asked for."
    ),
    "tot": (
        "Think as several careful experts would who do not agree at first. At every step let each of them propose how "
        "to go on and say why, judge the proposals against the description, keep the best and drop those that turn "
        "out wrong. When one line of thought has come to the end, check it, and give the answer in the form that is "
        "asked for."
    ),
}
"""The instructions after the question."""
KEY = "answer"
IN_JSON = f"""Write nothing but a JSON object {{"reasoning": "...", "{KEY}": "..."}}. The text under "{KEY}" has the \
form that is asked for; the reasoning may be left out."""


class Prompter:
    """Passes on the answer, which the question parses."""

    def __init__(self, config: PrompterConfig, context: Context) -> None:
        self._config = config
        self._model = context.model(config.model)
        self._way = WAYS[config.prompting]
        self._form: AnswerForm | None = None
        if config.actions == "json":
            self._way += f" {IN_JSON}"
            self._form = AnswerForm(kind="json")

    def begin(self, brief: Brief) -> None:
        self._seed = brief.seed
        self._examples: list[tuple[str, str]] = []
        world = brief.environment
        is_few_shot = self._config.prompting == "few_shot"
        if is_few_shot and isinstance(world, QuestionEnvironment):
            for question, solution in world.examples(N_EXAMPLES):
                written = json.dumps({KEY: solution}) if self._form else solution
                self._examples.append((question, written))

    async def act(self, observation: Observation) -> Decision:
        if observation.actions is not None:
            return Decision.unusable(
                "error", "the prompter answers questions and takes no listed actions"
            )
        config = self._config
        request = ChatRequest(
            messages=messages(observation.text, self._way, self._examples),
            form=self._form,
            seed=derive(self._seed, "turn", 0),
            effort=config.effort,
            sampling=Sampling(
                temperature=config.temperature,
                top_p=config.top_p,
                max_tokens=config.max_tokens,
            ),
        )
        try:
            return _decided(await self._model.complete(request))
        except GdeError as error:
            return Decision.unusable("error", str(error))


def messages(
    question: str, way: str, examples: Sequence[tuple[str, str]]
) -> tuple[Message, ...]:
    """Return the conversation: solved questions first, if any."""
    conversation = []
    for asked, solution in examples:
        conversation.append(Message(role="user", content=f"{asked}\n\n{way}"))
        conversation.append(Message(role="assistant", content=solution))
    conversation.append(Message(role="user", content=f"{question}\n\n{way}"))
    return tuple(conversation)


def _decided(completion: Completion) -> Decision:
    """Return the text of the answer; an empty one is unusable."""
    nothing = read_silence(completion)
    if nothing:
        return nothing.decision(completion)
    return Decision.act(_unwrapped(completion.text), completion)


def _unwrapped(text: str) -> str:
    """The answer in an object of the form asked for, else the whole text."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    answer = found.get(KEY) if isinstance(found, dict) else None
    return answer if isinstance(answer, str) else text
