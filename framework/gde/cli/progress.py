"""The progress of a run on stderr: a bar on a terminal, else a line now and then."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from gde.cli.output import say, talking
from gde.errors import INTERRUPTED

if TYPE_CHECKING:
    from threading import Event

    from gde.stages.progress import Progress, Watch

FIRST_AFTER = 2.0
"""Seconds before the first line of a stage that is not over by then."""
LINE_EVERY = 10.0
"""Seconds between two lines of progress where no terminal is there to redraw."""


@contextmanager
def progress(quiet: bool, resume: str = "`gde resume {folder}`") -> Iterator["Watch"]:
    """A watcher for a run; after an interrupt, print how to resume it and exit."""
    try:
        with talking(), shown(quiet) as watch:
            yield watch
    except KeyboardInterrupt as interrupt:
        for folder in getattr(interrupt, "__notes__", []):
            # A study without runs keeps nothing before its end.
            if any(Path(folder).glob("*")):
                how = resume.format(folder=folder)
                say(f"gde: interrupted; finished turns are kept; resume with {how}")
                break
        else:
            say("gde: interrupted; nothing is kept: give the same command again")
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def shown(quiet: bool) -> Iterator["Watch"]:
    """A watcher for anything: a bar on a terminal, else lines."""
    from gde.stages.progress import beside, ignore

    if quiet:
        yield ignore
    elif sys.stderr.isatty():
        with _bar() as watch:
            yield watch
    else:
        lines = Lines(say)

        def tick(stop: "Event") -> None:
            while not stop.wait(1.0):
                lines.tick()

        with beside(tick, "gde-ticking"):
            yield lines


class Lines:
    """Progress as lines: at the start and end of a stage, and in between.

    Between them, a line is printed only if something has happened.
    """

    def __init__(
        self, out: Callable[[str], None], now: Callable[[], float] = time.monotonic
    ) -> None:
        self._out = out
        self._now = now
        self._stage = ""
        self._latest: Progress | None = None

    def tick(self) -> None:
        """Tell of a stage that has begun and tells nothing itself."""
        if self._latest is not None:
            self(self._latest)

    def __call__(self, progress: "Progress") -> None:
        now = self._now()
        self._latest = progress
        if progress.stage != self._stage:
            self._stage = progress.stage
            self._printed = ""
            self._begun = now
            self._first = progress.done + progress.within
            self._last = now - LINE_EVERY + FIRST_AFTER

        over = progress.done == progress.total
        state = f"{progress.done}/{progress.total}{progress.detail}"
        if state == self._printed or (not over and now - self._last < LINE_EVERY):
            return
        self._printed = state
        self._last = now

        notes = [progress.detail] if progress.detail else []
        elapsed = now - self._begun
        if elapsed >= 1:
            notes.append(duration(elapsed))
            far = progress.done + progress.within
            done = far - self._first
            if done > 0 and not over:
                left = elapsed / done * (progress.total - far)
                notes.append(f"about {duration(left)} left")
        line = f"{progress.stage}: {progress.done}/{progress.total}"
        self._out(f"{line} ({', '.join(notes)})" if notes else line)


def duration(seconds: float) -> str:
    """Whole seconds as people say them."""
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


@contextmanager
def _bar() -> Iterator["Watch"]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bars
    from rich.table import Column

    # Details such as the names of fits are cut, never the time that is left.
    detail = Column(ratio=1, no_wrap=True, overflow="ellipsis")
    columns = (
        TextColumn("{task.description}"),
        BarColumn(20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[detail]}", table_column=detail),
    )
    console = Console(stderr=True)
    with Bars(*columns, console=console, transient=True, expand=True) as bars:
        starting = bars.add_task("starting", total=None, detail="")
        tasks: dict[str, Any] = {}

        def watch(progress: "Progress") -> None:
            bars.update(starting, visible=False)
            far = progress.done + progress.within
            task = tasks.get(progress.stage)
            if task is None:
                task = bars.add_task(progress.stage, total=progress.total, detail="")
                tasks[progress.stage] = task
            elif far < bars.tasks[task].completed:
                # The next run of a study or contest has stages of its own.
                bars.reset(task)
            bars.update(
                task, completed=far, total=progress.total, detail=progress.detail
            )

        yield watch
