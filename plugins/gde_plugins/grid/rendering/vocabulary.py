"""Names of moves and cells. Other names for the same things show whether an agent reads
the rules.
"""

import re
import string
from dataclasses import dataclass

from gde.data.json import NONE
from gde_plugins.grid.grid import FREE_SYMBOL, WALL_SYMBOL, Grid
from gde_plugins.grid.rendering.layout import AGENT_SYMBOL, GOAL_SYMBOL, render_text
from gde_plugins.grid.solver.dynamics import ACTIONS

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
SYMBOLS = frozenset(string.ascii_letters + string.punctuation) - {"/", ",", '"', "\\"}
"""Allowed symbols of cells: one printable character that is no index, separates no
settings and needs no escape.
"""
PLAIN_SYMBOLS = (AGENT_SYMBOL, GOAL_SYMBOL, WALL_SYMBOL, FREE_SYMBOL)
EXAMPLE = Grid(rows=("#####", "#___#", "###_#", "#####"), agent=(1, 1), goal=(2, 3))


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """The words of a grid's text, rules and actions."""

    actions: tuple[str, ...] = ACTIONS
    """Names of moving up, down, left and right, in this order, which is the action
    index order.
    """
    symbols: tuple[str, ...] = PLAIN_SYMBOLS
    """Symbols of agent, goal, wall and free cell."""

    @classmethod
    def read(cls, actions: str = NONE, symbols: str = NONE) -> "Vocabulary":
        """Read the vocabulary from two settings of `GridConfig`.

        Raises:
            ValueError: what was wanted.
        """
        return cls(actions=read_actions(actions), symbols=read_symbols(symbols))

    @property
    def unusual(self) -> tuple[str, ...]:
        """All words, or nothing if all are plain."""
        if self == Vocabulary():
            return ()
        return (*self.actions, *self.symbols)

    @property
    def agent(self) -> str:
        return self.symbols[0]

    @property
    def objective(self) -> str:
        """The instruction of the episode."""
        return f"Move the agent {self.agent} to the goal {self.symbols[1]} in the least number of steps."

    @property
    def rules(self) -> str:
        """Explanation of the text and of the actions, with an example (after Arghal et
        al. 2026, appendix E.2).
        """
        up, down, left, right = self.actions
        agent, goal, wall, free = self.symbols
        example = render_text(EXAMPLE.rows, EXAMPLE.agent, EXAMPLE.goal)
        return (
            f"The world is a grid: {agent} is the agent, {goal} the goal, {wall} a wall, {free} a free cell. The first"
            " line holds the column indices, and every other line begins with its row index. A position is written"
            " (row, column); rows are counted downwards from 0, columns to the right from 0. Every action moves the"
            f" agent by one cell: {up} to the row above, {down} to the row below, {left} to the column on the left,"
            f" {right} to the column on the right. A move into a wall leaves it where it is and still counts as a"
            f" step.\nFor example, in this grid of 4 rows and 5 columns\n{self.redraw(example)}\nthe agent is at (1, 1)"
            " and the goal at (2, 3). The cells (1, 2) and (1, 3) are free; (2, 1) and (2, 2) are walls. The shortest"
            f" way is {right} to (1, 2), {right} to (1, 3) and {down} to the goal."
        )

    def redraw(self, text: str) -> str:
        """Return a grid's plain text in the symbols of this vocabulary."""
        renamed = str.maketrans("".join(PLAIN_SYMBOLS), "".join(self.symbols))
        return text.translate(renamed)


def read_actions(text: str) -> tuple[str, ...]:
    """Read the names of the four moves from "NORTH/SOUTH/WEST/EAST"; "none" for the
    plain ones.

    Raises:
        ValueError: the expected format.
    """
    if text == NONE:
        return ACTIONS
    names = tuple(text.split("/"))
    are_distinct = len(set(names)) == len(names) == len(ACTIONS)
    are_names = all(NAME.fullmatch(name) for name in names)
    if not are_distinct or not are_names:
        plain = ", ".join(ACTIONS)
        raise ValueError(
            f"{NONE}, or four distinct names for {plain} separated by /, e.g. NORTH/SOUTH/WEST/EAST"
        )
    return names


def read_symbols(text: str) -> tuple[str, ...]:
    """Read the symbols of agent, goal, wall and free cell from "A=@/G=X"; those not
    named stay plain.

    Raises:
        ValueError: the expected format.
    """
    if text == NONE:
        return PLAIN_SYMBOLS
    pairs = text.split("/")
    renamed: dict[str, str] = {}
    for pair in pairs:
        plain, _, symbol = pair.partition("=")
        renamed[plain] = symbol
    symbols = tuple(renamed.get(symbol, symbol) for symbol in PLAIN_SYMBOLS)

    # A symbol named twice leaves fewer new names than pairs.
    are_known = len(renamed) == len(pairs) and renamed.keys() <= set(PLAIN_SYMBOLS)
    are_distinct = len(set(symbols)) == len(symbols)
    if not are_known or not are_distinct or not SYMBOLS.issuperset(symbols):
        plain = ", ".join(PLAIN_SYMBOLS)
        raise ValueError(
            f"{NONE}, or other characters for some of {plain} separated by /, all distinct, e.g. A=@/G=X"
        )
    return symbols
