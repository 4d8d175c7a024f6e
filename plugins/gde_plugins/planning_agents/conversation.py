"""The messages to the language model: the task, the past turns and the question."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from gde.data.completion import Message
from gde.data.observation import Observation, Task

ROLE = "You are an agent acting in a world that is described to you in text. In every turn you reason, then you act."
ONE = """Answer in exactly this form and with nothing else:
Thought: your reasoning, in a sentence or two
Action: the action, exactly as it is listed"""
SEVERAL = """Name up to {n} different actions that are worth trying next, the best one first. Answer in exactly this \
form and with nothing else:
Thought: your reasoning, in a sentence or two
Action 1: the best action, exactly as it is listed
Action 2: the next best"""
EXAMPLE = Task(objective="take the lamp", horizon=1)
SHUT = Observation(
    text="The box is closed. The lamp is in the box.", actions=("open the box", "wait")
)
THOUGHT = "Thought: The lamp is in the closed box, so the box has to be opened first."
"""A task in no world, and how it is answered."""


@dataclass(frozen=True)
class Exchange:
    """An earlier turn."""

    observation: Observation
    answer: str


class Conversation:
    """The turns of one episode, as far as they are remembered."""

    def __init__(self, task: Task, turns: int, *, example: bool = False) -> None:
        """Remember the last `turns`; with `example`, begin with an answered task of
        another world.
        """
        self._task = task
        self._example = example
        self._past: deque[Exchange] = deque(maxlen=turns)

    def remember(self, observation: Observation, answer: str) -> None:
        """Remember a turn that is over."""
        self._past.append(Exchange(observation, answer))

    def one(self, now: Observation, advice: str = "") -> tuple[Message, ...]:
        """The messages that ask for one action, with some advice before the
        question.
        """
        example = self._example_of(
            lambda other: other.one(SHUT), f"{THOUGHT}\nAction: open the box"
        )
        question = f"{advice}\n\n{ONE}" if advice else ONE
        return (*example, *self._messages(now, question))

    def several(self, now: Observation, n: int) -> tuple[Message, ...]:
        """The messages that ask for up to `n` candidates."""
        answer = f"{THOUGHT}\nAction 1: open the box\nAction 2: wait"
        example = self._example_of(lambda other: other.several(SHUT, n), answer)
        return (*example, *self._messages(now, SEVERAL.format(n=n)))

    def _example_of(
        self, ask: Callable[["Conversation"], tuple[Message, ...]], answer: str
    ) -> tuple[Message, ...]:
        """The example, asked and answered in the form of the question."""
        if not self._example:
            return ()
        return (
            *ask(Conversation(EXAMPLE, 0)),
            Message(role="assistant", content=answer),
        )

    def _messages(self, now: Observation, question: str) -> tuple[Message, ...]:
        messages: list[Message] = []
        for exchange in self._past:
            messages.append(
                self._user(
                    f"Observation:\n{exchange.observation.text}", first=not messages
                )
            )
            messages.append(Message(role="assistant", content=exchange.answer))
        shown = f"Observation:\n{now.text}\n\n{_listed(now)}\n\n{question}"
        return (*messages, self._user(shown, first=not messages))

    def _user(self, text: str, *, first: bool) -> Message:
        parts = []
        if first:
            parts.append(ROLE)
            if self._task.rules:
                parts.append(f"# Rules\n{self._task.rules}")
            parts.append(f"# Objective\n{self._task.objective}")
        if text:
            parts.append(text)
        return Message(role="user", content="\n\n".join(parts))


def _listed(observation: Observation) -> str:
    if observation.actions is None:
        return "Any text may be tried as an action."
    return "Actions that can be taken now:\n" + "\n".join(
        f"- {action}" for action in observation.actions
    )
