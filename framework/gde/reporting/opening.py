"""The opening of every page and screen: a subject, a finding, and what limits it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten

from gde.data.goals import GOAL_MOVED
from gde.data.result import FEW_WORLDS, READABLE, Result
from gde.reporting.wording import inline, plural, quantity, short

SENTENCE = re.compile(r"(?<=\.)\s")
LEAST = 0.01
"""The least share of unusable answers that limits a claim."""
LIMIT = 60
"""The most characters of a limit that a model's notice gives."""


@dataclass(frozen=True, kw_only=True)
class Opening:
    """What a reader sees first. Finding and limits should have at most 45 words."""

    subject: str
    """Who was evaluated where, in one line."""
    finding: str
    """What was found, in at most three numbers."""
    limits: tuple[str, ...]
    """What limits the finding in a few words each, the most damaging first."""
    notes: tuple[str, ...] = ()
    """Reasons for care in reading the numbers, as sentences."""

    @property
    def limited(self) -> str:
        """The limits as a sentence; empty for none. None is ever left out."""
        return f"Limits: {'; '.join(self.limits)}." if self.limits else ""


def worlds_text(result: Result) -> str:
    """The number of worlds, and whether half of them are the others with a goal moved."""
    worlds = plural(result.subject.worlds, "world")
    moved = any(GOAL_MOVED in one.where for one in result.measurements)
    return f"{worlds}, half with the goal moved" if moved else worlds


def answers_limit(results: Mapping[str, Sequence[Result]]) -> Iterator[str]:
    """The unusable answers of the agent that has the largest share of them, unless they
    are so many that the finding begins with it.

    Args:
        results: the runs of each agent; a single agent is not named.
    """
    shares: dict[str, float] = {}
    for name, runs in results.items():
        turns = sum(one.subject.turns for one in runs)
        shares[name] = sum(one.subject.unusable for one in runs) / max(turns, 1)
    worst = max(shares, key=shares.__getitem__, default="")
    if LEAST <= shares.get(worst, 0) <= 1 - READABLE:
        of = f" of {short(worst)}" if len(results) > 1 else ""
        yield f"{quantity(shares[worst], 'share', 0)} of answers{of} unusable"


def record_limits(results: Sequence[Result]) -> Iterator[str]:
    """What limits every number of some runs but answers, the most damaging first."""
    subjects = [one.subject for one in results]
    if failed := sum(of.failed for of in subjects):
        yield f"{failed} of {sum(of.episodes for of in subjects)} episodes failed"
    if impossible := sum(of.impossible for of in subjects):
        worlds = sum(of.worlds for of in subjects)
        yield f"{impossible} of {worlds} worlds cannot be solved"

    noticed: dict[str, None] = {}
    for one in results:
        noticed |= dict.fromkeys(_noticed(str(one.provenance.get("notice") or "")))
    # "toy model" says nothing beside "toy model, trained to show places".
    for notice in noticed:
        if not any(other != notice and other.startswith(notice) for other in noticed):
            yield notice


def worlds_limit(results: Sequence[Result]) -> Iterator[str]:
    """That some run has too few worlds for a conclusion."""
    fewest = min((one.subject.worlds for one in results), default=FEW_WORLDS)
    if fewest < FEW_WORLDS:
        yield f"too few worlds for a conclusion: {fewest}"


def _noticed(notice: str) -> list[str]:
    """The words before the colon of each sentence, else those of the first."""
    every = SENTENCE.split(notice) if notice else []
    chosen = [one for one in every if ": " in one] or every[:1]
    return [
        shorten(inline(one.partition(": ")[0]), LIMIT, placeholder=" \u2026")
        for one in chosen
    ]
