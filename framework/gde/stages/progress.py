"""Progress of a run, read from its journal.

It is the same wherever the episodes run.
"""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from types import MappingProxyType

from gde.data.how import Prices
from gde.stages.budget import cost_before
from gde.store.journal import Journal

INTERVAL = 0.25
"""Seconds between two looks at the journal."""
NO_PRICES: Prices = MappingProxyType({})


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
def watching(
    path: Path, total: int, watch: Watch, prices: Prices = NO_PRICES
) -> Iterator[None]:
    """Tell how many episodes have ended, now and then, while the context lasts.

    Args:
        path: of the journal.
        total: the number of all episodes.
        watch: receives the progress.
        prices: by which the cost so far is told.
    """
    ended = _Ended()
    with closing(Journal.open(path, write=False)) as journal:
        watch(Progress("episodes", ended.count(journal), total))

    def look(stop: Event) -> None:
        with closing(Journal.open(path, write=False)) as journal:
            last = False
            while not last:
                last = stop.wait(INTERVAL)
                n_ended = ended.count(journal)
                played = f"{journal.last_turn()} turns"
                if prices:
                    cost = cost_before(journal, prices).money
                    played += f", cost {cost:.2f}" if cost else ""
                within = journal.under_way(ended.all_until)
                watch(Progress("episodes", n_ended, total, played, within))

    with beside(look, "gde-watch"):
        yield


class _Ended:
    """Counts the episodes that have ended, and looks at few of them twice."""

    def __init__(self) -> None:
        self.all_until = 0
        """The row up to which all episodes have ended."""
        self._n = 0
        """The number of those."""

    def count(self, journal: Journal) -> int:
        """Count the episodes that have ended."""
        begun = journal.begun_since(self.all_until)
        n_ended = self._n + sum(over for _, over in begun)

        # Episodes begin in the order of their rows.
        for row, over in begun:
            if not over:
                break
            self.all_until = row
            self._n += 1
        return n_ended
