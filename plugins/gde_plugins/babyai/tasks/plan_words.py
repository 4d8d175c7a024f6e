"""What the actions of plans are called, and how often they are done, in everyday words."""

import re
from collections.abc import Callable

THING = r"(?: (?:the|a|an|it|red|green|blue|purple|yellow|grey|gray|key|ball|box|door|object|item))*"
GO = r"(?:(?:moves?|go(?:es)?|walks?|steps?|advances?|proceeds?|continues?|drives?) )?"
TURN = (
    r"(?:(?:turns?|rotates?|spins?|make a|(?:tourner?|tourne) à|gira(?:r)? a(?: la)?) )?"
    r"(?:to (?:the|your|its) )?"
)
SYNONYMS = {
    "left": rf"{TURN}(?:left|gauche|links|izquierda|esquerda|sinistra|налево|влево)(?: turn)?",
    "right": rf"{TURN}(?:right|droite|rechts|derecha|direita|destra|направо|вправо)(?: turn)?",
    "forward": rf"{GO}(?:straight )?(?:forwards?|ahead|fwd|straight|adelante|avanzar?|avancer?|avanti"
    r"|avançar|впер[её]д|vorwärts|geradeaus)",
    "pickup": rf"picks? (?:it |(?:the|a) (?:\w+ )?\w+ )?up{THING}"
    rf"|(?:pickup|grab|ramasser|recoger|aufheben){THING}",
    "drop": rf"(?:drop|puts? down|lâcher|soltar|ablegen){THING}",
    "toggle": rf"toggle{THING}",
    "done": "done",
}
"""What each action is called, in small letters with one blank between words."""
UNSPACED = {
    "left": "向?左转|左|왼쪽",
    "right": "向?右转|右|오른쪽",
    "forward": "向?前进|向前走|前進|앞으로|전진",
    "pickup": "捡起|拾取",
    "drop": "放下",
    "toggle": "切换",
}
"""The same in languages that write no blanks between words."""
CALLED = [
    (re.compile(rf"(?<![^\W_])(?:{words})(?![^\W_])"), name)
    for name, words in SYNONYMS.items()
] + [(re.compile(words), f" {name} ") for name, words in UNSPACED.items()]
INITIALS = {"L": "left", "R": "right", "F": "forward", "P": "pickup", "T": "toggle"}
"""Letters that begin the name of one action alone."""
LETTERS = re.compile(r"[LRFPT](?:(?:[\s,;]|->)+[LRFPT])+|[LRF]{3,}")
ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
CHINESE = {"一": 1, "两": 2, "二": 2, "三": 3, "四": 4, "五": 5}
UNIT = r"(?:cells?|steps?|squares?|tiles?|times|units?|spaces?|fields?)"
Written = str | Callable[[re.Match[str]], str]
TIMES: list[tuple[re.Pattern[str], Written]] = [
    (re.compile(rf"\b(?:{'|'.join(ONES)})\b"), lambda one: str(ONES.index(one[0]) + 1)),
    (re.compile("([一两二三四五])[步次格]"), lambda one: f" x{CHINESE[one[1]]}"),
    (re.compile(r"\bonce\b"), "x1"),
    (re.compile(r"\btwice\b"), "x2"),
    (re.compile(rf"(?<![\w.])(\d{{1,3}})(?: {UNIT}\b| ?[x\u00d7](?!\w))"), r" x\1"),
    (re.compile(r"(?:\bx|[\u00d7*]) ?(\d{1,3})\b"), r" x\1"),
    (re.compile(r"(?<=\w)\((\d{1,3})\)"), r" x\1"),
    (re.compile(r"\",\s*\"(?:count|times|repeat|n)\":\s*(\d{1,3})"), r" x\1"),
]
"""How often an action is done, written as x3."""
SAYING_NOTHING = """
the agent agent's should must will would can i we you to go move walk turn now please step action actions
first second third fourth fifth sixth seventh eighth ninth tenth then next finally and afterwards after
that lastly it suffices und dann danach zuletzt y luego entonces et puis ensuite poi e
return append 先 再
"""
EMPTY = frozenset(SAYING_NOTHING.split())
"""Words that say nothing of what is done."""
NUMBERED = re.compile(r"^[ \t]*(\d{1,3})[ \t,;]+(?=\D)", re.MULTILINE)
PLACE = re.compile(r"\s*-?\d+\s*,\s*-?\d+\s*")
ASIDE = re.compile(r"\(([^()]*)\)")


def in_names(part: str) -> str:
    """A part in the names of actions, counts as x3, without what brackets explain."""
    if LETTERS.fullmatch(part.strip(" .\n")):
        return ", ".join(INITIALS[each] for each in re.findall("[A-Z]", part))
    # 1, 2, 3... at the beginnings of lines are no counts.
    numbers = NUMBERED.findall(part)
    if len(numbers) > 1 and numbers == [str(n + 1) for n in range(len(numbers))]:
        part = NUMBERED.sub(r"\1. ", part)
    text = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", " ", part).lower()
    text = re.sub(r"(?<=[a-z])[_-](?=[a-z])", " ", text)
    text = re.sub(r"\b[a-z]\w*\.(?=[a-z])", "", re.sub(r"[ \t]+", " ", text))
    text = text.replace("next to", "beside")
    for pattern, name in CALLED:
        text = pattern.sub(name, text)
    for pattern, written in TIMES:
        text = pattern.sub(written, text)
    n = 1
    while n:
        text, n = ASIDE.subn(_aside, text)
    return text


def _aside(found: re.Match[str]) -> str:
    """What stands in brackets, where it is actions or a count; else nothing.

    A place is kept from being overlooked: to go there is no action.
    """
    inner = found[1]
    if PLACE.fullmatch(inner):
        return " # "
    words = {*re.findall(r"[^\W\d_]+", inner)}
    is_plan = words & SYNONYMS.keys() and words <= {*SYNONYMS, *EMPTY}
    is_count = re.fullmatch(r"\s*x\d+\s*", inner)
    return f" {inner} " if is_plan or is_count else " "
