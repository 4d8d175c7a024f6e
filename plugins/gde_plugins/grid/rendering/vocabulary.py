"""What moves and cells are called. Other names for the same things show whether an agent reads the rules."""

import re
import string
from dataclasses import dataclass

from gde.data.json import NONE
from gde_plugins.grid.grid import FREE_SYMBOL, WALL_SYMBOL, Grid
from gde_plugins.grid.rendering.layout import AGENT_SYMBOL, GOAL_SYMBOL, render_text
from gde_plugins.grid.solver.dynamics import ACTIONS

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
SYMBOLS = frozenset(string.ascii_letters + string.punctuation) - {"/", ",", '"', "\\"}
"""What a cell may look like: one printable character that is no index, no separator of settings and needs no escape."""
PLAIN_SYMBOLS = (AGENT_SYMBOL, GOAL_SYMBOL, WALL_SYMBOL, FREE_SYMBOL)
EXAMPLE = Grid(rows=("#####", "#___#", "###_#", "#####"), agent=(1, 1), goal=(2, 3))


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """The words of a grid's text, rules and actions."""

    actions: tuple[str, ...] = ACTIONS
    """What moving up, down, left and right are called, in this order, which is the action index order."""
    symbols: tuple[str, ...] = PLAIN_SYMBOLS
    """What agent, goal, wall and free cell look like."""

    @classmethod
    def read(cls, actions: str = NONE, symbols: str = NONE) -> "Vocabulary":
        """The vocabulary of two settings as `GridConfig` takes them.

        Raises:
            ValueError: what was wanted.
        """
        return cls(actions=read_actions(actions), symbols=read_symbols(symbols))

    @property
    def unusual(self) -> tuple[str, ...]:
        """All words, or nothing where all are plain."""
        return () if self == Vocabulary() else (*self.actions, *self.symbols)

    @property
    def agent(self) -> str:
        return self.symbols[0]

    @property
    def objective(self) -> str:
        """What the episode asks for."""
        return f"Move the agent {self.agent} to the goal {self.symbols[1]} in the least number of steps."

    @property
    def rules(self) -> str:
        """How to read the text, what the actions do, and an example (after Arghal et al. 2026, appendix E.2)."""
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
        """A grid's plain text in the symbols of this vocabulary."""
        return text.translate(str.maketrans("".join(PLAIN_SYMBOLS), "".join(self.symbols)))


def read_actions(text: str) -> tuple[str, ...]:
    """Names of the four moves from "NORTH/SOUTH/WEST/EAST"; "none" for the plain ones.

    Raises:
        ValueError: what was wanted.
    """
    names = ACTIONS if text == NONE else tuple(text.split("/"))
    if len(names) != len(ACTIONS) or len(set(names)) != len(names) or not all(map(NAME.fullmatch, names)):
        plain = ", ".join(ACTIONS)
        raise ValueError(f"{NONE}, or four distinct names for {plain} separated by /, e.g. NORTH/SOUTH/WEST/EAST")
    return names


def read_symbols(text: str) -> tuple[str, ...]:
    """Symbols of agent, goal, wall and free cell from "A=@/G=X", those not named staying plain; "none" for all plain.

    Raises:
        ValueError: what was wanted.
    """
    pairs = [] if text == NONE else [pair.partition("=") for pair in text.split("/")]
    renamed = {plain: symbol for plain, _, symbol in pairs}
    symbols = tuple(renamed.get(symbol, symbol) for symbol in PLAIN_SYMBOLS)
    known = len(renamed) == len(pairs) and renamed.keys() <= set(PLAIN_SYMBOLS)
    if not known or len(set(symbols)) < len(symbols) or not SYMBOLS.issuperset(symbols):
        plain = ", ".join(PLAIN_SYMBOLS)
        raise ValueError(f"{NONE}, or other characters for some of {plain} separated by /, all distinct, e.g. A=@/G=X")
    return symbols
