"""Rules for worlds with short texts: blocks, and maps with an agent and a goal."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gde.data.transcript import Transcript
from gde_plugins.statefactory.state import Item, Items

Things = dict[str, dict[str, str]]
"""Objects by name, each with its attributes, as far as they are known."""


@dataclass(frozen=True)
class Given:
    """States and goals, one a turn."""

    states: Sequence[Items]
    goals: Sequence[Items]


@dataclass(frozen=True)
class Rules:
    """How one kind of world is read."""

    name: str
    read: Callable[[Transcript, str], Given | None]
    """Takes an episode and its objective, which may be empty; gives None for worlds of
    another kind.
    """


def seen(transcript: Transcript) -> list[str]:
    """The observation of every step."""
    return [step.observation for step in transcript.steps]


def listed(things: Things) -> Items:
    """The objects as they are now."""
    return [Item(name, dict(attributes)) for name, attributes in things.items()]


ON_BLOCK = re.compile(r"block (\S+?) is on block (\S+?)(?=[ .,]|$)", re.IGNORECASE)
ON_TABLE = re.compile(r"block (\S+?) is on the table", re.IGNORECASE)
BARE = re.compile(r"nothing is on block (\S+?)(?=[ .,]|$)", re.IGNORECASE)
HELD = re.compile(r"the hand holds block (\S+?)(?=[ .,]|$)", re.IGNORECASE)
COLORED = (
    (
        re.compile(r"the (\w+) block is on top of the (\w+) block"),
        r"block \1 is on block \2",
    ),
    (re.compile(r"the (\w+) block is on the table"), r"block \1 is on the table"),
    (re.compile(r"the (\w+) block is clear"), r"nothing is on block \1"),
    (re.compile(r"holding (\w+) block"), r"holding: the hand holds block \1"),
)
"""PlanBench's wording, and the plain one of the same fact."""


def blocks(text: str) -> Items:
    """One object a block."""
    for clause, plain in COLORED:
        text = clause.sub(plain, text)
    things: Things = {}
    for block, under in ON_BLOCK.findall(text):
        things.setdefault(f"block {block}", {})["stands on"] = f"block {under}"
    for block in ON_TABLE.findall(text):
        things.setdefault(f"block {block}", {})["stands on"] = "the table"
    for block in HELD.findall(text):
        things.setdefault(f"block {block}", {})["stands on"] = "in the hand"
    for block in BARE.findall(text):
        things.setdefault(f"block {block}", {})["above it"] = "nothing"
    return listed(things)


def _read_blocks(transcript: Transcript, objective: str) -> Given | None:
    goal = blocks(objective)
    if not goal:
        return None
    states = [blocks(text) for text in seen(transcript)]
    return Given(states, [goal] * len(states))


BLOCKS = Rules("blocks", _read_blocks)


AGENT = "agent"
ROW = re.compile(r"^ *\d+((?: +[^\s\d])+) *$")
"""A row of a map: its index and its cells."""
Place = tuple[int, int]


@dataclass(frozen=True)
class _Map:
    """What a drawn map shows: A is the agent, G the goal."""

    height: int
    width: int
    agent: Place
    goal: Place

    def at(self, place: Place) -> Item:
        """The agent at a place."""
        return Item(AGENT, lines(*place, self.height, self.width))


def _drawn(text: str, known: Place | None) -> _Map | None:
    """The map in a text; None where it has none.

    Args:
        text: an observation.
        known: where the goal was, for a map on which the agent hides it.
    """
    rows: list[list[str]] = []
    for line in text.splitlines():
        if found := ROW.match(line):
            rows.append(found[1].split())
    if not rows or len({len(row) for row in rows}) != 1:
        return None

    places = {}
    for i, row in enumerate(rows):
        for j, symbol in enumerate(row):
            places[symbol] = (i, j)
    agent = places.get("A")
    goal = places.get("G", known)
    if agent is None or goal is None:
        return None
    return _Map(len(rows), len(rows[0]), agent, goal)


def _read_maps(transcript: Transcript, _: str) -> Given | None:
    """The agent is to be where the goal of the same turn is."""
    states: list[Items] = []
    goals: list[Items] = []
    known: Place | None = None
    for text in seen(transcript):
        now = _drawn(text, known)
        if now is None:
            return None
        known = now.goal
        states.append([now.at(now.agent)])
        goals.append([now.at(now.goal)])
    return Given(states, goals) if states else None


def lines(row: int, column: int, height: int, width: int) -> dict[str, str]:
    """A place as the lines on each side of it, so that places that are closer have more
    words in common.
    """
    return {
        "rows above": _numbers(0, row),
        "rows below": _numbers(row + 1, height),
        "columns to the left": _numbers(0, column),
        "columns to the right": _numbers(column + 1, width),
    }


def _numbers(first: int, end: int) -> str:
    return " ".join(map(str, range(first, end))) or "none"


MAPS = Rules("maps", _read_maps)
