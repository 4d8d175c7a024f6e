"""The three questions of a turn (Shen et al. 2026, appendix C.4.1): the present, the
state and the goal. Inputs, keys and shapes are the released ones, the words are ours.
"""

import json
from collections.abc import Sequence
from typing import Literal

from gde.data.completion import Message
from gde.data.json import Json
from gde_plugins.statefactory.state import DESCRIPTION, Item, Items, Level

Question = Literal["current", "state", "goal"]
"""Content of the observation, the state that is kept of it, and the goal."""
NOTHING = "None"
ROLE = "You are a helpful assistant. Your final answer is one JSON object."
KEYS: dict[Question, str] = {
    "current": "Current State",
    "state": "Previous States",
    "goal": "Goal State",
}
"""Where an answer has its objects."""

SHAPES: dict[Level, str] = {
    2: '["SENTENCE", ...], independent plain sentences',
    3: '[{"object": {"NAME": ["SENTENCE", ...]}}, ...], sentences grouped under the object that they are about',
    4: '[{"object": {"NAME": [{"KEY": "SENTENCE"}, ...]}}, ...], where each KEY is a short name of one attribute, such '
    "as location or temperature, and its SENTENCE is whole, with the object as its subject, and says that one thing",
}
TASKS: dict[Question, str] = {
    "current": "Say what the observation shows of the world right now, as far as it can matter for the task. Tell only "
    "what can be seen or follows from the action that was taken; invent nothing, plan nothing, and leave the goal out.",
    "state": "Bring the known state up to date: take over what the present shows, keep what it does not touch and can "
    "still matter for the task, correct what has changed, and drop the rest. Keep calling things by the same names.",
    "goal": "Say how the world looks when the task is done, in the words of the state, so that the two can be held "
    "side by side. From the first step on the goal is complete. Later only two changes are allowed: a milestone that "
    "has become clear is added, and something meant in general gets the name of the thing that was found. What is "
    "reached stays in. Name no plan and no way to the goal.",
}


def ask(
    question: Question, level: Level, sections: Sequence[tuple[str, str]]
) -> tuple[Message, ...]:
    """The messages of one question; sections are (heading, text)."""
    shape = (
        f'# Answer\n{{"_thinking": "a few words", "{KEYS[question]}": {SHAPES[level]}}}'
    )
    known = "\n\n".join(f"# {heading}\n{text or NOTHING}" for heading, text in sections)
    content = f"{TASKS[question]}\n\n{known}\n\n{shape}"
    return Message(role="system", content=ROLE), Message(role="user", content=content)


def again(asked: tuple[Message, ...], answer: str, reason: str) -> tuple[Message, ...]:
    """The same question after an unusable answer."""
    complaint = f"That cannot be used: {reason}. Answer again, with the JSON object and nothing else."
    return (
        *asked,
        Message(role="assistant", content=answer),
        Message(role="user", content=complaint),
    )


def written(items: Items, level: Level) -> str:
    """Objects as a language model is shown them, in the shape of its answers."""
    return json.dumps([_shown(item, level) for item in items], ensure_ascii=False)


def _shown(item: Item, level: Level) -> Json:
    if level == 2 or DESCRIPTION in item.attributes:
        return item.name
    values = [*item.attributes.values()]
    if level == 3:
        return {"object": {item.name: [*values]}}
    pairs: list[Json] = [{key: value} for key, value in item.attributes.items()]
    return {"object": {item.name: pairs}}
