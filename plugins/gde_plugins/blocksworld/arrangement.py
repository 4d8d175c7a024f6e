"""The arrangement of the blocks, and the effects of the four operators on it."""

from collections.abc import Iterator
from typing import NamedTuple

TABLE = -1
HAND = -2
Below = tuple[int, ...]
"""The support of each block, by number: another block, TABLE, or HAND for the held
one.
"""


class Action(NamedTuple):
    """An operator and its blocks by number."""

    operator: str
    """pick-up, put-down, stack or unstack."""
    block: int
    other: int = TABLE
    """The block that it is stacked on or unstacked from; TABLE for the other
    operators.
    """


def held(below: Below) -> int | None:
    """Return the block in the hand."""
    return below.index(HAND) if HAND in below else None


def tops(below: Below) -> list[int]:
    """Return the blocks that nothing stands on and that are not held, in order."""
    covered = {*below}
    return [
        block
        for block, under in enumerate(below)
        if block not in covered and under != HAND
    ]


def put(below: Below, block: int, under: int) -> Below:
    """Return the arrangement with one block moved."""
    return (*below[:block], under, *below[block + 1 :])


def towers(below: Below) -> list[list[int]]:
    """Return the towers, each from the lowest block up.

    They are in the order of their lowest blocks.
    """
    above = blocks_above(below)
    found = []
    for lowest, under in enumerate(below):
        # The lowest block of a tower stands on the table; a held block is in no tower.
        if under != TABLE:
            continue
        tower = []
        block: int | None = lowest
        while block is not None:
            tower.append(block)
            block = above.get(block)
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
            if under == TABLE:
                action = Action("pick-up", top)
            else:
                action = Action("unstack", top, under)
            yield action, put(below, top, HAND)
    else:
        yield Action("put-down", block), put(below, block, TABLE)
        for top in tops(below):
            yield Action("stack", block, top), put(below, block, top)
