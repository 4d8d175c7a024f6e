"""The messages to the language model: the task, the past turns and the question."""

from collections import deque

from gde.data.completion import History, Message
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
"""A task in no world, with its answer."""


class Conversation:
    """The remembered turns of one episode."""

    def __init__(self, task: Task, turns: History, *, example: bool = False) -> None:
        """Remember the last `turns`; `example` adds a solved task of another world."""
        self._task = task
        self._example = example
        limit = None if turns == "all" else turns
        self._past: deque[tuple[Observation, str]] = deque(maxlen=limit)

    def remember(self, observation: Observation, answer: str) -> None:
        """Remember a finished turn."""
        self._past.append((observation, answer))

    def one(self, now: Observation, advice: str = "") -> tuple[Message, ...]:
        """Return the messages that ask for one action, with advice before the question."""
        answer = f"{THOUGHT}\nAction: open the box"
        return self._messages(now, ONE, answer, advice)

    def several(self, now: Observation, n: int) -> tuple[Message, ...]:
        """Return the messages that ask for up to `n` candidates."""
        answer = f"{THOUGHT}\nAction 1: open the box\nAction 2: wait"
        return self._messages(now, SEVERAL.format(n=n), answer)

    def _messages(
        self, now: Observation, question: str, example: str, advice: str = ""
    ) -> tuple[Message, ...]:
        """Return the messages of a turn; `example` answers the question in the example."""
        solved: tuple[Message, ...] = ()
        if self._example:
            asked = Conversation(EXAMPLE, 0)._messages(SHUT, question, example)
            solved = (*asked, Message(role="assistant", content=example))

        messages: list[Message] = []
        for seen, answer in self._past:
            shown = f"Observation:\n{seen.text}"
            messages.append(self._user(shown, first=not messages))
            messages.append(Message(role="assistant", content=answer))

        parts = [f"Observation:\n{now.text}", _listed(now), advice, question]
        shown = "\n\n".join(filter(None, parts))
        return (*solved, *messages, self._user(shown, first=not messages))

    def _user(self, text: str, *, first: bool) -> Message:
        parts = []
        if first:
            parts.append(ROLE)
            if self._task.rules:
                parts.append(f"# Rules\n{self._task.rules}")
            parts.append(f"# Objective\n{self._task.objective}")
        return Message(role="user", content="\n\n".join([*parts, text]))


def _listed(observation: Observation) -> str:
    if observation.actions is None:
        return "Any text may be tried as an action."
    lines = [f"- {action}" for action in observation.actions]
    return "\n".join(["Actions that can be taken now:", *lines])
