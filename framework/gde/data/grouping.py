"""Records grouped by what they have in common."""

from collections.abc import Callable, Iterable
from typing import TypeVar

ItemT = TypeVar("ItemT")
KeyT = TypeVar("KeyT")


def grouped(
    items: Iterable[ItemT], key: Callable[[ItemT], KeyT]
) -> dict[KeyT, list[ItemT]]:
    """The items by key; keys and items in the order in which they come."""
    return collected((key(item), item) for item in items)


def collected(pairs: Iterable[tuple[KeyT, ItemT]]) -> dict[KeyT, list[ItemT]]:
    """The second of each pair by the first; both in the order in which they come."""
    groups: dict[KeyT, list[ItemT]] = {}
    for key, item in pairs:
        groups.setdefault(key, []).append(item)
    return groups
