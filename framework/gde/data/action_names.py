"""Which of the admissible actions a text names, however it spells them."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from unicodedata import normalize

ALIKE = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
        # Characters without a width.
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"),
    }
)
"""Quotes and dashes of typography to those of keyboards."""
BULLET = re.compile(r"(?:[-+*\u2022>#]\s+|\(?\d{1,3}[.)]\s+)+")
FENCE = re.compile(r"```[\w-]*")
AROUND = " *_`~\"'<>()[]{}|$"
"""Marks around a name: Markdown, quotes and brackets."""
AFTER = f"{AROUND}.,;:!"
LONGEST = 2_000
"""Characters of a text that may name an action; a longer one is prose."""
FEWEST = 2
"""Letters of a name that prose may hold: "a" is also an article."""
DENIAL = re.compile(
    r"\b(?:not|no|never|cannot|avoid|without|except|unless|instead of|rather than)\b"
    r"|n't\b|\?",
    re.IGNORECASE,
)
"""Words around a name that may deny it."""


def tidy(text: str) -> str:
    """The text with one character for all that look alike (NFKC, quotes, dashes)."""
    return normalize("NFKC", text).translate(ALIKE)


def fold(text: str) -> str:
    """The text in one spelling of letters and blanks."""
    return " ".join(tidy(text).casefold().split())


def bare(text: str) -> str:
    """The folded text without Markdown, quotes, bullets and punctuation around it."""
    name = fold(FENCE.sub(" ", text))
    while True:
        bullet = BULLET.match(name)
        start = bullet.end() if bullet else 0
        stripped = name[start:].lstrip(AROUND).rstrip(AFTER)
        if stripped == name:
            return name
        name = stripped


def equal_to(text: str, actions: Sequence[str]) -> list[str]:
    """The actions that the whole text names, by the closest spelling that any has.

    Several actions may differ by spelling alone.
    """
    if text in actions:
        return [text]
    if len(text) > LONGEST:
        return []
    spellings: tuple[Callable[[str], str], ...] = (fold, bare)
    for spelling in spellings:
        name = spelling(text)
        found = [action for action in actions if name and spelling(action) == name]
        if found:
            return list(dict.fromkeys(found))
    return []


def named_in(text: str, actions: Sequence[str], *, prose: bool = False) -> list[str]:
    """The actions that a sentence names as whole words, and does not deny or ask for.

    A name within a longer one does not count: "open the door" in "open the door 2". In
    prose, a name in capitals is not the word in small letters: "one step left".
    """
    sentence = " ".join(tidy(text).split())
    if len(sentence) > LONGEST:
        return []
    pattern, actions_of = _names(tuple(actions))
    spans = [found.span(1) for found in pattern.finditer(sentence)]
    outer = [span for span in spans if not any(_within(span, one) for one in spans)]

    named: dict[str, None] = {}
    is_word = True
    rest = sentence
    for begin, end in reversed(outer):
        name = sentence[begin:end]
        for action in actions_of.get(fold(name), ()):
            named[action] = None
            is_word &= action.isupper() and not name.isupper()
        rest = f"{rest[:begin]} {rest[end:]}"
    if DENIAL.search(rest) or (prose and is_word):
        return []
    return [*reversed(named)]


def meant(text: str, actions: Sequence[str], *, prose: bool = False) -> list[str]:
    """The actions that a text is, or else those that it names."""
    return equal_to(text, actions) or named_in(text, actions, prose=prose)


# Most turns of an environment have one of a few lists of actions.
@lru_cache(maxsize=256)
def _names(actions: tuple[str, ...]) -> tuple[re.Pattern[str], Mapping[str, list[str]]]:
    """A pattern of all names, the longest at each place, and the actions of each."""
    actions_of: dict[str, list[str]] = {}
    for action in actions:
        name = fold(action)
        if len(name) >= FEWEST:
            actions_of.setdefault(name, []).append(action)

    longest_first = sorted(actions_of, key=len, reverse=True)
    # Where there are no names, a pattern that matches nothing.
    either = "|".join(map(re.escape, longest_first)) or r"(?!)"
    # Looked ahead for, so that overlapping names are all found.
    looked_for = rf"(?<!\w)(?=({either})(?!\w))"
    return re.compile(looked_for, re.IGNORECASE), actions_of


def _within(span: tuple[int, int], other: tuple[int, int]) -> bool:
    return span != other and other[0] <= span[0] and span[1] <= other[1]
