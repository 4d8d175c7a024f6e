"""One worker, two workers and none, by the clock. Prints one JSON object.

    python benchmarks/bench_workers.py [EXECUTOR [AGENT [EPISODES [ROUNDS]]]]

The whole command is timed, starts and imports included: `gde eval --env grid --agent
random --episodes 400 --metric success` in the processes of `processes`, or of `ray`, in
turns so that what else the machine does hurts all alike. Two workers over one is what
is looked at: it should not be above 1 on two cores, however short the run is.
"""

import json
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from sizes import size

EPISODES = size("400", "2")
ROUNDS = size("5", "1")
WAYS = ("serial", "one", "two")
Seconds = dict[str, float]


def timed(way: str, executor: str, agent: str, episodes: int, folder: Path) -> float:
    """Seconds of one run."""
    command = [
        sys.executable,
        "-m",
        "gde",
        "eval",
        "--env",
        "grid",
        "--agent",
        agent,
        "--episodes",
        str(episodes),
    ]
    command += ["--metric", "success", "--quiet", "--out", str(folder)]
    if way != "serial":
        command += [
            "--executor",
            executor,
            "--set",
            f"executor.workers={WAYS.index(way)}",
        ]
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def main(
    executor: str = "processes",
    agent: str = "random",
    episodes: str = EPISODES,
    rounds: str = ROUNDS,
) -> None:
    """Measure and print."""
    with TemporaryDirectory() as scratch:
        each: list[Seconds] = [
            {
                way: timed(
                    way,
                    executor,
                    agent,
                    int(episodes),
                    Path(scratch) / f"{round_}-{way}",
                )
                for way in WAYS
            }
            for round_ in range(int(rounds))
        ]
    ratios = sorted(one["two"] / one["one"] for one in each)
    told = {
        **{f"{way}_s": median(one[way] for one in each) for way in WAYS},
        "two_over_one": median(ratios),
        "two_over_one_least": ratios[0],
        "two_over_one_most": ratios[-1],
        "two_over_serial": median(one["two"] / one["serial"] for one in each),
    }
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
