"""Reading where an answer says that the agent ends, in whatever words it says so."""

import re
from collections.abc import Iterator

from gde.data.answer import REFUSAL
from gde.data.answer_parts import (
    DOUBTED,
    NOT_BUT,
    UNSURE,
    remaining,
    statements,
    without_comments,
)
from gde.data.answer_text import plain

AgentState = tuple[tuple[int, int], int]
"""((x, y), direction)."""
WORDS = (
    r"(?:final|end(?:ing)?|resulting)[ \t_]+(?:agent[ \t]+)?(?:state|position|pose)|state|pose|end"
    r"|endzustand|état[ \t]+final|estado[ \t]+final|最终状态|状态"
)
"""Of statements."""
DIRECTIONS = (
    r"east(?:ward)?|osten|l'est|verso est|ad est|(?:al|el|hacia|ao|o|para)[ \t]+(?:el[ \t]+)?este"
    r"|leste|восток|\u2192|\u27a1",
    r"south(?:ward)?|süd(?:en)?|sud|sur|sul|юг|\u2193|\u2b07",
    r"west(?:ward|en)?|ouest|oeste|ovest|запад|\u2190|\u2b05",
    r"north(?:ward)?|nord(?:en)?|norte|север|\u2191|\u2b06",
)
"""Words for 0 to 3; Chinese, Japanese and Korean have no blanks around their own."""
CHINESE = ("东東동", "南남", "西서", "北북")
LETTERS = "ESWN"
NUMBER = r"(?<![\w.-])(-?\d{1,9})(?!\w|\.\d)"
PAIR = re.compile(rf"[(\[<{{]\s*{NUMBER}\s*[,;\s]\s*{NUMBER}\s*[)\]>}}]")
X = re.compile(
    rf"\b(?:x|col(?:umn)?)\b[\"']?\s*(?:[:=|]|is\b)?\s*{NUMBER}", re.IGNORECASE
)
Y = re.compile(rf"\b(?:y|row)\b[\"']?\s*(?:[:=|]|is\b)?\s*{NUMBER}", re.IGNORECASE)
THREE = re.compile(rf"\W*{NUMBER}\s*[,;\s]\s*{NUMBER}\s*[,;\s]\s*{NUMBER}\W*")
AFTER_PAIR = re.compile(
    rf"[)\]}}>\s]*[,;:]?\s*{NUMBER}(?=\s*(?:[()\[\]}}>.,;=\"']|\Z))"
)
LETTER_AFTER = re.compile(r"[)\]}>\s]*,\s*[\"']?([ESWN])\b")
KEY = (
    r"(?<![a-z])(?:direction|dir|facing|faces?|heading|orientation|looking)\b[\"']?"
    r"\s*(?:[:=|]|is\b|of\b)*\s*[\"']?"
)
WITH_KEY = re.compile(rf"{KEY}{NUMBER}", re.IGNORECASE)
LETTER = re.compile(rf"(?i:{KEY})([{LETTERS}])\b")
ANY_NUMBER = re.compile(r"\d+(?:\.\d+)?")
SUBJECT = re.compile(
    r"\b(?:(?P<thing>ball|key|box|door|goal|wall)s?|agent\w*|it|its|i|robot|end|state)\b"
    r"|智能体",
    re.IGNORECASE,
)
BECAUSE = re.compile(r"\b(?:because|since)\b|, as\b", re.IGNORECASE)
DENIED = re.compile(
    r"\b(?:not|never|no|isn't|cannot|can't|unable|unsure|begins?|began|beginning|initial(?:ly)?|starts?"
    r"|started|first|impossible|wrong|invalid)\b",
    re.IGNORECASE,
)
SENTENCE = re.compile(r"(?<=[.;!?])\s+|\n[ \t]*\n|,?\s+(?:because|since|not|where)\b")


def read_stated(answer: str) -> AgentState | None:
    """The state that the answer concludes with; None where it states none, or several.

    Position and direction must both be said, and every number must belong to them.
    """
    text = plain(answer)
    if REFUSAL.match(text):
        return None
    for rest in statements(text, WORDS):
        if UNSURE.search(_sentence(rest)) or DOUBTED.search(rest):
            return None
        for part in (rest.split("\n", 1)[0], rest):
            found = _state(_sentence(part))
            if found is not None:
                return found
    for part in remaining(text):
        found = _state(BECAUSE.split(part, maxsplit=1)[0])
        if found is not None and not _is_of_thing(part):
            return found
    return None


def _is_of_thing(part: str) -> bool:
    """Whether the place is that of another thing than the agent."""
    pair = PAIR.search(part)
    before = part[: pair.start()] if pair else part
    named = [*SUBJECT.finditer(before)]
    return bool(named) and named[-1]["thing"] is not None


def _sentence(text: str) -> str:
    return SENTENCE.split(text, maxsplit=1)[0]


def _state(part: str) -> AgentState | None:
    """The one state in a part that says nothing else in numbers."""
    part = NOT_BUT.sub("", without_comments(part))
    if DENIED.search(part) or UNSURE.search(part):
        return None
    if three := THREE.fullmatch(part):
        x, y, direction = map(int, three.groups())
        return (x, y), direction

    pairs = [*PAIR.finditer(part)]
    xs, ys = [*X.finditer(part)], [*Y.finditer(part)]
    if len(pairs) > 1 or (not pairs and (len(xs), len(ys)) != (1, 1)):
        return None
    place = pairs[0].groups() if pairs else (xs[0][1], ys[0][1])

    directions = [*_words(part)]
    numbered = WITH_KEY.search(part)
    if numbered is None and pairs:
        numbered = AFTER_PAIR.match(part, pairs[0].end())
        if lettered := LETTER_AFTER.match(part, pairs[0].end()):
            directions.append(LETTERS.index(lettered[1]))
    # "south (1)"
    numbers = len(ANY_NUMBER.findall(part)) - 2
    if numbered:
        directions.append(int(numbered[1]))
        numbers -= 1
    elif numbers == 1 and directions and (beside := re.search(r"\((\d)\)", part)):
        directions.append(int(beside[1]))
        numbers -= 1
    if numbers or len({*directions}) != 1:
        return None
    x, y = map(int, place)
    return (x, y), directions[0]


def _words(part: str) -> Iterator[int]:
    """The directions that words, arrows and letters name."""
    for direction, words in enumerate(DIRECTIONS):
        word = rf"(?<![^\W_])(?:{words})(?![^\W_])|[{CHINESE[direction]}]"
        if re.search(word, part, re.IGNORECASE):
            yield direction
    if letter := LETTER.search(part):
        yield LETTERS.index(letter[1])
