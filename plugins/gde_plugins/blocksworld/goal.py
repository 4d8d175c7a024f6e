"""What a problem asks for, and the proof where it asks for what cannot be."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from gde_plugins.blocksworld.arrangement import HAND, TABLE, Below


@dataclass(frozen=True, kw_only=True)
class Goal:
    """Conditions that must hold together. Those of a problem that can be solved contradict each other nowhere."""

    under: Mapping[int, int]
    """Block to the block that it must stand on, or to TABLE."""
    clear: frozenset[int] = frozenset()
    """Blocks that nothing may stand on and that are not held."""
    hand_empty: bool = False

    @cached_property
    def over(self) -> Mapping[int, int]:
        """Block to the one that must stand on it."""
        return {under: block for block, under in self.under.items() if under != TABLE}

    def holds(self, below: Below) -> bool:
        """Whether an arrangement is what is asked for."""
        if any(below[block] != under for block, under in self.under.items()):
            return False
        if self.clear and any(below[block] == HAND or block in below for block in self.clear):
            return False
        return not (self.hand_empty and HAND in below)

    def unconstrained(self, block: int) -> bool:
        """Whether nothing is asked of a block itself."""
        return block not in self.under and block not in self.over and block not in self.clear


def contradiction(on: Iterable[tuple[str, str]], on_table: Iterable[str], clear: Iterable[str]) -> str:
    """Why conditions can never hold together; empty where some arrangement meets them.

    What is found is a proof: a block stands on one thing, carries one block at most, and no tower is a circle. Nothing
    else restricts an arrangement, and every arrangement can be reached from every other by way of the table.

    Args:
        on: (block, block under it) of each condition `on`.
        on_table: blocks of the conditions `ontable`.
        clear: blocks of the conditions `clear`.
    """
    under: dict[str, str | None] = {}
    over: dict[str, str] = {}
    for block, support in (*on, *((block, None) for block in on_table)):
        if under.setdefault(block, support) != support:
            return f"{block} would stand on two things"
        if support is not None and over.setdefault(support, block) != block:
            return f"{support} would carry two blocks, {over[support]} and {block}"
    if covered := sorted({*clear} & over.keys()):
        return f"{covered[0]} would be clear and carry {over[covered[0]]}"
    for block in under:
        tower, at = [block], under[block]
        while at is not None and at not in tower:
            tower.append(at)
            at = under.get(at)
        if at is not None:
            return f"{' on '.join([*tower, at])} would be a circle"
    return ""
