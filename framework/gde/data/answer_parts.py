"""Where the conclusion of an answer stands.

The last statement counts: what follows words such as "final answer:" at the beginning of
a line or sentence, in a field of JSON or between tags. Without one it is the whole
answer, its last paragraph, line or sentence, or its first line. Each reader takes the
first of these parts that it can read as a whole; only an explanation may follow.
"""

import json
import re
from collections.abc import Iterator
from enum import Enum
from functools import lru_cache

ANSWER = (
    r"(?:final|correct|my|the)?[ \t]*(?:answer|result|solution|conclusion|output)|final|finally|correction"
    r"|antwort|ergebnis|r[ée]ponse|respuesta|risposta|resposta|ответ"
    r"|答案|回答|答え|답"
)
"""Words for any conclusion."""
SEPARATOR = (
    r"[\"'*_`]*[ \t]*(?:[:=|\t]+>?[ \t]*\|?|\b(?:is|are)\b:?"
    r"|\b(?:est|es|ist|lautet|son|de|è|é)\b[ \t]*:?|[是为は는]:?)"
)
"""Between the words of a statement and its content."""
BOUNDARY = r"(?:\A|(?<=[\n|{},(\[])|(?<=[.!?;\u3002][ \t\n])|(?<=[-*\u2022>] )|(?<=: )(?![\"']))"
"""Where a statement may begin: of a line, sentence, item or field."""
SPOKEN_OF = re.compile(
    r"\b(?:example|e\.g|form|format|template|line|text|available|possible|admissible|allowed|valid"
    r"|option|alternative|variant|other|wrong|incorrect|not|no|isn't|never|if|had|would|could"
    r"|previous|earlier|start|starting|initial|begin\w*|began|at first|ends?|old|draft"
    r"|maximum|minimum|max|min|highest|lowest|like|you|must|ignore|rules|wants?|please|ask\w*|says?|said|wrote)\b",
    re.IGNORECASE,
)
"""Words before a statement by which it is none of the answer's own."""
UNSURE = re.compile(
    r"\b(?:or|either|depending|maybe|perhaps|unsure|not sure|otherwise|alternatively|oder|ou)\b"
    r"|\bif\b|\?|或",
    re.IGNORECASE,
)
"""Words that leave more than one reading."""
CLOSERS = " \t\"'`)]}>|*_"
EXPLAINED = re.compile(
    r"[.,;:!]?\s*(?:(?:\(|#|//|--?\s)(?!\s*[-\d])|因为"
    r"|(?:because|since|as|which|after|with|so|but|therefore|for|porque|car|weil|da)\b)"
    r"|[.;!:](?!\.)\s+[^\W\d]|,\s*[\"'][\w ]+[\"']\s*:",
    re.IGNORECASE,
)
"""The beginning of what explains a value, or of the next member of an object."""
OTHERWISE = re.compile(r"(?:or|oder|ou|alternatively)\b", re.IGNORECASE)
COMMENT = re.compile(
    r"\([ \t]*(?:confidence|certainty|confident)\b[^()]*\)|(?<=\S)[ \t]+(?:#|//|--?[ \t]+(?=[^\W\d]))[^\n]*"
)
SENTENCE = re.compile(r"(?<=[.!?;])\s+(?=[^\s\d]|\d?[.,]\d)|\n+")
NOTHING = " \t.*_-=#|"
MOST_STATEMENTS = 50
"""The last statements that are tried."""
MOST_LINES = 200
"""Lines at the end that may be a list."""
OPTION = re.compile(
    r"(?:\b(?i:option|alternative|variant|possibility|candidate|plan|choice)[ \t]+|^[ \t]*(?=[A-H]))"
    r"([A-Z]|\d{1,2})(?:[ \t]*[:.)][ \t\n]+|[ \t]+is:?[ \t]+(?=[A-Z(\"'\d]))",
    re.MULTILINE,
)
"""The label of one of several conclusions."""
CHOICE = re.compile(
    r"(?:^|[.!?,;:])[^\n.!?,;:]*\b(?i:choose|pick|select|go with|take|choice|answer|decision|so)\b[ \t:]*"
    r"(?:is[ \t]+)?(?:(?i:option|alternative|variant|possibility|candidate|plan|choice)[ \t]+|(?=[A-H]))"
    r"([A-Z]|\d{1,2})\W*\Z",
    re.MULTILINE,
)
"""The sentence at the end that names a label."""
CHOOSING = 100
"""Characters of such a sentence."""
LEFT_OPEN = re.compile(
    r"\b(?:could|might|may) (?:also|equally|just as well) be\b|\bsecond guess\b|\balternatively:",
    re.IGNORECASE,
)
EXPLAINS = re.compile(
    r"(?:step[_ ]by[_ ]step[_ ])?(?:thoughts?|thinking|reason\w*|rationale|expla\w+|notes?|comments?|analysis"
    r"|confidence|justification|why|length)",
    re.IGNORECASE,
)
"""A member of an object beside the conclusion."""
ANNOUNCES = re.compile(r"(?::|, namely) ")
FEWEST_WORDS = 4
"""Words of a sentence before its colon."""
RETRACTED = re.compile(
    r"(?<!can )\bwait\b(?=\s*[,:!-]|\.{3})|\bno\b(?=\s*[,.:;!-])"
    r"|\b(?:hmm+|actually|correction|instead|rather|on second thought)\b",
    re.IGNORECASE,
)
"""Words by which a first statement may be taken back."""
FORBIDS = re.compile(r"\b(?:not|don't|never)\b[^.:]*:\s*\Z", re.IGNORECASE)
DOUBTED = re.compile(
    r"\b(?:double[- ]check|recount|wait|hold on|actually|on (?:reflection|second thought)|hmm+)\b"
    r"(?!.{0,200}\byes\b).{0,200}\d",
    re.DOTALL | re.IGNORECASE,
)
"""A doubt with other numbers after it."""
PARAGRAPH = re.compile(r"\n[ \t]*\n")
CLAUSE_END = re.compile(r"[.!?]\s|\n")
NEAR = 200
"""Characters before a statement in which its sentence begins."""
CONDITION = re.compile(r"\b(?:if|unless|had|otherwise|else)\b", re.IGNORECASE)
CODE = re.compile(r"\s*(?:while|for|if|elif|else|until|otherwise)\b", re.IGNORECASE)
ITEM = re.compile(r"\s*(?:[-*\u2022+]|\(?\d{1,3}[.):])\s")
NOT_BUT = re.compile(
    r"\bnot\b(?:[^.;!?\n]|\.\d)*?\bbut\b(?! not)(?: rather| instead)?|\b(?:do not|don't)\b[^.;,!?\n]*[,;]"
    r"|[(,] *(?:and )?not\b[^.;!?)]*\)?",
    re.IGNORECASE,
)
"""What is denied beside what is not: "not X but", "do not X,", ", not X"."""
COPULA = re.compile(r"^(?:です|分|점|입니다|点)+")
"""What follows a number in Japanese, Chinese and Korean."""


