"""From what a language model said to objects with attributes, or to the reason why there are none. Never guesses.

Asked for is {"thinking": TEXT, KEY: [...]}. The list may stand alone or under any key, in a code fence or after other
words; of several JSON values the last counts, since what is quoted comes before what is concluded. An object of the
list is {"object": {NAME: [{KEY: VALUE}, ...]}}, with or without "object", its attributes in a list or not.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from gde_plugins.statefactory.representation import DESCRIPTION
from gde_plugins.statefactory.state import Item, Items

LONGEST = 200_000
"""Characters of an answer."""
MOST = 500
"""Objects of a state."""
THINKING = frozenset({"thinking", "_thinking"})
PREFIXES = ("goal_", "intermediate_")
OBJECT, STATE = "object", "state"
DECODER = json.JSONDecoder()
BRACKET = re.compile(r"[{}\[\]]")


class Malformed(ValueError):
    """An answer that tells no objects; says what was wanted and what came."""


def parse_items(text: str, *, empty: bool) -> Items:
    """The objects of an answer.

    Args:
        text: what was answered.
        empty: whether a list without objects is an answer, as it is for a state and not for a goal.

    Raises:
        Malformed: there are none.
    """
    items = [item for each in _payload(text) for item in _items(each)]
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
    """The JSON objects and lists of a text, in order, those within others left out."""
    place = 0
    while (start := min((i for i in (text.find("{", place), text.find("[", place)) if i >= 0), default=-1)) >= 0:
        try:
            value, place = DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            # What is whole within something broken is no answer but a piece of one.
            place = _end(text, start)
        else:
            yield value


def _end(text: str, start: int) -> int:
    """Where the bracket that opens at `start` is closed again; the end of the text where it never is."""
    depth = 0
    for bracket in BRACKET.finditer(text, start):
        depth += 1 if bracket[0] in "{[" else -1
        if not depth:
            return bracket.end()
    return len(text)


def _unwrapped(value: Any) -> Any:
    """A list, or what stands beside the thinking; a single object is a list of one."""
    while isinstance(value, Mapping):
        rest = {key: each for key, each in value.items() if key not in THINKING}
        if OBJECT in rest or len(rest) != 1:
            return [rest] if OBJECT in rest else value
        (value,) = rest.values()
    return value


def _items(told: Any) -> Iterator[Item]:
    if isinstance(told, str):
        name = _text(told)
        yield Item(name, {DESCRIPTION: name})
        return
    if not isinstance(told, Mapping):
        raise Malformed(f"wanted an object, got {str(told)[:80]!r}")
    named = told.get(OBJECT, told)
    if not isinstance(named, Mapping):
        raise Malformed(f"wanted NAME: attributes, got {str(named)[:80]!r}")
    for name, attributes in named.items():
        yield Item(_text(name), _attributes(attributes))


def _attributes(told: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    for each in told if isinstance(told, list) else [told]:
        if isinstance(each, Mapping):
            found.update((_key(key), _value(value)) for key, value in each.items())
        elif each is not None:
            # Sentences of one object belong together.
            found[STATE] = " ".join(filter(None, (found.get(STATE), _value(each))))
    return found


def _key(key: str) -> str:
    for prefix in PREFIXES:
        key = key.removeprefix(prefix)
    return _text(key)


def _value(value: Any) -> str:
    if isinstance(value, str | int | float):
        return _text(str(value))
    raise Malformed(f"wanted a text as a value, got {str(value)[:80]!r}")


def _text(told: str) -> str:
    """Stripped, never empty, and something that can be encoded: JSON can spell halves of characters."""
    text = " ".join(told.split())
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Malformed(f"wanted a text, got {ascii(text)[:80]}") from None
    if not text:
        raise Malformed("wanted a text, got an empty one")
    return text
