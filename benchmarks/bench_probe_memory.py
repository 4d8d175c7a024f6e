"""What memory the default probe of one layer takes, by the number of turns in as many
worlds, at the width of GPT-OSS-20B. Prints one JSON object.

    python benchmarks/bench_probe_memory.py

The activations are three normal tokens a turn. Another process fits the probe to them
with its controls, in one thread. Of its memory, the most that was ever its own counts:
pages of mapped files are given back when others need them.
"""

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

import numpy as np
from sizes import size

import gde
from gde import Choice, How, Plan
from gde.data.json import Json

WORLDS = size(150, 12)
REPEATS = size((2, 8), (1, 2))
WIDTH = size(2880, 8)
SEED = 0
PLACE = (12, "pre")
SIZE = 7


def probe_of(**settings: str) -> Choice:
    """The default variant of the map, under a name of its own for other settings."""
    config: dict[str, Json] = {"size": SIZE, "variants": ["places"], **settings}
    return Choice(name="cogmap", alias="again" if settings else "", config=config)


def record(folder: Path, repeats: int) -> int:
    """Play a run and hand its activations in; gives the number of turns."""
    env = Choice(name="grid", config={"size": SIZE})
    plan = Plan(
        environment=env,
        agent="random",
        metrics=["success"],
        episodes=WORLDS,
        repeats=repeats,
        learning=False,
    )
    gde.evaluate(plan, folder)
    n = len(gde.open(folder).messages["observation"])
    rng = np.random.default_rng(SEED)
    given = {PLACE: rng.standard_normal((n, 3, WIDTH), dtype=np.float32)}
    gde.probe(folder, [probe_of()], activations=given)
    return n


def most_own_mib(folder: Path) -> float:
    """Probe a run again in this process, and tell its most own memory in MiB."""
    plan = tomllib.loads((folder / "plan.toml").read_text())
    (first,) = plan["added"]["probe"]
    most = 0.0
    ended = Event()

    def watch() -> None:
        nonlocal most
        while not ended.wait(0.005):
            for line in Path("/proc/self/status").read_text().splitlines():
                if line.startswith("RssAnon"):
                    most = max(most, int(line.split()[1]) / 1024)

    watching = Thread(target=watch)
    watching.start()
    gde.probe(folder, [probe_of(weights=first["weights"])], how=How(concurrency=1))
    ended.set()
    watching.join()
    return most


def main() -> None:
    """Measure, or be the process that is measured."""
    if len(sys.argv) > 1:
        sys.stdout.write(json.dumps(most_own_mib(Path(sys.argv[1]))))
        return
    report = {}
    with TemporaryDirectory() as folder:
        for repeats in REPEATS:
            run = Path(folder, str(repeats))
            n = record(run, repeats)
            child = [sys.executable, __file__, str(run)]
            told = subprocess.run(child, check=True, stdout=subprocess.PIPE).stdout
            report[f"{n} turns"] = json.loads(told.splitlines()[-1])
    sys.stdout.write(json.dumps({"own_memory_mib": report}) + "\n")


if __name__ == "__main__":
    main()
