"""The missions of BabyAI's Baby language (Chevalier-Boisvert et al. 2023): clauses, and
which of them come first.
"""

import re
from dataclasses import dataclass
from typing import Literal

Verb = Literal["go to", "pick up", "open", "put"]

THING = r"(?:an?|the) (?:{color} )?{kind}{location}"
COLOR = "red|green|blue|purple|yellow|grey"
KIND = "key|ball|box|door|object"
LOCATION = " in front of you| behind you| on your left| on your right"
ANY = THING.format(
    color=f"(?:{COLOR})", kind=f"(?:{KIND})", location=f"(?:{LOCATION})?"
)
CLAUSE = re.compile(rf"(go to|pick up|open|put) ({ANY})(?: next to ({ANY}))?")
DESCRIPTION = re.compile(
    THING.format(color=f"({COLOR})", kind=f"({KIND})", location=f"({LOCATION})?")
)
LOCATIONS = {
    " in front of you": "front",
    " behind you": "behind",
    " on your left": "left",
    " on your right": "right",
}


@dataclass(frozen=True)
class Words:
    """A description of a thing."""

    kind: str
    """Empty for any."""
    color: str
    """Empty for any."""
    location: str
    """front, behind, left or right of the agent's first place; empty for anywhere."""

    def __str__(self) -> str:
        return f"{self.color} {self.kind or 'object'}".strip()


@dataclass(frozen=True)
class Clause:
    """One thing to be done."""

    text: str
    verb: Verb
    thing: Words
    beside: Words | None = None
    """Of "put" alone."""


Stages = tuple[tuple[Clause, ...], ...]
"""Clauses that can be fulfilled in any order, stage after stage."""


def stages(mission: str) -> Stages | None:
    """Parse a mission; None where it is no sentence of the language."""
    first, then, second = mission.partition(", then ")
    if not then:
        second, _, first = mission.partition(" after you ")

    found: list[tuple[Clause, ...]] = []
    for part in filter(None, (first, second)):
        clauses: list[Clause] = []
        for text in part.split(" and "):
            clause = _clause(text)
            if clause is None:
                return None
            clauses.append(clause)
        found.append(tuple(clauses))
    return tuple(found) or None


def _clause(text: str) -> Clause | None:
    found = CLAUSE.fullmatch(text.strip())
    if not found or (found[1] == "put") != bool(found[3]):
        return None
    verb: Verb = found[1]  # type: ignore[assignment]
    beside = _words(found[3]) if found[3] else None
    return Clause(found[0], verb, _words(found[2]), beside)


def _words(text: str) -> Words:
    found = DESCRIPTION.fullmatch(text)
    if found is None:
        raise AssertionError(f"every clause has a description in it, got {text!r}")
    color, kind, location = found.groups(default="")
    return Words("" if kind == "object" else kind, color, LOCATIONS.get(location, ""))
