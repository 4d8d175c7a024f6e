"""Memory of a sweep over the layers of a run: does it grow with their number?

Writes activations of three tokens of width 2,880 at so many layers, then, in a fresh process for each number of layers,
reads one layer after the other and fits a bilinear probe of 64 cells to each for one epoch.

    OMP_NUM_THREADS=1 python benchmarks/bench_layers.py TURNS LAYERS

prints one JSON object: what a layer takes, and the most that was held beyond what the imports take, in MiB, after one
layer and after all: "allocated" by Python and NumPy, and "resident", with what their allocator keeps of memory that was
given back, and mapped pages that the system drops when it needs them.
"""

import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

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
    """MiB held at most beyond what there was before; what the first fit imports is there by then."""
    with closing(Journal.open(folder / "run.sqlite")) as journal:
        store = ActivationStore(folder / "activations", journal)
        sweep(store, 1)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        tracemalloc.start()
        sweep(store, layers)
    allocated = tracemalloc.get_traced_memory()[1] / 2**20
    return {"allocated": allocated, "resident": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - before}


def sweep(store: ActivationStore, layers: int) -> None:
    """One probe a layer, as a run fits them."""
    # Imported here: whoever writes needs neither.
    from bench_probes import CLASSES, settings

    from gde_plugins.probes.design import LatestDesign
    from gde_plugins.probes.place_training import fit_places
    from gde_plugins.probes.training import Examples

    prepare, rng = LatestDesign(), np.random.default_rng(0)
    for layer in range(layers):
        table = store.table("model", layer, "pre")
        assert table is not None
        inputs = table.concatenated()
        targets = rng.integers(CLASSES, size=(len(inputs), SIDE**2))
        examples = Examples(inputs=inputs, shape=(SIDE, SIDE), targets=targets, weights=np.ones(targets.shape))
        fit_places("bilinear", examples, CLASSES, settings(0, 3e-2, 128, 1), rng, prepare)


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
