"""CPU that the digests of rows take for a turn: with them, without them, and the
difference. Prints one JSON object.

    python benchmarks/bench_digests.py

The same random walks are played one at a time and 32 at once, with and without digests
in turns so that what else the machine does hurts both alike. Medians count.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from sizes import size

from gde import Choice, GdeError, How, Plan, evaluate
from gde.request.catalogue import Catalogue, load_plugins
from gde.runs.pipeline import Pipeline
from gde.store import digests
from gde.store.schema import tables

EPISODES = size(150, 2)
ROUNDS = size(7, 1)
LENGTH = 9
"""Cells of a corridor."""


@contextmanager
def without_digests() -> Iterator[None]:
    """Rows get a text without a digest while this lasts."""
    written: Any = digests
    kept = written.inserting
    written.inserting = plain
    try:
        yield
    finally:
        written.inserting = kept


@cache
def plain(table: str, insert: str = "INSERT") -> str:
    """The statement that inserts a row alone."""
    places = ", ".join("?" * (len(tables()[table].columns) - 1))
    return f"{insert} INTO {table} VALUES ({places}, x'00')"


class Clock:
    """Notes the CPU time of playing, and of how many turns."""

    def __init__(self) -> None:
        self.per_turn = 0.0
        self._pipeline: Any = Pipeline
        self._play = self._pipeline.roll_out

    def __enter__(self) -> "Clock":
        clock = self

        def timed(run: Pipeline) -> None:
            began = process_time()
            clock._play(run)
            seconds = process_time() - began
            (row,) = run.journal.query("SELECT count(*) AS n FROM turns")
            clock.per_turn = 1e6 * seconds / row["n"]

        self._pipeline.roll_out = timed
        return self

    def __exit__(self, *_: object) -> None:
        self._pipeline.roll_out = self._play


def microseconds(concurrency: int, folder: Path, catalogue: Catalogue) -> float:
    """CPU time of a turn."""
    plan = Plan(
        environment=Choice(name="corridor", config={"length": LENGTH}),
        agent="random",
        metrics=(),
        episodes=EPISODES,
    )
    how = How(concurrency=concurrency)
    # A journal without digests is refused by the next stage.
    with Clock() as clock, suppress(GdeError):
        evaluate(plan, folder, catalogue, how=how)
    return clock.per_turn


def main() -> None:
    """Measure and print."""
    catalogue = Catalogue(load_plugins(modules=("gde.testing.plugin",)))
    figures: dict[str, dict[str, float]] = {}
    with TemporaryDirectory() as scratch:
        microseconds(1, Path(scratch) / "imports", catalogue)
        for concurrency in (1, 32):
            taken: dict[str, list[float]] = {"with": [], "without": []}
            for number in range(ROUNDS):
                place = Path(scratch) / f"{concurrency}-{number}"
                taken["with"].append(microseconds(concurrency, place, catalogue))
                place = place.with_name(f"{place.name}-without")
                with without_digests():
                    found = microseconds(concurrency, place, catalogue)
                taken["without"].append(found)
            told = {f"{name}_us": median(taken[name]) for name in taken}
            told["digests_us"] = told["with_us"] - told["without_us"]
            figures[f"{concurrency} at once"] = told
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
