"""Reading a score from what a judge said, or else why there is none. Nothing is guessed
or clipped.

The last statement such as "score: 0.4", "7 out of 10" or 40 % counts: what a judge
quotes from the episode, instructions to it included, comes before what it concludes, or
in quotes. Without one, a number alone, or the one number of a last sentence that judges.
An answer that was cut off has concluded nothing.
"""

import re

from gde.data.answer import REFUSAL, quoted
from gde.data.answer_parts import NOT_BUT, Unread, follows, remaining, statements
from gde.data.answer_text import plain
from gde.data.completion import Completion

STATEMENT = (
    r"(?:final_?|overall)?[ \t]*(?:score|socre|scroe|reward|rating|grade|evaluation)"
    r"|punktzahl|bewertung|wertung|note|nota|puntuación|calificación|puntaje|punteggio|voto|pontuação|оценка"
    r"|得分|评分|分数|評価|スコア|点数|점수"
)
DECIMAL = r"(?<![A-Za-z0-9_.,+-])(?:(?:0|[1-9]\d{0,2})(?:[.,]\d{1,12})?|\.\d{1,12})(?:[eE]-\d{1,2})?"
ABOUT = r"(?:(?:about|around|approximately|approx\.?|roughly|circa|ca\.?|etwa|environ|\u2248|~)\s*)?"
# "0." may be the end of a sentence, or of an answer.
VALUE = re.compile(
    rf"[\s\"'`(\[{{<*_]{{0,8}}{ABOUT}(?:"
    rf"(?P<part>{DECIMAL})\s*(?:/|out of|of|von|sur|de)\s*(?P<whole>\d{{1,3}}(?:\.0)?)(?![\w]|[.,]\d)"
    rf"|(?P<percent>{DECIMAL})\s*(?:%|percent\b|per cent\b|prozent\b)"
    rf"|(?P<number>(?!0\.\W*\Z){DECIMAL})(?![A-Za-z0-9_%/]|[.,]\w)"
    r"|(?P<word>\b(?:zero|one(?=\W*\Z)|(?:one |a )?half)\b(?! point|-)))",
    re.IGNORECASE,
)
WORDS = {"zero": 0.0, "half": 0.5, "one half": 0.5, "a half": 0.5, "one": 1.0}
ARROW = re.compile(r"\A\s*(?:=>|->|=|\u2192)\s*")
COMPARED = re.compile(r"\s*[<>]=?\s")
ALONE = re.compile(rf"[\s\"'`(\[{{<*_=>-]*{DECIMAL}[\s\"'`)\]}}>*_.]*")
JUDGES = re.compile(
    r"\b(?:scor\w+|rat(?:e|ing)|giv\w+|deserv\w+|merits|say|get|guess|looks? like|worth|judge\w*|seems?"
    r"|estimate\w*|assign\w*|reward|value\w*|overall|put it at|bewert\w+|donne|est de)\b"
    r"|\A\W*it(?:'s| is| should be)\W*\Z|评分|得分|分数",
    re.IGNORECASE,
)
DENIED = re.compile(
    r"\b(?:if|had|unless|or|not|never|no|cannot|between|from|at (?:least|most)|more than|less than|maximum|minimum"
    r"|wrote|said|says|asks?|asked|wants?|you|must|please|ignore|would (?:have|need)|now|out of)\b|n't\b",
    re.IGNORECASE,
)
SURENESS = re.compile(
    r"\b\d{1,3}\s*%\s*(?:confident|sure|certain)\b|\bscale (?:of|from) 0 to 1\b",
    re.IGNORECASE,
)
QUOTING = re.compile(r"[?<>\"]|(?<!\w)'|'(?!\w)")
"""A sentence that asks, compares or quotes; tags are some of it."""
NUMBER = re.compile(r"\d+(?:[.,]\d+)?|\binf\w*|\bnan\b|\bnull\b", re.IGNORECASE)
BELIEF = re.compile(r"^\s*belief\s*:", re.IGNORECASE | re.MULTILINE)
LINE = re.compile(r"^\W*(?:final\s+)?(?:score|reward)\W*[:=]\W*\d", re.IGNORECASE)
LONGEST = 100_000
"""The last characters of an answer that are read."""
LONGEST_BELIEF = 4000


class NoScore(ValueError):
    """An answer without a score; says what was wanted and what came."""


def parse_score(completion: Completion) -> float:
    """The score of an answer, 0 to 1.

    Raises:
        NoScore: it has none.
    """
    if completion.finish != "stop":
        raise NoScore(
            "the answer was cut off"
            if completion.finish == "length"
            else "the model refused"
        )
    score = _concluded(completion.text)
    if score is None:
        raise NoScore(
            f'wanted a line "score: NUMBER" with a number from 0 to 1, got {quoted(completion.text)}'
        )
    return score


def _concluded(answer: str) -> float | None:
    text = plain(answer[-LONGEST:])
    for rest in statements(text, STATEMENT):
        value = _value(rest)
        if isinstance(value, float):
            return value
        if value is Unread.AMBIGUOUS:
            return None
    if REFUSAL.match(text):
        return None
    alone = [line for line in text.splitlines() if ALONE.fullmatch(line)]
    if len({*alone}) > 1:
        return None
    for part in remaining(text):
        is_number = ALONE.fullmatch(part) and ("." in part or part == text)
        value = (
            _value(ARROW.sub("", part)) if is_number or part == text else _judged(part)
        )
        if isinstance(value, float):
            return value
    return _judged(text)


def _value(rest: str) -> float | Unread | None:
    """The score at the beginning of a text, after which only an explanation stands."""
    found = VALUE.match(rest)
    if found is None or COMPARED.match(rest):
        return None
    if unread := follows(rest[found.end() :]):
        return unread
    return _number(found)


def _judged(sentence: str) -> float | None:
    """The one number of a sentence that judges."""
    sentence = NOT_BUT.sub("", SURENESS.sub("", sentence))
    found = [*VALUE.finditer(sentence)]
    # "this one"
    found = [each for each in found if not each["word"]] or found
    rest = VALUE.sub("", sentence)
    if len(found) != 1 or NUMBER.search(rest) or DENIED.search(rest):
        return None
    if QUOTING.search(sentence) or not JUDGES.search(rest):
        return None
    return _number(found[0])


def _number(found: re.Match[str]) -> float | None:
    """The number, if it lies between 0 and 1."""
    if found["word"]:
        return WORDS[found["word"].lower()]
    if found["part"]:
        part, whole = _float(found["part"]), float(found["whole"])
        # "0.5/10" may be either number.
        if not whole or (whole > 1 and 0 < part < 1):
            return None
        score = part / whole
    elif found["percent"]:
        score = _float(found["percent"]) / 100
    else:
        score = _float(found["number"])
    return score if 0 <= score <= 1 else None


def _float(text: str) -> float:
    return float(text.replace(",", "."))


def parse_belief(text: str) -> str:
    """The text between the last "belief:" and the score after it; empty where there is
    none.
    """
    begins = [each.end() for each in BELIEF.finditer(text)]
    if not begins:
        return ""
    lines = text[begins[-1] :].splitlines()
    end = max(
        (place for place, line in enumerate(lines) if LINE.match(line)),
        default=len(lines),
    )
    # JSON and servers can spell halves of characters, which no tokenizer takes.
    return (
        "\n".join(lines[:end])
        .strip()[:LONGEST_BELIEF]
        .encode("utf-8", "replace")
        .decode()
    )
