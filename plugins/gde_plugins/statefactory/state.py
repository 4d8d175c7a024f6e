"""A factorised state: objects with attributes, at four levels of detail."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from gde.data.transcript import Transcript

Level = Literal[1, 2, 3, 4]
"""How far a state is taken apart (Shen et al. 2026, appendix C.5.1): the observation
itself, sentences, objects with one description, objects with attributes.
"""


@dataclass(frozen=True)
class Item:
    """One object of a state or of a goal."""

    name: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Key to value; empty where the name says everything."""

    def texts(self) -> Iterator[str]:
        """Name, keys and values."""
        yield self.name
        for key, value in self.attributes.items():
            yield from (key, value)


Items = Sequence[Item]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """An episode as states and goals."""

    made_by: str
    """The extractor that read it."""
    states: Sequence[Items] = ()
    """One a turn."""
    goals: Sequence[Items] = ()
    """One a turn, none of them empty."""
    counts: Counter[str] = field(default_factory=Counter)
    failure: str = ""
    """Why there are no states and goals; empty where there are."""


class Extractor(Protocol):
    """Reads states and goals from episodes."""

    async def read(self, transcript: Transcript) -> Reading:
        """Read every turn of an episode; the reading says why it failed."""


SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")
DESCRIPTION = "description"


def sentences(text: str) -> Items:
    """One object for each sentence of a text."""
    found = (sentence.strip() for sentence in SENTENCE.findall(text))
    return [Item(sentence) for sentence in found if sentence]


def at_level(items: Items, level: Level) -> Items:
    """Objects with attributes, reduced to the structure of a level.

    Raises:
        ValueError: level 1.
    """
    if level == 1:
        raise ValueError(
            "level 1 is the observation itself, which cannot be made of objects"
        )
    if level == 2:
        found: list[Item] = []
        for item in items:
            found.extend(_statements(item))
        return found
    if level == 3:
        return [_with_description(item) for item in items]
    return items


def _statements(item: Item) -> Iterator[Item]:
    if not item.attributes:
        yield Item(item.name)
    for key, value in item.attributes.items():
        yield Item(f"{item.name}: {key} {value}")


def _with_description(item: Item) -> Item:
    if not item.attributes:
        return item
    description = "; ".join(f"{key} {value}" for key, value in item.attributes.items())
    return Item(item.name, {DESCRIPTION: description})
