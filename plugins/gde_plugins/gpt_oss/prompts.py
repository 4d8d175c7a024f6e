"""The two ways of putting a task to the model."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from gde.data.completion import Message
from gde.data.observation import Observation, Task

Prompt = Callable[[Task, Observation, bool], str]
"""What the user says in one turn; the flag tells whether it is the first of the conversation."""

COMPACT = "Go from A to G by the shortest way; # is wall, _ is free.\n"
"""Exactly what the embedded model is trained on."""
MATRIX = re.compile(r"\s+0\s+1\s+2\s")
"""How a text begins whose first row holds column indices."""
PATTERN_WIDTH = 60

ROLE = """You are an agent acting in a world that is described to you in text. Before every move you are shown the \
complete current state of the world, and you choose exactly one action."""

READING = """# How to read the grid
The world is a matrix of cells. The top line holds the column indices; every other line begins with its row index, \
followed by the cells of that row, separated by blanks. A position is written (row, column); rows are counted \
downwards from 0 and columns to the right from 0.
For example, in this grid of 4 rows and 5 columns
  0 1 2 3 4
0 # # # # #
1 # A _ _ #
2 # # # G #
3 # # # # #
you are at (1, 1) and the goal is at (2, 3). The cells (1, 2) and (1, 3) are free; (2, 1) and (2, 2) are walls. \
UP leads to the row above, DOWN to the row below, LEFT to the column before and RIGHT to the column after. From (1, 1) \
the shortest way is RIGHT to (1, 2), RIGHT to (1, 3) and DOWN to the goal at (2, 3)."""


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """An earlier turn, as the agent remembers it."""

    observation: Observation
    answer: str


def converse(prompt: Prompt, task: Task, past: Iterable[Exchange], now: Observation) -> tuple[Message, ...]:
    """The messages of one turn: the remembered exchanges, then the current observation."""
    messages: list[Message] = []
    for exchange in past:
        messages.append(Message(role="user", content=prompt(task, exchange.observation, not messages)))
        messages.append(Message(role="assistant", content=exchange.answer))
    messages.append(Message(role="user", content=prompt(task, now, not messages)))
    return tuple(messages)


def compact(_task: Task, observation: Observation, _first: bool) -> str:
    """The instruction in a line, and the grid."""
    return COMPACT + observation.text


def paper(task: Task, observation: Observation, first: bool) -> str:
    """The content of paper 000, appendix E.2: role, rules, objective, reading aid with a worked example, actions, form
    of the answer, state. Worlds other than matrices go without the reading aid; later turns bring the state alone."""
    matrix = MATRIX.match(observation.text) is not None
    state = f"Current {'grid ' if matrix else ''}state:\n{observation.text}"
    if not first:
        return state
    parts = [
        ROLE,
        f"# Rules\n{task.rules}" if task.rules else "",
        f"# Objective\n{task.objective}\nTake as few steps as you can.",
        READING if matrix else "",
        _actions(observation),
        state,
    ]
    return "\n\n".join(part for part in parts if part)


def _actions(observation: Observation) -> str:
    """The admissible actions and the form of the answer, which is named without code fences."""
    if observation.actions is None:
        listed, pattern = "Any short command may be tried.", "<your command>"
    else:
        listed = "\n".join(f"- {action}" for action in observation.actions)
        joined = "|".join(observation.actions)
        pattern = f"<{joined}>" if len(joined) <= PATTERN_WIDTH else "<one of the actions above>"
    return (
        f"# Actions\n{listed}\n\n# Answer\nAnswer with a JSON object of this form and with nothing else; put no code "
        f'fences around it:\n{{"action": "{pattern}"}}'
    )
