"""Answers of a language model as objects with attributes, or the reason why there are
none. Never guesses.

A question asks for {"thinking": TEXT, KEY: [...]}. The list may stand alone or under
any key, in a code fence or after other words. Of several JSON values the last counts,
since quotations come before conclusions. An object of the list is {"object": {NAME:
[{KEY: VALUE}, ...]}}, with or without "object", its attributes in a list or not.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from gde_plugins.statefactory.state import DESCRIPTION, Item, Items

LONGEST = 200_000
"""Characters of an answer."""
MOST = 500
"""Objects of a state."""
THINKING = frozenset({"thinking", "_thinking"})
PREFIXES = ("goal_", "intermediate_")
OBJECT = "object"
STATE = "state"
DECODER = json.JSONDecoder()
OPENING = re.compile(r"[{\[]")
BRACKET = re.compile(r"[{}\[\]]")


class Malformed(ValueError):
    """An answer without objects; says what was wanted and what came."""


def parse_items(text: str, *, empty: bool) -> Items:
    """Parse the objects of an answer.

    Args:
        text: the answer.
        empty: whether a list without objects is valid, as it is for a state and not for
            a goal.

    Raises:
        Malformed: the answer has no list of objects, or one that is too long.
    """
    items: list[Item] = []
    for each in _payload(text):
        items.extend(_items(each))
    if len(items) > MOST:
        raise Malformed(f"wanted at most {MOST} objects, got {len(items)}")
    if not items and not empty:
        raise Malformed("wanted at least one object, got none")
    return items


def _payload(text: str) -> list[Any]:
    if len(text) > LONGEST:
        raise Malformed(f"wanted at most {LONGEST} characters, got {len(text)}")
    values = [*_values(text)]
    if not values:
        raise Malformed(f"wanted a JSON object, got {text[:80]!r}")
    value = _unwrapped(values[-1])
    if not isinstance(value, list):
        raise Malformed(f"wanted a list of objects, got {str(value)[:80]!r}")
    return value


def _values(text: str) -> Iterator[Any]:
    """Yield the outermost JSON objects and lists of a text, in order."""
    position = 0
    while True:
        opening = OPENING.search(text, position)
        if opening is None:
            return
        try:
            value, position = DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            # A whole value within something broken is a piece of an answer and not the
            # answer.
            position = _end(text, opening.start())
        else:
            yield value


def _end(text: str, start: int) -> int:
    """Return the index after the bracket that closes the one at `start`; the end of the
    text if none does.
    """
    depth = 0
    for bracket in BRACKET.finditer(text, start):
        depth += 1 if bracket[0] in "{[" else -1
        if not depth:
            return bracket.end()
    return len(text)


def _unwrapped(value: Any) -> Any:
    """The value beside the thinking; a single object becomes a list of one."""
    while isinstance(value, Mapping):
        rest = {key: each for key, each in value.items() if key not in THINKING}
        if OBJECT in rest:
            return [rest]
        if len(rest) != 1:
            return value
        (value,) = rest.values()
    return value


def _items(value: Any) -> Iterator[Item]:
    if isinstance(value, str):
        name = _text(value)
        yield Item(name, {DESCRIPTION: name})
        return
    if not isinstance(value, Mapping):
        raise Malformed(f"wanted an object, got {str(value)[:80]!r}")
    named = value.get(OBJECT, value)
    if not isinstance(named, Mapping):
        raise Malformed(f"wanted NAME: attributes, got {str(named)[:80]!r}")
    for name, attributes in named.items():
        yield Item(_text(name), _attributes(attributes))


def _attributes(value: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, Mapping):
            for key, content in each.items():
                found[_key(key)] = _value(content)
        elif each is not None:
            # Several sentences of one object are one attribute.
            sentence = _value(each)
            found[STATE] = f"{found[STATE]} {sentence}" if STATE in found else sentence
    return found


def _key(key: str) -> str:
    for prefix in PREFIXES:
        key = key.removeprefix(prefix)
    return _text(key)


def _value(value: Any) -> str:
    if isinstance(value, str | int | float):
        return _text(str(value))
    raise Malformed(f"wanted a text as a value, got {str(value)[:80]!r}")


def _text(value: str) -> str:
    """Normalise the white space of a text that is not empty and can be encoded."""
    text = " ".join(value.split())
    try:
        text.encode()  # JSON can spell halves of characters
    except UnicodeEncodeError:
        raise Malformed(f"wanted a text, got {ascii(text)[:80]}") from None
    if not text:
        raise Malformed("wanted a text, got an empty one")
    return text
