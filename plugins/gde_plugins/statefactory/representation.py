"""One state at four levels of detail, from a flat text to attributes (Shen et al. 2026,
appendix C.5.1).
"""

import re
from collections.abc import Iterator

from gde_plugins.statefactory.state import Item, Items, Level

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
