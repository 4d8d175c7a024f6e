"""Read a finished run with only Python's standard library.

Run `python examples/read_a_run.py RUN`.
"""

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

EPISODES = "SELECT episode, world_id, ending, horizon FROM episodes ORDER BY condition, world, repeat"
TURNS = "SELECT turn, status, action, optimal, reward FROM turns WHERE episode = ? ORDER BY turn"
STATUSES = "SELECT status, COUNT(*) FROM turns GROUP BY status ORDER BY status"
MEASUREMENTS = "SELECT name, place, value, low, high, n, reason FROM measurements"


def main() -> None:
    """Print the episodes, then the measurements."""
    journal = Path(sys.argv[1]) / "run.sqlite"
    with closing(sqlite3.connect(f"file:{journal}?mode=ro", uri=True)) as connection:
        for episode, world, ending, horizon in connection.execute(EPISODES):
            turns = connection.execute(TURNS, (episode,)).fetchall()
            optimal = sum(
                action in json.loads(best) for _, _, action, best, _ in turns if best
            )
            print(
                f"{episode}: world {world}, {len(turns)} of {horizon} turns, {optimal} optimal, {ending}"
            )
        for status, n in connection.execute(STATUSES):
            print(f"decisions {status}: {n}")
        for name, place, value, low, high, n, reason in connection.execute(
            MEASUREMENTS
        ):
            shown = reason if value is None else f"{value:.3f} [{low}, {high}]"
            print(f"{name} {place}: {shown}, n = {n}")


if __name__ == "__main__":
    main()
