"""Progress of a run, read from its journal, so that it is the same wherever the episodes run."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

from gde.data.trajectory import Trajectory, Turn
from gde.store.journal import Journal

INTERVAL = 0.25
"""Seconds between two looks at the journal."""


@dataclass(frozen=True)
class Progress:
    """How far a stage is."""

    stage: str
    done: int
    total: int
    detail: str = ""
    """What happens within a long step, e.g. "41 turns"."""
    within: float = 0.0
    """How much is done of the steps that are not over, in steps."""


Watch = Callable[[Progress], None]


def ignore(progress: Progress) -> None:
    """Watch nothing."""


@dataclass(frozen=True)
class Listeners:
    """Who is told what; the record of episodes and turns is read for nobody else."""

    progress: Watch
    episode: Callable[[Trajectory, int, int], None] | None = None
    turn: Callable[[str, Turn], None] | None = None


@contextmanager
def watching(path: Path, total: int, listeners: Listeners) -> Iterator[None]:
    """While the context lasts, tell of every turn and of every episode that ends, in the order of completion."""
    # Looked at before anything is done in the context: what is there by then is told to nobody.
    with closing(Journal.open(path, write=False)) as journal:
        endings, turns = _Endings(), journal.last_turn()
        endings.next(journal)
    stop = Event()
    thread = Thread(target=_look, args=(path, total, listeners, stop, endings, turns), name="gde-watch", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


class _Endings:
    """Tells of every episode once, when it has ended, and looks at few others to find out."""

    def __init__(self) -> None:
        self._before, self._seen = 0, set[int]()
        self.n = 0
        """Episodes that have ended by now."""

    def under_way(self, journal: Journal) -> float:
        """How much of the others is done."""
        return journal.under_way(self._before)

    def next(self, journal: Journal) -> list[str]:
        """Those that have ended since the last time."""
        begun = journal.begun_since(self._before)
        ended = [(row, episode) for row, episode, over in begun if over and row not in self._seen]
        self._seen.update(row for row, _ in ended)
        # Episodes begin in the order of their rows and only some are in flight: all before the first of these have
        # ended and need not be looked at again.
        self._before = next((row - 1 for row, _, over in begun if not over), begun[-1][0] if begun else self._before)
        self._seen = {row for row in self._seen if row > self._before}
        self.n += len(ended)
        return [episode for _, episode in ended]


def _look(path: Path, total: int, listeners: Listeners, stop: Event, endings: _Endings, turns: int) -> None:
    with closing(Journal.open(path, write=False)) as journal:
        listeners.progress(Progress("episodes", endings.n, total))
        last = False
        while not last:
            last = stop.wait(INTERVAL)
            # Episodes are looked at first: the turns of one that has ended are then told before it is.
            done, ended = endings.n, endings.next(journal)
            turns = _tell_turns(journal, turns, listeners)
            played = f"{journal.last_turn()} turns"
            if listeners.episode:
                for i, episode in enumerate(ended, start=1):
                    listeners.episode(journal.trajectory(episode), done + i, total)
            within = endings.under_way(journal)
            listeners.progress(Progress("episodes", endings.n, total, played, within))


def _tell_turns(journal: Journal, last: int, listeners: Listeners) -> int:
    if listeners.turn is None:
        return last
    now, turns = journal.turns_since(last)
    for episode, turn in turns:
        listeners.turn(episode, turn)
    return now
