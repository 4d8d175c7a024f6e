"""Many episodes on a Ray cluster of this machine, with nodes that come and go. Prints
JSON objects.

    python benchmarks/soak_ray.py [EPISODES [WORKERS [AT_ONCE]]]

A head without room for workers and WORKERS nodes of one core each. The first run is
left alone; in the second, a node is killed or added at random moments. Both are
compared with the record of a serial run. Ray gives its workers the lowest priority:
on a busy machine, set RAY_worker_niceness=0.
"""

import json
import random
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import ray
from ray.cluster_utils import Cluster
from sizes import size

from gde import Choice, How, Plan, evaluate, load_evidence
from gde.data.json import Json
from gde.request.catalogue import Catalogue, load_plugins

EPISODES = size("20000", "20")
PAUSES = 2.0, 8.0
"""Seconds between two changes of the cluster."""
MEMORY = 80 * 2**20
"""Bytes of the object store of a node, which gde does not use."""
Told = dict[str, Any]


class Nodes:
    """A cluster, and nodes of it that run workers."""

    def __init__(self, n: int) -> None:
        head = {"num_cpus": 0, "include_dashboard": False}
        self._cluster = Cluster(initialize_head=True, head_node_args=head)
        self._most = n
        self._nodes: list[Any] = []
        self.changes = {"added": 0, "killed": 0}
        for _ in range(n):
            self._add()
        quiet = {"log_to_driver": False, "configure_logging": False}
        ray.init(address=self._cluster.address, logging_level="ERROR", **quiet)

    def change(self, rng: random.Random) -> None:
        """Kill a node, or add one where some are gone; one is always left."""
        n = len(self._nodes)
        if n > 1 and (n == self._most or rng.random() < 0.5):
            node = self._nodes.pop(rng.randrange(n))
            self._cluster.remove_node(node, allow_graceful=False)
            self.changes["killed"] += 1
        else:
            self._add()
            self.changes["added"] += 1

    def _add(self) -> None:
        node = self._cluster.add_node(num_cpus=1, object_store_memory=MEMORY)
        self._nodes.append(node)

    def close(self) -> None:
        """End all of it."""
        ray.shutdown()
        self._cluster.shutdown()


def changing(nodes: Nodes, run: Callable[[], Told]) -> Told:
    """Nodes come and go while a run lasts.

    Ray adds nodes in the main thread alone, so that the run has another one.
    """
    rng = random.Random(1)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run)
        while not wait([running], rng.uniform(*PAUSES)).done:
            nodes.change(rng)
        return running.result()


def main(episodes: str = EPISODES, workers: str = "2", at_once: str = "256") -> None:
    """Measure and print."""
    catalogue = Catalogue(load_plugins(modules=("gde.testing.plugin",)))

    def play(out: Path, executor: Choice) -> Told:
        plan = Plan(
            environment="corridor",
            agent="scripted",
            metrics=["success"],
            episodes=int(episodes),
        )
        how = How(concurrency=int(at_once), executor=executor)
        began = time.monotonic()
        result = evaluate(plan, out, catalogue, how=how)
        seconds = time.monotonic() - began
        return {
            "seconds": round(seconds, 1),
            "episodes a second": round(int(episodes) / seconds, 1),
            "status": result.status,
            "failures": len(result.failures),
        }

    def tell(told: Told) -> None:
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()

    with TemporaryDirectory() as scratch:
        place = Path(scratch)
        tell({"run": "serial"} | play(place / "serial", Choice(name="serial")))
        expected = [*load_evidence(place / "serial").trajectories]

        def same(out: Path) -> bool:
            return [*load_evidence(out).trajectories] == expected

        config: dict[str, Json] = {
            "address": "auto",
            "cpus": 1,
            "workers": int(workers),
        }
        on_ray = Choice(name="ray", config=config)
        nodes = Nodes(int(workers))
        try:
            told = play(place / "alone", on_ray)
            tell({"run": "left alone"} | told | {"same": same(place / "alone")})
            told = changing(nodes, lambda: play(place / "changing", on_ray))
            told |= nodes.changes | {"same": same(place / "changing")}
            tell({"run": "changing"} | told)
        finally:
            nodes.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
