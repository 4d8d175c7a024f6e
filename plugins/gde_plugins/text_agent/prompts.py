"""The two prompt styles of a task."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from gde.data.answer import TOOL, Form
from gde.data.completion import Message
from gde.data.observation import Observation, Task
from gde.data.tool_call import split_calls

Prompt = Callable[[Task, Observation, bool, Form], str]
"""Makes the user's message in a turn; the flag says whether it is the first."""

COMPACT = "Go from A to G by the shortest way; # is wall, _ is free.\n"
"""The exact text that the embedded model is trained on."""
GRID = re.compile(r"\s+0\s+1\s+2.*(?:\n\d+\s.*)+")
"""Matches a line of column indices and the lines that begin with row indices."""
PATTERN_WIDTH = 60

ROLE = """You are an agent acting in a world that is described to you in text. Before every move you are shown the \
current state of the world, and you choose exactly one action."""

NOT_TAKEN = "Not taken: one action a turn."
"""The result of every call of a tool but the last of an answer."""

MAP_QUESTION = """Now do not act. Write down the map of the world as you believe it {when}. Answer \
with a JSON object of this form and with nothing else: {{"map": [["wall", ...], ...]}}. It has one \
list for each row, from the top, and in it one word for each cell, from the left: agent, goal, wall or empty; for \
anything else the name of it. Leave out the indices of rows and columns."""
"""The question after a turn's answer, see `gde.data.stated_map`."""
NOW = "to be at this moment, before your action"


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """An earlier turn in the agent's memory."""

    observation: Observation
    answer: str


def map_question(age: int) -> str:
    """The question for the map of so many turns before."""
    ago = "one turn" if age == 1 else f"{age} turns"
    when = f"was {ago} before this one" if age else NOW
    return MAP_QUESTION.format(when=when)


def converse(
    prompt: Prompt, task: Task, past: Iterable[Exchange], now: Observation, form: Form
) -> tuple[Message, ...]:
    """Return the messages of one turn: earlier turns, then the current observation.

    Where the action is the call of a tool, the next observation is its result.
    """
    messages: list[Message] = []
    answer = ""
    for exchange in past:
        text = prompt(task, exchange.observation, not messages, form)
        messages += _after(answer, text, form)
        answer = exchange.answer
        messages.append(Message(role="assistant", content=answer))
    text = prompt(task, now, not messages, form)
    return (*messages, *_after(answer, text, form))


def _after(answer: str, text: str, form: Form) -> list[Message]:
    """Return the messages that bring a text after the model's answer."""
    calls = split_calls(answer)[1] if form == "tools" else ()
    if not calls:
        return [Message(role="user", content=text)]
    # A server wants a result of every call.
    not_taken = [Message(role="tool", content=NOT_TAKEN) for _ in calls[1:]]
    return [*not_taken, Message(role="tool", content=text)]


def compact(_task: Task, observation: Observation, _first: bool, _form: Form) -> str:
    """Return the instruction in a line, and the grid.

    A line beside the grid, e.g. of the carried object, is left out.
    """
    matrix = GRID.match(observation.text)
    return COMPACT + (matrix[0] if matrix else observation.text)


def paper(task: Task, observation: Observation, first: bool, form: Form) -> str:
    """Write the message of Arghal et al. (2026), appendix E.2.

    It has role, rules, objective, actions, form of the answer, state.

    How the state is to be read is said by the rules, which are the world's own; later
    turns bring the state alone.
    """
    state = f"Current state:\n{observation.text}"
    if not first:
        return state
    parts = [
        ROLE,
        f"# Rules\n{task.rules}" if task.rules else "",
        f"# Objective\n{task.objective}\nTake as few steps as you can.",
        _actions(observation),
        _answer(observation, form),
        state,
    ]
    return "\n\n".join(part for part in parts if part)


def _actions(observation: Observation) -> str:
    """Return the admissible actions."""
    listed = (
        "Any text may be given, also one of several lines, with \\n for each new line."
    )
    if observation.actions is not None:
        listed = "\n".join(f"- {action}" for action in observation.actions)
    return f"# Actions\n{listed}"


def _answer(observation: Observation, form: Form) -> str:
    """Return the form of the answer; of JSON that it is to stand without code fences."""
    actions = observation.actions
    what = "your command" if actions is None else "the action, exactly as it is listed"
    if form == "text":
        return f"# Answer\nThe last line of your answer is {what}, and nothing else."
    if form == "tools":
        return f"# Answer\nCall the function {TOOL} once, with {what}."

    pattern = "<your command>"
    if actions is not None:
        joined = "|".join(actions)
        is_short = len(joined) <= PATTERN_WIDTH
        pattern = f"<{joined}>" if is_short else "<one of the actions above>"
    return (
        "# Answer\nAnswer with a JSON object of this form and with nothing else; put no code "
        f'fences around it:\n{{"action": "{pattern}"}}'
    )
