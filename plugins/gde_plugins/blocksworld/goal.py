"""The goal of a problem, and a proof if it contradicts itself."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from gde_plugins.blocksworld.arrangement import HAND, TABLE, Below


@dataclass(frozen=True, kw_only=True)
class Goal:
    """Conditions that must hold together."""

    under: Mapping[int, int]
    """Block to the block that it must stand on, or to TABLE."""
    clear: frozenset[int] = frozenset()
    """Blocks that nothing may stand on and that are not held."""
    hand_empty: bool = False
    impossible: str = ""
    """A proof that the stated conditions contradict each other; empty if not."""

    @cached_property
    def over(self) -> Mapping[int, int]:
        """Block to the one that must stand on it."""
        return {under: block for block, under in self.under.items() if under != TABLE}

    def holds(self, below: Below) -> bool:
        """Return whether an arrangement meets the goal."""
        if self.impossible:
            return False
        for block, under in self.under.items():
            if below[block] != under:
                return False
        for block in self.clear:
            # The supports of all blocks include this one if a block stands on it.
            is_covered = block in below
            if is_covered or below[block] == HAND:
                return False
        is_holding = HAND in below
        return not (self.hand_empty and is_holding)

    def unconstrained(self, block: int) -> bool:
        """Return whether no condition mentions a block."""
        return (
            block not in self.under
            and block not in self.over
            and block not in self.clear
        )


def contradiction(
    on: Iterable[tuple[str, str]], on_table: Iterable[str], clear: Iterable[str]
) -> str:
    """Return why conditions can never hold together; empty if some arrangement meets
    them.

    The reason is a proof: a block stands on one thing, carries one block at most, and
    no tower is a circle. Nothing else restricts an arrangement, and every arrangement
    can be reached from every other by way of the table.

    Args:
        on: (block, block under it) of each condition `on`.
        on_table: blocks of the conditions `ontable`.
        clear: blocks of the conditions `clear`.
    """
    under: dict[str, str | None] = {}
    over: dict[str, str] = {}
    supports: list[tuple[str, str | None]] = [*on]
    supports += [(block, None) for block in on_table]
    for block, support in supports:
        if under.setdefault(block, support) != support:
            return f"{block} would stand on two things"
        if support is not None and over.setdefault(support, block) != block:
            return f"{support} would carry two blocks, {over[support]} and {block}"

    for block in sorted(clear):
        if block in over:
            return f"{block} would be clear and carry {over[block]}"

    # From every block down its tower: a block met twice closes a circle.
    for block in under:
        tower = [block]
        lower = under[block]
        while lower is not None and lower not in tower:
            tower.append(lower)
            lower = under.get(lower)
        if lower is not None:
            circle = " on ".join([*tower, lower])
            return f"{circle} would be a circle"
    return ""
