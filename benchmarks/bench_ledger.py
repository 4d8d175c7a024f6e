"""What the ledger of requests takes of a call: CPU, and bytes of the database. Prints
one JSON object.

    python benchmarks/bench_ledger.py

The same episodes are played without a ledger, with one, and with one and
`run.max_calls`, in turns so that what else the machine does hurts all alike; an agent
asks a scripted model at each turn. Medians count.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from sizes import size

from gde import Choice, How, Plan, evaluate, load_evidence
from gde.request.catalogue import Catalogue, load_plugins
from gde.runs.pipeline import Pipeline
from gde.store.journal import Journal

EPISODES = size(150, 2)
ROUNDS = size(7, 1)
LENGTH = 9
"""Cells of a corridor."""
ENOUGH = 10**6
"""Calls that no run makes."""
WAYS: dict[str, int | None] = {"none": None, "ledger": None, "limited": ENOUGH}
"""Limits of calls."""


@contextmanager
def without_ledger() -> Iterator[None]:
    """Journals note no request while this lasts."""
    kept = Journal.reserve, Journal.settle
    journal: Any = Journal

    async def reserve(*_: object) -> None:
        pass

    journal.reserve, journal.settle = reserve, lambda *_: None
    try:
        yield
    finally:
        journal.reserve, journal.settle = kept


@contextmanager
def timed(taken: list[float]) -> Iterator[None]:
    """Note the CPU time of a call of episodes that are played while this lasts."""
    pipeline: Any = Pipeline
    kept = pipeline.roll_out

    def roll_out(run: Pipeline) -> None:
        began = process_time()
        kept(run)
        seconds = process_time() - began
        (row,) = run.journal.query("SELECT count(*) AS n FROM calls")
        taken.append(1e6 * seconds / row["n"])

    pipeline.roll_out = roll_out
    try:
        yield
    finally:
        pipeline.roll_out = kept


def play(
    way: str,
    concurrency: int,
    folder: Path,
    catalogue: Catalogue,
    taken: list[float],
) -> None:
    """Play one run."""
    plan = Plan(
        environment=Choice(name="corridor", config={"length": LENGTH}),
        agent="asking",
        models=[Choice(name="planted")],
        metrics=(),
        episodes=EPISODES,
    )
    how = How(concurrency=concurrency, max_calls=WAYS[way])
    ledger = without_ledger() if way == "none" else nullcontext()
    with ledger, timed(taken):
        evaluate(plan, folder, catalogue, how=how)


def bytes_a_call(run: Path) -> float:
    """Size of the database over the number of calls."""
    n_calls = sum(len(each.turns) for each in load_evidence(run).trajectories)
    return (run / "run.sqlite").stat().st_size / n_calls


def main() -> None:
    """Measure and print."""
    catalogue = Catalogue(load_plugins(modules=("gde.testing.plugin",)))
    figures: dict[str, dict[str, float]] = {}
    with TemporaryDirectory() as scratch:
        play("none", 1, Path(scratch) / "imports", catalogue, [])
        for concurrency in (1, 32):
            taken: dict[str, list[float]] = {way: [] for way in WAYS}
            for number in range(ROUNDS):
                for way in WAYS:
                    place = Path(scratch) / f"{concurrency}-{number}-{way}"
                    play(way, concurrency, place, catalogue, taken[way])
            told = {f"{way}_us": median(taken[way]) for way in WAYS}
            for way in ("ledger", "limited"):
                each = zip(taken[way], taken["none"], strict=True)
                told[f"{way}_more_us"] = median(one - other for one, other in each)
            figures[f"{concurrency} at once"] = told
        figures["bytes a call"] = {
            way: bytes_a_call(Path(scratch) / f"1-0-{way}") for way in WAYS
        }
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
