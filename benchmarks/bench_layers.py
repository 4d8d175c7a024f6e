"""Memory of a sweep over the layers of a run: does it grow with their number?

Writes activations of three tokens of width 2,880 at so many layers, then, in a fresh process for each number of layers,
reads one layer after the other and fits a bilinear probe of 64 cells to each for one epoch.

    OMP_NUM_THREADS=1 python benchmarks/bench_layers.py TURNS LAYERS

prints one JSON object: what a layer takes, and the most that was held beyond what the imports take, in MiB, after one
layer and after all: "anonymous", which cannot be read again from the files, and "resident", with mapped pages that the
system drops when it needs them.
"""

import asyncio
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Event, Thread

import numpy as np

from gde.data.activations import ActivationRecord
from gde.data.observation import World
from gde.data.trajectory import EpisodeKey
from gde.store.activations import ActivationStore, Row
from gde.store.journal import Journal

WIDTH, TOKENS, SIDE = 2880, 3, 8


def write(folder: Path, turns: int, layers: int) -> None:
    """One turn an episode."""
    with closing(Journal.create(folder / "run.sqlite")) as journal:
        for world in range(turns):
            key = EpisodeKey(stratum=0, world=world)
            asyncio.run(journal.begin(key, 0, World(id=f"w{world}"), {}, 1))
        ActivationStore(folder / "activations", journal).write("model", _records(turns, layers))


def _records(turns: int, layers: int) -> Iterator[tuple[Row, ActivationRecord]]:
    rng = np.random.default_rng(0)
    for world in range(turns):
        drawn = rng.standard_normal((layers, TOKENS, WIDTH), dtype=np.float32)
        yield (f"0/{world}/0", 0), ActivationRecord(values={(at, "pre"): drawn[at] for at in range(layers)})


def swept(folder: Path, layers: int) -> dict[str, float]:
    """MiB held at most beyond what there was before."""
    # Imported here: whoever writes needs neither.
    from bench_probes import CLASSES, settings

    from gde_plugins.probes.design import LatestDesign
    from gde_plugins.probes.place_training import fit_places
    from gde_plugins.probes.training import Examples

    prepare, rng, watch = LatestDesign(), np.random.default_rng(0), _Anonymous()
    before, resident = watch.now(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    with closing(Journal.open(folder / "run.sqlite")) as journal:
        store = ActivationStore(folder / "activations", journal)
        for layer in range(layers):
            table = store.table("model", layer, "pre")
            assert table is not None
            inputs = table.concatenated()
            targets = rng.integers(CLASSES, size=(len(inputs), SIDE**2))
            examples = Examples(inputs=inputs, shape=(SIDE, SIDE), targets=targets, weights=np.ones(targets.shape))
            fit_places("bilinear", examples, CLASSES, settings(0, 3e-2, 128, 1), rng, prepare)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"anonymous": watch.most() - before, "resident": most - resident}


class _Anonymous:
    """Looks at /proc, hence on Linux alone, every few milliseconds."""

    def __init__(self) -> None:
        self._seen, self._stop = [self.now()], Event()
        self._thread = Thread(target=self._look, daemon=True)
        self._thread.start()

    def now(self) -> float:
        told = Path("/proc/self/status").read_text(encoding="ascii")
        return int(told.partition("RssAnon:")[2].split()[0]) / 1024

    def most(self) -> float:
        self._stop.set()
        self._thread.join()
        return max(self._seen)

    def _look(self) -> None:
        while not self._stop.wait(0.005):
            self._seen.append(self.now())


def main() -> None:
    """Measure and print; with a folder as third argument, what one process holds."""
    turns, layers = int(sys.argv[1]), int(sys.argv[2])
    if len(sys.argv) > 3:
        sys.stdout.write(json.dumps(swept(Path(sys.argv[3]), layers)))
        return
    report: dict[str, object] = {"layer": turns * TOKENS * WIDTH * 4 / 2**20}
    with tempfile.TemporaryDirectory() as name:
        write(Path(name), turns, layers)
        for n in (1, layers):
            command = [sys.executable, __file__, str(turns), str(n), name]
            report[f"{n} layers"] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
