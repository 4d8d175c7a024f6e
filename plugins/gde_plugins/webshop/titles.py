"""Words that say what kind of product a title names."""

from collections.abc import Callable, Sequence
from functools import lru_cache

from gde.errors import ConfigError, needing
from gde_plugins.webshop.index import WORD

Nouns = Callable[[str], Sequence[str]]
"""Takes a title; gives its nouns in lower case."""
IDLE = "a an and by for from in of on or our the to with"
STOP_WORDS = frozenset(IDLE.split())
NOUNS = frozenset({"NOUN", "PROPN"})


def words(title: str) -> list[str]:
    """Return all words but numbers and stop words, where no tagger tells nouns."""
    found = WORD.findall(title.lower())
    return [each for each in found if not each.isdigit() and each not in STOP_WORDS]


@lru_cache(maxsize=2)
def tagged(tagger: str) -> Nouns:
    """Return the nouns by a spaCy pipeline, as in the released code.

    Raises:
        MissingExtra: spaCy is not installed.
        ConfigError: there is no such pipeline.
    """
    with needing(f"env.tagger={tagger}", "spacy", "text-worlds"):
        import spacy
    try:
        pipeline = spacy.load(tagger)
    except OSError as error:
        raise ConfigError(
            f"env.tagger: wanted an installed spaCy pipeline, got {tagger!r}: "
            f"python -m spacy download {tagger}"
        ) from error

    @lru_cache(maxsize=10_000)
    def nouns(title: str) -> tuple[str, ...]:
        found = [word for word in pipeline(title) if word.pos_ in NOUNS]
        return tuple(word.text.lower() for word in found)

    return nouns
