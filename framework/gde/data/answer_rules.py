"""The rules by which an action is read from an answer of any form.

Each rule gives the texts that an answer names as its action: one, or several where it
names them equally, as in a list. The last of several statements counts.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, get_args

from gde.data.action_names import FENCE, bare, equal_to, meant
from gde.data.answer_parts import RETRACTED, SENTENCE, UNSURE

Rule = Literal["json", "marker", "whole answer", "first line", "last line"]
RULES: tuple[Rule, ...] = get_args(Rule)
"""The surest first; the next is tried where one finds nothing."""
KEY = "action"
"""The key of the JSON object, and the word of the marker."""
OWN_KEY = re.compile(KEY, re.IGNORECASE)
OTHER_KEY = re.compile(
    r"(?:(?:next|chosen|selected|final|best|my)[_ ]?)?"
    r"(?:actions?|move|command|choice|decision|direction|answer|response)",
    re.IGNORECASE,
)
"""A key in the place of the key, for a text that is an action as a whole."""
OBJECTS = 200
"""The last objects of an answer that are read."""
MARKER = re.compile(
    rf"(?:\b(?:{KEY}|aktion|acción|azione|ação|действие)\b"
    rf"|动作|行动|行動|動作|행동)(?:[ \t]+\d+)?[\"'`*_ \t]*(?:is[ \t]*)?[:=][*_ \t]*(?P<line>[^\n]*)",
    re.IGNORECASE,
)
"""`Action: X`, `**Action:** X`, `action = X`, `Action 1: X`, `the action is: X`."""
APART = re.compile(r"(?:[\s,\[\]*_`\"'>#{}-]|</?tool_call>|\b(?:or|oder|ou)\b)*")
"""What may stand between two actions that are named equally."""
COLON = re.compile(r":\s+|[:\uff1a](?=[\u3040-\uffff])")
BECAUSE = re.compile(r",?\s+(?:because|since|as|so that)\b|\s+-+\s+", re.IGNORECASE)
MOST_WORDS = 3
"""Words of an item of a list of actions."""
NEWLINE = re.compile(r"\n")
EXAMPLE = re.compile(
    r"\b(?:such as|e\.g\.|for example|(?:could|would|might|should|can|may) look like(?: this)?"
    r"|(?:example|prompt|question|instructions?)\b[^.!?\n]{0,30}\b(?:says?|shows?|gives?))\W*\Z",
    re.IGNORECASE,
)
CONDITION = re.compile(r"^\s*(?:else|elif)\b[^\n]*:\s*$", re.MULTILINE)
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True)
class Named:
    """A text that an answer names as its action, and where it stands."""

    text: str
    begin: int
    end: int


def find(rule: Rule, text: str, actions: Sequence[str] | None) -> list[str]:
    """The texts that the answer names equally by this rule; none where it does not fit.

    Args:
        rule: where any text may be an action, only `json` finds some.
        text: the answer.
        actions: the admissible actions; None for any text.
    """
    match rule:
        case "json":
            named = objects(text) or [
                one
                for one in objects(text, OTHER_KEY)
                if equal_to(one.text, actions or ())
            ]
        case "marker":
            named = markers(text) if actions is not None else []
        case "whole answer":
            return [text] if actions and equal_to(text, actions) else []
        case "first line":
            return first_line(text, actions) if actions else []
        case "last line":
            return concluded(text, actions) if actions else []
    return _last_group(text, [one for one in named if not _is_shown(text, one)])


def _is_shown(text: str, named: Named) -> bool:
    """Whether a text only shows the form of an answer."""
    sentence = SENTENCE.split(text[: named.begin])[-1]
    return bool(EXAMPLE.search(sentence))


def objects(text: str, key: re.Pattern[str] = OWN_KEY) -> list[Named]:
    """The texts under the key in JSON objects, wherever they stand."""
    places = [found.start() for found in re.finditer(r"\{", text)]
    named = []
    after = 0
    for place in places[-OBJECTS:]:
        if place < after:
            continue
        values, end = _object(text, place, key)
        named += [Named(value, place, end) for value in values]
        after = end
    return named


def ends_with_object(text: str) -> bool:
    """Whether nothing follows the last object but the end of a code fence."""
    return text.rstrip("` \n\t").endswith("}")


def markers(text: str) -> list[Named]:
    """The rest of the line after each marker, or else the next line."""
    return [_marked(text, found) for found in MARKER.finditer(text)]


def last_line(text: str) -> str:
    """The last line that is more than the edge of a code fence."""
    for line in reversed(text.splitlines()):
        if FENCE.sub("", line).strip(" *_-=#\t"):
            return line
    return ""


def first_line(text: str, actions: Sequence[str]) -> list[str]:
    """The first line or sentence where it is an action and only an explanation follows."""
    for separator in (NEWLINE, SENTENCE, BECAUSE):
        first, *rest = separator.split(text, maxsplit=1)
        after = "".join(rest).strip()
        if equal_to(first, actions) and len(bare(first)) > 1:
            is_last = not equal_to(last_line(after), actions)
            if is_last and not UNSURE.match(after) and not RETRACTED.search(after):
                return [first]
    return []


def concluded(text: str, actions: Sequence[str]) -> list[str]:
    """The last sentence of the last line, or what follows its last colon, where that is
    an action; else what the line or a part of it names.

    Of a list of several actions the last line is none.
    """
    line = last_line(text)
    *_, before = ("", *text[: text.rfind(line)].removesuffix("\n").split("\n"))
    if len(bare(before).split()) <= MOST_WORDS:
        others = meant(before, actions)
        if others and others != meant(line, actions):
            return []
    sentences = SENTENCE.split(line)
    for pieces in (sentences, [] if "{" in line else COLON.split(line)):
        if len(pieces) > 1 and equal_to(pieces[-1], actions):
            return [pieces[-1]]
    for part in (line, *sentences[-1:]):
        if found := meant(part, actions, prose=True):
            return found
    return []


def _object(text: str, place: int, key: re.Pattern[str]) -> tuple[list[str], int]:
    """The texts under the key in the object that begins here, and its end."""
    try:
        value, end = _DECODER.raw_decode(text, place)
        return [*_under_key(value, key)], end
    except (ValueError, RecursionError):
        return [], place + 1


def _under_key(value: object, key: re.Pattern[str]) -> Iterator[str]:
    """The texts and whole numbers under the key, of inner objects where it is absent."""
    inner: Sequence[Any] = ()
    if isinstance(value, Mapping):
        own = [each for name, each in value.items() if key.fullmatch(name.strip())]
        inner = [] if own else [*value.values()]
        for each in own:
            if isinstance(each, str | int) and not isinstance(each, bool):
                yield str(each)
    elif isinstance(value, list):
        inner = value
    for each in inner:
        yield from _under_key(each, key)


def _marked(text: str, found: re.Match[str]) -> Named:
    line = found["line"]
    end = found.end()
    if not line.strip(" *_`\t"):
        # The action stands below its marker, maybe in a code fence.
        below = re.compile(r"\s*(?:```[\w-]*\s*)?(?P<line>[^\n]*)").match(text, end)
        assert below is not None
        line = below["line"]
        end = below.end()
    return Named(line, found.start(), end)


def _last_group(text: str, named: Sequence[Named]) -> list[str]:
    """The last text, with those before it from which only separators part it."""
    group = [one.text for one in named[-1:]]
    for one, after in reversed([*pairwise(named)]):
        # Several texts of one object begin at the same place.
        is_same = one.begin == after.begin
        if not is_same and not APART.fullmatch(text, one.end, after.begin):
            break
        group.insert(0, one.text)
    return group
