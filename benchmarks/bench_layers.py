"""Memory of a sweep over the layers of a run: does it grow with their number?

Writes activations of three tokens of width 2,880 at so many layers, of a model and its
untrained counterfactual, then, in a fresh process for each number of layers, reads one
layer after the other and fits a bilinear probe of 64 cells to each for one epoch: those
of the model in one thread, the counterfactual's in another, as a run does.

    OMP_NUM_THREADS=1 python benchmarks/bench_layers.py TURNS LAYERS

prints one JSON object, without arguments of 600 and 4: what a layer takes, and the most
that was held beyond what the imports take, in MiB, after one layer and after all:
"allocated" by Python and NumPy, and "resident", with what their allocator keeps of
memory that was given back, and mapped pages that the system drops when it needs them.
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
from sizes import size

from gde.data.activations import ActivationRecord
from gde.data.observation import World
from gde.data.trajectory import EpisodeKey
from gde.stages.lanes import in_lanes
from gde.store.activations import ActivationStore, Row
from gde.store.journal import Journal

TOKENS, SIDE = 3, 8
WIDTH = size(2880, 16)
TURNS = size(600, 8)
LAYERS = size(4, 2)
SOURCES = ("model", "untrained")


def write(folder: Path, turns: int, layers: int) -> None:
    """One turn an episode."""
    with closing(Journal.create(folder / "run.sqlite")) as journal:
        for world in range(turns):
            key = EpisodeKey(condition=0, world=world)
            asyncio.run(journal.begin(key, 0, World(id=f"w{world}"), {}, 1))
        for seed, source in enumerate(SOURCES):
            ActivationStore(folder / "activations", journal).write(
                source, _records(turns, layers, seed)
            )


def _records(
    turns: int, layers: int, seed: int
) -> Iterator[tuple[Row, ActivationRecord]]:
    rng = np.random.default_rng(seed)
    for world in range(turns):
        drawn = rng.standard_normal((layers, TOKENS, WIDTH), dtype=np.float32)
        yield (
            (f"0/{world}/0", 0),
            ActivationRecord(values={(at, "pre"): drawn[at] for at in range(layers)}),
        )


def swept(folder: Path, layers: int) -> dict[str, float]:
    """MiB held at most beyond what there was before; what the first fit imports is
    there by then.
    """
    sweep(folder, 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    tracemalloc.start()
    sweep(folder, layers)
    allocated = tracemalloc.get_traced_memory()[1] / 2**20
    return {
        "allocated": allocated,
        "resident": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - before,
    }


def sweep(folder: Path, layers: int) -> None:
    """One probe a layer and source, as a run fits them."""
    # Imported here: whoever writes needs neither.
    from bench_probes import CLASSES, settings

    from gde_plugins.probes.fitting.place_training import fit_places
    from gde_plugins.probes.fitting.training import Examples

    def fit(place: tuple[str, int]) -> None:
        rng = np.random.default_rng(0)
        with closing(Journal.open(folder / "run.sqlite", write=False)) as journal:
            table = ActivationStore(folder / "activations", journal).table(
                *place, "pre"
            )
        assert table is not None
        inputs = table.concatenated()
        targets = rng.integers(CLASSES, size=(len(inputs), SIDE**2))
        examples = Examples(
            inputs=inputs,
            shape=(SIDE, SIDE),
            targets=targets,
            weights=np.ones(targets.shape),
        )
        fit_places("bilinear", examples, CLASSES, settings(0, 3e-2, 128, 1), rng)

    for layer in range(layers):
        for _ in in_lanes(
            fit, [(source, layer) for source in SOURCES], range(len(SOURCES))
        ):
            pass


def main() -> None:
    """Measure and print; with a folder as third argument, what one process holds."""
    turns, layers = (int(each) for each in sys.argv[1:3] or (TURNS, LAYERS))
    if len(sys.argv) > 3:
        sys.stdout.write(json.dumps(swept(Path(sys.argv[3]), layers)))
        return
    report: dict[str, object] = {"layer": turns * TOKENS * WIDTH * 4 / 2**20}
    with tempfile.TemporaryDirectory() as name:
        write(Path(name), turns, layers)
        for n in (1, layers):
            command = [sys.executable, __file__, str(turns), str(n), name]
            report[f"{n} layers"] = json.loads(
                subprocess.run(command, check=True, capture_output=True).stdout
            )
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
