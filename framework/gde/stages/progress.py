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
    stop = Event()
    thread = Thread(target=_look, args=(path, total, listeners, stop), name="gde-watch", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _look(path: Path, total: int, listeners: Listeners, stop: Event) -> None:
    with closing(Journal.open(path, write=False)) as journal:
        seen, turns = journal.finished(), journal.last_turn()
        listeners.progress(Progress("episodes", len(seen), total))
        last = False
        while not last:
            last = stop.wait(INTERVAL)
            # Episodes are looked at first: the turns of one that has ended are then told before it is.
            ended = journal.finished() - seen
            turns = _tell_turns(journal, turns, listeners)
            for episode in sorted(ended):
                seen.add(episode)
                if listeners.episode:
                    listeners.episode(journal.trajectory(episode), len(seen), total)
            listeners.progress(Progress("episodes", len(seen), total))


def _tell_turns(journal: Journal, last: int, listeners: Listeners) -> int:
    if listeners.turn is None:
        return last
    now, turns = journal.turns_since(last)
    for episode, turn in turns:
        listeners.turn(episode, turn)
    return now
