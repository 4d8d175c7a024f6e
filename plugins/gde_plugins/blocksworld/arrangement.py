"""The arrangement of the blocks, and what the four operators do to it."""

from collections.abc import Iterator
from typing import NamedTuple

TABLE, HAND = -1, -2
Below = tuple[int, ...]
"""What each block, by number, stands on: another block, TABLE, or HAND for the one that is held."""


class Action(NamedTuple):
    """An operator and its blocks by number."""

    operator: str
    """pick-up, put-down, stack or unstack."""
    block: int
    other: int = TABLE
    """The block that it is stacked on or unstacked from; TABLE for the other operators."""


def held(below: Below) -> int | None:
    """Return the block in the hand."""
    return below.index(HAND) if HAND in below else None


def tops(below: Below) -> list[int]:
    """Return the blocks that nothing stands on and that are not held, in order."""
    covered = {*below}
    return [block for block, under in enumerate(below) if block not in covered and under != HAND]


def put(below: Below, block: int, under: int) -> Below:
    """Return the arrangement with one block moved."""
    return (*below[:block], under, *below[block + 1 :])


def towers(below: Below) -> list[list[int]]:
    """Return the towers in the order of their lowest blocks, each from the lowest block up."""
    above = blocks_above(below)
    found = []
    for block, under in enumerate(below):
        if under == TABLE:
            tower = [block]
            while (upper := above.get(tower[-1])) is not None:
                tower.append(upper)
            found.append(tower)
    return found


def blocks_above(below: Below) -> dict[int, int]:
    """Return for each covered block the one that stands on it."""
    return {under: block for block, under in enumerate(below) if under >= 0}


def successors(below: Below) -> Iterator[tuple[Action, Below]]:
    """Yield every possible action with the arrangement that it leads to."""
    block = held(below)
    if block is None:
        for top in tops(below):
            under = below[top]
            action = Action("pick-up", top) if under == TABLE else Action("unstack", top, under)
            yield action, put(below, top, HAND)
    else:
        yield Action("put-down", block), put(below, block, TABLE)
        for top in tops(below):
            yield Action("stack", block, top), put(below, block, top)
