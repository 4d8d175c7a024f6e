"""Which of the admissible actions a text names, however it spells them."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from gde.data.action_words import ARTICLE, common_name, without_motion
from gde.data.answer_parts import NOT_BUT
from gde.data.answer_text import tidy

BULLET = re.compile(r"(?:[-+*\u2022>#]\s+|\(?\d{1,3}[.)]\s+)+")
FENCE = re.compile(r"```[\w-]*")
AROUND = " *_`~\"'<>()[]{}|$"
"""Marks around a name: Markdown, quotes and brackets."""
AFTER = f"{AROUND}.,;:!"
ROOM = 80
"""Characters of Markdown, articles and the like around a name."""
LONGEST = 2_000
"""Characters of a text that may name an action; a longer one is prose."""
FEWEST = 2
"""Letters of a name that prose may hold: "a" is also an article."""
DENIAL = re.compile(
    r"\b(?:not|no|never|cannot|avoid|without|except|unless|instead of|rather than|(?:any|every)thing but"
    r"|all but|wrong|blocked|impossible|invalid|illegal|bad|worse|mistake|pointless|useless|failed|fails"
    r"|like this|such as|(?:have|has) just|already|later|(?:could|might|may) be"
    r"|(?:action|command|move|step)s? (?:was|were)"
    r"|(?:example|prompt|question|instructions?)\b[^.!?\n]{0,30}\b(?:says?|shows?|gives?)|nicht|kein\w*|pas|nunca|não|non)\b"
    r"|n't\b|\?|不|ない",
    re.IGNORECASE,
)
"""Words around a name that may deny it, or speak of it only."""
OR = re.compile(r"\bor\b", re.IGNORECASE)
INTENT = re.compile(
    r"(?:^|[,;:] |\b(?:so|therefore|thus|hence|then) )"
    r"(?:(?:i|we|you|it|the agent)"
    r"(?:'ll|'d| will| would| should| shall| must| has to| needs to| am going to| choose to| want to)?|let me|let's"
    r"|(?:the )?(?:best|next|optimal|right) (?:move|action|step) is to)(?: now| then| therefore| first| next)?"
    r" (?:go|move|step|head|walk|choose|pick|select|take)(?: to the)? (?P<name>[\w'-]+)"
    r"|^(?:so |thus )?(?:my|the) (?:choice|decision|move|action|answer)\b[^.,;:]* is (?:to )?(?P<chosen>[\w'-]+)\W*$"
    r"|^(?:ich|je|yo|io|eu|voy|vado|vou|der agent|l'agent|el agente|l'agente|o agente)\b[^.;,:]*[ '](?P<other>\w+)\W*$"
    r"|^(?P<first>[\w'-]+) (?:is|seems|looks|would be) (?:the )?"
    r"(?:best|correct|optimal|right|safest|shortest|better)\b",
    re.IGNORECASE,
)
"""A sentence that says what its speaker does, with a name that may be an everyday word."""


def fold(text: str) -> str:
    """The text in one spelling of letters and blanks."""
    return " ".join(tidy(text).casefold().split())


@lru_cache(maxsize=4096)
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


def unmoved(text: str) -> str:
    """The bare text without a verb of motion."""
    return without_motion(bare(text))


@lru_cache(maxsize=4096)
def common(text: str) -> str:
    """The bare text in the commonest words for its directions and verbs."""
    name = bare(text)
    return name if DENIAL.search(name) else common_name(name)


@lru_cache(maxsize=4096)
def squeezed(text: str) -> str:
    """The common text without blanks and hyphens."""
    return re.sub(r"[\s_-]", "", common(text))


def equal_to(text: str, actions: Sequence[str]) -> list[str]:
    """The actions that the whole text names, by the closest spelling that any has.

    Several actions may differ by spelling alone.
    """
    if text in actions:
        return [text]
    # A text that is much longer than any name is none.
    if len(text) > ROOM + 4 * max(map(len, actions), default=0):
        return []
    spellings: tuple[Callable[[str], str], ...] = (
        fold,
        bare,
        unmoved,
        common,
        squeezed,
    )
    for spelling in spellings:
        name = spelling(text)
        found = [action for action in actions if name and spelling(action) == name]
        if found:
            return list(dict.fromkeys(found))
    name = bare(text)
    if len(name) == 1 and name.isalpha():
        initial = [action for action in actions if bare(action).startswith(name)]
        return initial if len(initial) == 1 else []
    return []


def named_in(text: str, actions: Sequence[str], *, prose: bool = False) -> list[str]:
    """The actions that a sentence names as whole words, and does not deny or ask for.

    A name within a longer one does not count: "open the door" in "open the door 2". In
    prose, a name in capitals is not the word in small letters ("one step left"), and one
    in small letters is a word like any other where it does not begin or end a sentence.
    """
    sentence = " ".join(tidy(text).split())
    if len(sentence) > LONGEST:
        return []
    if prose and (intended := INTENT.search(sentence)) and not DENIAL.search(sentence):
        name = next(filter(None, intended.groups()))
        if found := equal_to(name, actions):
            return found
    sentence = NOT_BUT.sub(" ", sentence)
    named = _spoken(sentence, actions, prose=prose)
    return named or _spoken(ARTICLE.sub("", sentence), actions, prose=prose)


def _spoken(sentence: str, actions: Sequence[str], *, prose: bool) -> list[str]:
    pattern, actions_of = _names(tuple(actions))
    spans = [found.span(1) for found in pattern.finditer(sentence)]
    outer = [span for span in spans if not any(_within(span, one) for one in spans)]

    named: dict[str, None] = {}
    is_word = True
    rest = sentence
    for begin, end in reversed(outer):
        name = sentence[begin:end]
        # "look" amid a sentence is a word like any other.
        is_amid = bool(sentence[:begin].strip(AFTER) and sentence[end:].strip(AFTER))
        for action in actions_of.get(fold(name), ()):
            named[action] = None
            is_word &= (action.isupper() and not name.isupper()) or (
                is_amid and action.isalpha() and action.islower()
            )
        rest = f"{rest[:begin]} {rest[end:]}"
    is_open = len(named) == 1 and OR.search(rest)
    if is_open or DENIAL.search(rest) or (prose and is_word):
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
        full = fold(action)
        for name in {full, ARTICLE.sub("", full), full.replace("_", " ")}:
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
