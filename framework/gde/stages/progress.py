"""Progress of a run, read from its journal, so that it is the same wherever the episodes run."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

from gde.data.trajectory import Trajectory
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
EpisodeWatch = Callable[[Trajectory, int, int], None]


def ignore(progress: Progress) -> None:
    """Watch nothing."""


@contextmanager
def watching(path: Path, total: int, watch: Watch, on_episode: EpisodeWatch) -> Iterator[None]:
    """While the context lasts, tell of every episode that ends, in the order of completion."""
    stop = Event()
    thread = Thread(target=_look, args=(path, total, watch, on_episode, stop), name="gde-watch", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _look(path: Path, total: int, watch: Watch, on_episode: EpisodeWatch, stop: Event) -> None:
    journal = Journal.open(path)
    seen = journal.finished()
    watch(Progress("episodes", len(seen), total))
    last = False
    while not last:
        last = stop.wait(INTERVAL)
        for episode in sorted(journal.finished() - seen):
            seen.add(episode)
            on_episode(journal.trajectory(episode), len(seen), total)
        watch(Progress("episodes", len(seen), total))
    journal.close()
