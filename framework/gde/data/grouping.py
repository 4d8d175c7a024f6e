"""Records grouped by what they have in common."""

from collections.abc import Callable, Iterable
from typing import TypeVar

ItemT = TypeVar("ItemT")
KeyT = TypeVar("KeyT")


def grouped(
    items: Iterable[ItemT], key: Callable[[ItemT], KeyT]
) -> dict[KeyT, list[ItemT]]:
    """The items by key; keys and items in the order in which they come."""
    groups: dict[KeyT, list[ItemT]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