class Unread(Enum):
    """Why a part has no value."""

    OTHER = "it says something else"
    AMBIGUOUS = "it leaves more than one reading"


def standing(text: str) -> str:
    """What stands of an answer: the option that it chooses of those that it declares, or
    an object's one member that does not explain; nothing where a choice is left open.
    """
    if text.startswith("{"):
        return _member(text)
    text = chosen(text)
    parts = OPTION.split(text)
    if len({*parts[1::2]}) > 1:
        # What follows the options may conclude.
        text = parts[-1].partition("\n\n")[2]
    return "" if LEFT_OPEN.search(text) else text


def chosen(text: str) -> str:
    """The option that an answer chooses of those that it declares; nothing where it
    declares no such one, and the whole answer where it chooses none.
    """
    choice = CHOICE.search(text, max(0, len(text) - CHOOSING))
    if choice is None:
        return text
    parts = OPTION.split(text[: choice.start()])
    options: dict[str, str] = dict(zip(parts[1::2], parts[2::2], strict=True))
    return options.get(choice[1], "").strip(" \t\n,;") if options else text


def _member(text: str) -> str:
    try:
        said = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return text
    match [one for one in said.items() if not EXPLAINS.fullmatch(one[0])]:
        case [(key, str() | list() as value)]:
            return f"{key}: {value if isinstance(value, str) else json.dumps(value)}"
    return text


