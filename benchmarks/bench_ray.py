"""Episodes a second on Ray with 1, 2 and 4 workers, beside what Ray itself can do with as
many: tasks that do nothing, and requests to an actor that does nothing. A worker of gde
is one task, and sends what its episodes commit together as one request. And throughput
over serial of two workers, of Ray and of the executor `processes`, in a world whose
steps take 5 ms of CPU. Prints one JSON object.

    python benchmarks/bench_ray.py
"""

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from busy_corridor import busy_corridor
from sizes import size

from gde import Choice, How, Plan, evaluate
from gde.data.json import Json
from gde.request.catalogue import Catalogue, load_plugins
from gde_plugins.executors.config import RayConfig
from gde_plugins.executors.ray.cluster import cluster

# After gde, which sets how Ray is to start.
import ray  # isort: skip

WORKERS: Sequence[int] = size((1, 2, 4), (1,))
EPISODES = size(20_000, 10)
"""Enough that the start of workers, about a second each, matters little."""
BUSY = size(1000, 4)
"""Episodes in the busy world, of about six steps."""
EMPTY = size(1000, 10)
"""Tasks and requests that do nothing."""
AT_ONCE = 256
"""Episodes in all workers."""


def nothing() -> None:
    """Do nothing."""


class Nobody:
    """Answers nothing."""

    def ask(self) -> None:
        """Answer."""


def asking(nobody: Any, n: int) -> None:
    """Ask, and wait for each answer."""
    for _ in range(n):
        ray.get(nobody.ask.remote())


def empty(workers: int) -> dict[str, float]:
    """Empty tasks and requests a second."""
    task: Any = ray.remote(nothing).options(num_cpus=1)
    ray.get([task.remote() for _ in range(10 * workers)])
    began = time.perf_counter()
    ray.get([task.remote() for _ in range(EMPTY)])
    tasks = EMPTY / (time.perf_counter() - began)

    actor: Any = ray.remote(Nobody).options(num_cpus=0)
    nobody = actor.remote()
    ray.get(nobody.ask.remote())
    each = EMPTY // workers
    caller: Any = ray.remote(asking).options(num_cpus=1)
    began = time.perf_counter()
    ray.get([caller.remote(nobody, each) for _ in range(workers)])
    requests = workers * each / (time.perf_counter() - began)
    return {"empty tasks a second": tasks, "empty requests a second": requests}


def episodes(executor: Choice, out: Path, catalogue: Catalogue, busy: int = 0) -> float:
    """Scripted episodes a second, or so many in the busy world."""
    plan = Plan(
        environment=busy_corridor if busy else "corridor",
        agent="scripted",
        metrics=["success"],
        episodes=busy or EPISODES,
    )
    how = How(concurrency=8 if busy else AT_ONCE, executor=executor)
    began = time.perf_counter()
    evaluate(plan, out, catalogue, how=how)
    return plan.episodes / (time.perf_counter() - began)


def busy(place: Path, catalogue: Catalogue) -> dict[str, float]:
    """Throughput of two workers over serial, where steps take CPU."""
    serial = episodes(Choice(name="serial"), place / "busy", catalogue, BUSY)
    processes = Choice(name="processes", config={"workers": 2})
    found = {"processes": episodes(processes, place / "both", catalogue, BUSY)}
    config: dict[str, Json] = {"workers": 2, "cpus": 1, "address": "auto"}
    with cluster(RayConfig(workers=2, cpus=1)):
        on_ray = Choice(name="ray", config=config)
        found["ray"] = episodes(on_ray, place / "busy on ray", catalogue, BUSY)
    return {f"{name}: 2 workers over serial": found[name] / serial for name in found}


def main() -> None:
    """Measure and print."""
    catalogue = Catalogue(load_plugins(modules=("gde.testing.plugin",)))
    figures: dict[str, dict[str, float]] = {}
    with TemporaryDirectory() as scratch:
        place = Path(scratch)
        serial = episodes(Choice(name="serial"), place / "serial", catalogue)
        figures["serial"] = {"episodes a second": serial}
        for workers in WORKERS:
            config: dict[str, Json] = {"workers": workers, "cpus": 1, "address": "auto"}
            on_ray = Choice(name="ray", config=config)
            with cluster(RayConfig(workers=workers, cpus=1)):
                found = empty(workers)
                speed = episodes(on_ray, place / str(workers), catalogue)
            figures[f"{workers} workers"] = {"episodes a second": speed} | found
        figures["steps of 5 ms"] = busy(place, catalogue)
    rounded = {
        name: {one: round(value, 2) for one, value in found.items()}
        for name, found in figures.items()
    }
    sys.stdout.write(json.dumps(rounded) + "\n")


if __name__ == "__main__":
    main()
