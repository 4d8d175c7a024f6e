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


def main() -> None:
    """Print the episodes, then the measurements."""
    run = Path(sys.argv[1])
    journal = f"file:{run / 'run.sqlite'}?mode=ro"
    with closing(sqlite3.connect(journal, uri=True)) as connection:
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

    result = json.loads((run / "result.json").read_text(encoding="utf-8"))
    for one in result["measurements"]:
        value = one["value"]
        shown = one["reason"] if value is None else f"{value:.3f} {one['interval']}"
        print(f"{one['name']} {one['where']}: {shown}, n = {one['n']}")


if __name__ == "__main__":
    main()