def statements(text: str, words: str) -> Iterator[str]:
    """What follows each statement to the end of the answer; the last comes first.

    Args:
        text: a plain answer.
        words: a pattern of the words that begin one, such as "plan|action sequence".
    """
    for found in [*_statement(words).finditer(text)][: -MOST_STATEMENTS - 1 : -1]:
        rest = text[found.end() :].lstrip(" \t\n|\"'*_`")
        before = CLAUSE_END.split(text[max(0, found.start() - NEAR) : found.start()])[
            -1
        ]
        is_own = not (SPOKEN_OF.search(found["lead"]) or CONDITION.search(before))
        if rest and is_own:
            yield rest


def remaining(text: str) -> Iterator[str]:
    """The parts that may be a conclusion without a statement, the surest first.

    They are the whole answer, the end of its last paragraph, what its last line
    announces, and its last and first sentence.
    """
    yield text
    paragraphs = [each.strip() for each in PARAGRAPH.split(text) if each.strip()]
    last_one = "".join(paragraphs[-1:])
    lines = [line for line in last_one.splitlines() if line.strip(NOTHING)]
    for first, line in enumerate(["", *lines[:MOST_LINES]][: len(lines)]):
        # A part of a list is no conclusion.
        if line and (not is_prose(line) or FORBIDS.search(line)):
            break
        yield "\n".join(lines[first:]).strip()

    announced, *rest = ANNOUNCES.split("".join(lines[-1:]))
    is_own = "{" not in announced and not CONDITION.search(announced)
    if is_own and len(announced.split()) >= FEWEST_WORDS:
        yield "".join(rest[-1:]).strip()
    sentences = [each.strip() for each in SENTENCE.split(text) if each.strip(NOTHING)]
    if len(lines) == 1 or is_prose("".join(lines[-2:-1])):
        yield from sentences[-1:]
    if not RETRACTED.search(text):
        yield from sentences[:1]


def is_prose(line: str) -> bool:
    """Whether a line is a sentence, or announces what follows, other than in a program."""
    if CODE.match(line) or ITEM.match(line):
        return False
    ending = line.rstrip()[-1:]
    return ending == ":" or (ending in {".", "!", "?"} and len(line.split()) > 1)


def without_comments(text: str) -> str:
    """The text without comments of programs, and without what a dash sets off."""
    return COMMENT.sub("", text)


def follows(rest: str) -> Unread | None:
    """What the text after a value makes of it; None where it only explains."""
    first, _, later = rest.lstrip(CLOSERS).partition("\n")
    first = COPULA.sub("", first.strip())
    sentence = re.split(r"(?<=[.;!])\s", first, maxsplit=1)[0]
    next_line = later.lstrip().split("\n", 1)[0]
    if OTHERWISE.match(next_line) or DOUBTED.search(rest):
        return Unread.AMBIGUOUS
    if not first.strip(f"{CLOSERS}.,;:!"):
        return None
    if UNSURE.search(sentence):
        return Unread.AMBIGUOUS
    return None if EXPLAINED.match(first) else Unread.OTHER


@lru_cache(maxsize=16)
def _statement(words: str) -> re.Pattern[str]:
    return re.compile(
        rf"{BOUNDARY}[ \t\"'*_`(\[]{{0,4}}(?P<lead>(?:[\w']+[ \t]+){{0,7}}?)"
        rf"(?:{words}|{ANSWER})(?![ \t]+(?:\d|[A-D])\b)(?:[ \t]+[\w']+){{0,4}}?[ \t]*{SEPARATOR}",
        re.IGNORECASE,
    )
