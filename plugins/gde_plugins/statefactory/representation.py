"""One state at four levels of detail, from a flat text to attributes (Shen et al. 2026, appendix C.5.1)."""

import re
from collections.abc import Iterator

from gde_plugins.statefactory.state import Item, Items, Level

SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")
DESCRIPTION = "description"


def sentences(text: str) -> Items:
    """One object a sentence, as a text stands."""
    found = (sentence.strip() for sentence in SENTENCE.findall(text))
    return [Item(sentence) for sentence in found if sentence]


def at_level(items: Items, level: Level) -> Items:
    """Objects with attributes, told with less structure; level 1 is not made of them.

    Raises:
        ValueError: level 1.
    """
    if level == 1:
        raise ValueError("level 1 is what is seen itself, which objects do not tell")
    if level == 2:
        return [Item(sentence) for item in items for sentence in _told(item)]
    if level == 3:
        return [_described(item) for item in items]
    return items


def _told(item: Item) -> Iterator[str]:
    if not item.attributes:
        yield item.name
    for key, value in item.attributes.items():
        yield f"{item.name}: {key} {value}"


def _described(item: Item) -> Item:
    if not item.attributes:
        return item
    return Item(item.name, {DESCRIPTION: "; ".join(f"{key} {value}" for key, value in item.attributes.items())})
