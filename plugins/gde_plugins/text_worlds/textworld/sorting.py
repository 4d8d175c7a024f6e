"""Facts that are compared without comparing their parts.

At every step TextWorld sorts its facts some seventy times over, and each comparison goes through the names and types of
all that the facts are about. What they are sorted by never changes.
"""

from typing import Any

from textworld.logic import Proposition


def sort_by_key() -> None:
    """Have facts of this process sorted by a key that each is given once; the order is the same."""
    Proposition.__lt__ = before


def before(fact: Any, other: Any) -> Any:
    """Whether a fact comes before another, by its name and then by the names and types of its parts."""
    try:
        return fact.sort_key < other.sort_key
    except AttributeError:
        for each in (fact, other):
            if not isinstance(each, Proposition):
                return NotImplemented
            each.sort_key = (each.name, tuple((part.name, part.type) for part in each.arguments))
        return fact.sort_key < other.sort_key
