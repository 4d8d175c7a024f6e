"""Runs every benchmark in a process of its own and prints one table: `python
benchmarks/run.py [--small] [NAME...]`.

A benchmark is a file bench_NAME.py that prints one JSON object of figures. Ratios and
shares are what to look at; seconds depend on the machine. With --small each runs at its
smallest size (`sizes.py`), to see that it runs at all. Exits with 1 when a benchmark
failed.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sizes import VARIABLE

HERE = Path(__file__).parent
LONGEST = 1800
"""Seconds that one benchmark may take."""


def main() -> int:
    """Run the named benchmarks, or all."""
    names = [each for each in sys.argv[1:] if each != "--small"]
    if "--small" in sys.argv:
        os.environ[VARIABLE] = "1"
    wanted = names or [
        path.stem.removeprefix("bench_") for path in sorted(HERE.glob("bench_*.py"))
    ]
    failed = 0
    for name in wanted:
        try:
            rows = [*flat(measured(name))]
        except (subprocess.SubprocessError, json.JSONDecodeError, IndexError) as error:
            failed, rows = 1, [("failed", str(error).splitlines()[0])]
        for figure, value in rows:
            sys.stdout.write(f"{name:<16} {figure:<48} {value:>16}\n")
        sys.stdout.flush()
    return failed


def measured(name: str) -> Mapping[str, Any]:
    """The figures that a benchmark prints in its last line."""
    command = [sys.executable, str(HERE / f"bench_{name}.py")]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=True, timeout=LONGEST
    )
    figures: Mapping[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def flat(figures: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """One row a figure; nested names are joined by dots."""
    for name, value in figures.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{before}{name}.")
        else:
            yield (
                f"{before}{name}",
                f"{value:,.4g}" if isinstance(value, float) else str(value),
            )


if __name__ == "__main__":
    raise SystemExit(main())
