"""Progress of a run, read from its journal.

It is the same wherever the episodes run.
"""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread

from gde.data.how import Prices
from gde.data.trajectory import Trajectory, Turn
from gde.stages.budget import cost_before
from gde.store.journal import Journal

INTERVAL = 0.25
"""Seconds between two looks at the journal."""


@dataclass(frozen=True)
class Progress:
    """The progress of a stage."""

    stage: str
    done: int
    """Steps that are over."""
    total: int
    detail: str = ""
    """What happens within a long step, e.g. "41 turns"."""
    within: float = 0.0
    """The part of the other steps that is done, in steps."""


Watch = Callable[[Progress], None]


def ignore(progress: Progress) -> None:
    """Watch nothing."""


@dataclass(frozen=True)
class Listeners:
    """Functions to call.

    If nobody listens to episodes or turns, their record is not read.
    """

    progress: Watch
    episode: Callable[[Trajectory, int, int], None] | None = None
    """Takes an episode that has ended, the number of episodes that have, and that of
    all.
    """
    turn: Callable[[str, Turn], None] | None = None
    """Takes the episode of the turn, and the turn."""
    prices: Prices = field(default_factory=dict)
    """By which the cost so far is told."""


@contextmanager
def beside(work: Callable[[Event], None], name: str) -> Iterator[None]:
    """Work in a thread of this name while the context lasts; its end sets the event."""
    stop = Event()
    thread = Thread(target=work, args=(stop,), name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@contextmanager
def watching(path: Path, total: int, listeners: Listeners) -> Iterator[None]:
    """Report every turn and every finished episode while the context lasts.

    They are reported in the order of completion.
    """
    # Turns and episodes from before the work are not reported.
    with closing(Journal.open(path, write=False)) as journal:
        endings = _Endings()
        turns = journal.last_turn()
        endings.next(journal)

    def look(stop: Event) -> None:
        _look(path, total, listeners, stop, endings, turns)

    with beside(look, "gde-watch"):
        yield


class _Endings:
    """Finds every episode once, when it has ended, and looks at few others."""

    def __init__(self) -> None:
        self._before = 0
        self._seen: set[int] = set()
        self.n = 0
        """Episodes that have ended."""
        self._judged = 0
        self._success = 0.0
        self._turns = 0
        self._unusable = 0

    @property
    def found(self) -> str:
        """What they have shown so far: success, and turns without a usable answer."""
        told = ""
        if self._judged:
            told += f", success {self._success / self._judged * 100:.0f} % so far"
        if self._unusable:
            told += f", {self._unusable / self._turns * 100:.0f} % of turns unusable"
        return told

    def under_way(self, journal: Journal) -> float:
        """Give the part of the other episodes that is done, in episodes."""
        return journal.under_way(self._before)

    def next(self, journal: Journal) -> list[str]:
        """Give the episodes that have ended since the last time."""
        begun = journal.begun_since(self._before)
        ended: list[str] = []
        for row, episode, over in begun:
            if over and row not in self._seen:
                self._seen.add(row)
                ended.append(episode)
        self.n += len(ended)
        for one in journal.outcomes(ended):
            self._turns += one.turns
            self._unusable += one.unusable
            if one.success is not None:
                self._judged += 1
                self._success += one.success

        # Episodes begin in the order of their rows. All rows before the first that is
        # under way need no second look.
        for row, _, over in begun:
            if not over:
                self._before = row - 1
                break
            self._before = row
        self._seen = {row for row in self._seen if row > self._before}
        return ended


def _look(
    path: Path,
    total: int,
    listeners: Listeners,
    stop: Event,
    endings: _Endings,
    turns: int,
) -> None:
    with closing(Journal.open(path, write=False)) as journal:
        listeners.progress(Progress("episodes", endings.n, total))
        last = False
        while not last:
            last = stop.wait(INTERVAL)
            # Episodes are looked at before turns, but told after them: an episode's
            # turns come before its end.
            done = endings.n
            ended = endings.next(journal)
            if listeners.turn:
                turns, new = journal.turns_since(turns)
                for episode, turn in new:
                    listeners.turn(episode, turn)
            played = f"{journal.last_turn()} turns"
            if listeners.prices:
                cost = cost_before(journal, listeners.prices).money
                played += f", cost {cost:.2f}" if cost else ""
            played += endings.found
            if listeners.episode:
                for i, episode in enumerate(ended, start=done + 1):
                    listeners.episode(journal.trajectory(episode), i, total)
            listeners.progress(
                Progress(
                    "episodes", endings.n, total, played, endings.under_way(journal)
                )
            )
