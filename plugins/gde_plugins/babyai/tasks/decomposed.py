"""Reading the subgoals that an answer names, in whatever form it does so.

They stand between the last tags, after a statement, or are the last paragraph. Names and
places are read in their order; any other word makes it no list, but in a comment.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from gde.data.answer import REFUSAL
from gde.data.answer_parts import remaining, statements, without_comments
from gde.data.answer_text import plain
from gde_plugins.babyai.oracle.subgoals import Name
from gde_plugins.babyai.tasks.planned import OTHERWISE, TOLD, is_only_part

Step = tuple[Name, tuple[int, int] | None]
"""A subgoal and the place that it names."""
STATEMENT = (
    r"(?:sub_?goals|decomposition|steps|plan)|teilziele|unterziele|sous-objectifs|submetas|subobjetivos"
    r"|子目标"
)
START = re.compile(
    r"[<\[(]\s*/?(?:start|strat|satrt)\s*[>\])]|^[\W_]*(?:start|begin)[\W_]*$",
    re.IGNORECASE | re.MULTILINE,
)
END = re.compile(
    r"[<\[(]\s*/?(?:end|edn)\s*[>\])]|^[\W_]*end[\W_]*$", re.IGNORECASE | re.MULTILINE
)
NAMES: dict[Name, str] = {
    "GoNextTo": r"go[ _]?next[ _]?to(?:[ _]?sub[ _]?goal)?(?:[ _]position)?",
    "Open": r"open(?:[ _]?sub[ _]?goal)?",
    "Close": r"close(?:[ _]?sub[ _]?goal)?",
    "Drop": r"drop(?:[ _]?sub[ _]?goal)?",
    "Pickup": r"pick[ _]?up(?:[ _]?sub[ _]?goal)?",
}
NUMBER = r"-?\d{1,9}(?![\w]|\.\d)"
FIELD = r"(?:position|pos|place|location|target|coord(?:inate)?s?|arg(?:ument)?s|parameters|at|cell)"
PLACE = (
    rf"[\s,:\"'=|]*(?:-\s)?[\[(<{{]*[\s\"']*(?:{FIELD}[\s\"']*[:=]?\s*)?[\[(<{{]*\s*"
    rf"(?:\"?x\"?\s*[:=]\s*)?(?P<x>{NUMBER})\s*[,;\s]\s*(?:\"?y\"?\s*[:=]\s*)?(?P<y>{NUMBER})"
    r"(?P<more>\s*(?:[,;]\s*-?\d|[)\]]\s*,\s*[(\[]\s*-?\d))?"
)
"""A place in brackets or fields; what is more than one is found, so that it is refused."""
EMPTY = (
    "the|sub_?goals?|is|are|followed by|and|then|first|second|third|fourth|fifth|sixth|finally|next|namely"
    "|name|type|kind|action|args|arguments|parameters|position|pos|place|target|coordinates|none|null"
    r"|append|return|def \w+\(\)"
)
"""Words that say nothing of what is done."""
NAMED = "|".join(f"(?P<{name}>{words})" for name, words in NAMES.items())
TOKEN = re.compile(
    rf"(?:{NAMED})(?![^\W_])(?:{PLACE})?"
    r"|(?:step|part|subgoal|goal|phase)[ \t]*#?\d+[.:)]?|\d{1,3}(?:[\"']?[.):,](?!\d)|(?=\s*[|\t]))"
    rf"|(?:{EMPTY})(?!\w)|-+>|=>|\u2192|[\s,;:.()\[\]<>{{}}\"'`|*\u2022=_#+-]+",
    re.IGNORECASE,
)
HASH = re.compile(r"^[ \t]*#+[ \t]+[^\n(<]*$", re.MULTILINE)
BECAUSE = re.compile(r"(?:,?\s+|\s*\()(?:because|since|so that)\b[^\n]*", re.IGNORECASE)
WRITTEN = re.compile(r"\b(?:GoNextTo|Open|Close|Drop|Pickup)Subgoal\b", re.IGNORECASE)
"""A subgoal as the question writes it."""
THING = re.compile(
    r"[,(]\s*(?:the )?(?:(?:red|green|blue|purple|yellow|gr[ea]y) )?(?:ball|box|key|door)\s*(?=\))",
    re.IGNORECASE,
)
"""What stands at a place, in brackets."""
SURENESS = re.compile(r"[\[(]\s*\d+\s*%[^\])]*[\])]")
CASE = re.compile(
    r"^[ \t]*(?:if|otherwise|else)\b[^\n]*:[ \t]*$", re.MULTILINE | re.IGNORECASE
)
TOLD_IN = re.compile(TOLD, re.IGNORECASE | re.MULTILINE)
UNSURE = re.compile(r"\b(?:or|if|either|not|unless|maybe|depending)\b", re.IGNORECASE)


def read_decomposed(answer: str) -> tuple[Step, ...] | None:
    """The subgoals that the answer concludes with; None where it names none, or leaves
    more than one reading.
    """
    # Sentences after the sign of a comment are none of the list.
    text = plain(HASH.sub("", answer))
    starts = [*START.finditer(text)]
    ends = [*END.finditer(text)]
    if starts or ends:
        regions = [*_regions(text, starts, ends)]
        read = [_steps(region) for region in regions if region.strip(" \n-<>")]
        is_choice = CASE.search(text) and len({*read}) > 1
        return None if is_choice or not read else read[-1]
    if REFUSAL.match(text):
        return None
    for part in statements(text, STATEMENT):
        if found := _beginning(part):
            return found
    for part in remaining(text):
        if found := _beginning(part):
            others = text.replace(part, "")
            is_more = WRITTEN.search(others) or any(map(_steps, others.splitlines()))
            is_part = is_only_part(part, text, TOLD_IN) or is_more
            return None if is_part else found
    return None


def _regions(
    text: str, starts: Sequence[re.Match[str]], ends: Sequence[re.Match[str]]
) -> Iterator[str]:
    """What stands between tags; the end or the beginning of the text where one lacks."""
    begins = [start.end() for start in starts] or [0]
    for begin in begins:
        after = [tag.start() for tag in (*starts, *ends) if tag.start() >= begin]
        yield text[begin : min(after, default=len(text))]


def _beginning(part: str) -> tuple[Step, ...] | None:
    """The subgoals at the beginning of a part, after which only prose stands."""
    if whole := _steps(part):
        return whole
    steps: tuple[Step, ...] = ()
    is_list = True
    for line in filter(str.strip, part.splitlines()):
        found = _steps(line)
        # Nothing of a list is left out.
        is_missed = found is None and WRITTEN.search(line)
        if (found and not is_list) or (steps and OTHERWISE.match(line)) or is_missed:
            return None
        is_list = is_list and found is not None
        steps += found or ()
    return steps or None


@lru_cache(maxsize=4096)
def _steps(region: str) -> tuple[Step, ...] | None:
    """The subgoals of a text that says nothing else; None where it does, or has none."""
    text = without_comments(region)
    for aside in (BECAUSE, SURENESS, THING):
        text = aside.sub("", text)
    if UNSURE.search(text):
        return None
    steps: list[Step] = []
    place = 0
    while place < len(text):
        token = TOKEN.match(text, place)
        if token is None:
            return None
        place = token.end()
        for name in NAMES:
            if token[name]:
                if token["more"]:
                    return None
                at = None if token["x"] is None else (int(token["x"]), int(token["y"]))
                steps.append((name, at))
    return tuple(steps) or None
