"""Probes at the size of GPT-OSS-20B: a map trained on 3,000 grids against rows that are
materialised; 24 layers swept.

`map`: the MLP of Arghal et al. (2026), section 5.1, as `cogmap` trains it with its
defaults (20 epochs, whitened, 16 cells of a turn a step), against as many epochs over
all rows of [activations; row; column]. Of these a few steps on few grids are measured,
and multiplied: 3,000 grids would take 23 GB. `sweep`: a linear probe of 64 cells at 24
layers of width 2,880, each beside the controls that a run fits at every layer, shuffled
labels and the activations of random weights, on 2,000 turns; in one thread, and in two
as a run has them on two cores.
Memory is the most that the process ever held. With one thread for every product,

    OMP_NUM_THREADS=1 python benchmarks/bench_probes.py LAYERS EPOCHS

measures so many layers of the sweep, which are multiplied, and trains on 3,000 grids
for so many epochs, which are not; without arguments, for all 24 and 20. It prints one
JSON object. Seconds of processor time are the same whatever else the machine does;
those by the clock, given for the sweep, are longer then.
"""

import json
import resource
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from time import perf_counter, process_time

import numpy as np
import torch
from bench_cogmap import SETTINGS, materialised
from sizes import size

from gde_plugins.probes.config import CogmapConfig
from gde_plugins.probes.fitting.place_training import fit_places
from gde_plugins.probes.fitting.training import (
    Examples,
    Settings,
    class_weights,
    fit_network,
)
from gde_plugins.probes.fitting.weights import CellWeights

CLASSES, SHARE, SWEPT_SIDE = 5, 32, 8
WIDTH = size(3 * 2880, 64)
SIDE = size(15, 3)
FEW, MANY = size((96, 3000), (4, 8))
LAYERS = size(24, 1)
SWEPT_WIDTH = size(2880, 64)
TURNS = size(2000, 32)
PLANTED = 64  # inputs that tell the classes
EPOCHS = size(CogmapConfig().epochs, 1)


def examples(n: int, width: int, side: int, rng: np.random.Generator) -> Examples:
    """Normal activations; classes from the signs of a few of them."""
    inputs = rng.standard_normal((n, width), dtype=np.float32)
    planted = inputs[:, :PLANTED] @ rng.standard_normal(
        (PLANTED, side**2 * CLASSES), dtype=np.float32
    )
    targets = planted.reshape(n, side**2, CLASSES).argmax(axis=-1)
    return Examples(
        inputs=inputs,
        shape=(side, side),
        targets=targets,
        weights=class_weights(targets, CLASSES),
    )


def settings(
    hidden: int, learning_rate: float, batch: int, epochs: int = EPOCHS
) -> Settings:
    """The defaults of `cogmap`, but for batch and epochs."""
    config = CogmapConfig()
    return Settings(
        hidden=hidden,
        whiten=True,
        epochs=epochs,
        batch=batch,
        cells=config.cells,
        learning_rate=learning_rate,
        weight_decay=config.weight_decay,
        device="cpu",
    )


def ours(n: int, epochs: int) -> float:
    """Seconds of a whole fit."""
    rng = np.random.default_rng(0)
    data = examples(n, WIDTH, SIDE, rng)
    begin = process_time()
    fit_network(data, CLASSES, settings(SETTINGS.hidden, 3e-3, 32, epochs), rng)
    return process_time() - begin


def naive() -> float:
    """Seconds of an epoch over the materialised rows of one grid, told from a few,
    which all take the same work.
    """
    rng = np.random.default_rng(0)
    data = examples(SHARE, WIDTH, SIDE, rng)
    start = CellWeights.initial(WIDTH, 2, CLASSES, SETTINGS.hidden, rng)
    begin = process_time()
    materialised(start, data, rng)
    return (process_time() - begin) / (SHARE * SETTINGS.epochs)


def sweep(layers: int) -> dict[str, dict[str, float]]:
    """Seconds of all layers and their controls, each way."""
    rng = np.random.default_rng(0)
    ways = {"one_thread": 1, "two_threads": 2}
    # The first optimizer of a process imports much of torch.
    fit_layer(PLANTED, PLANTED, 2, rng)
    each = [
        [fit_layer(TURNS, SWEPT_WIDTH, threads, rng) for threads in ways.values()]
        for _ in range(layers)
    ]
    means = LAYERS * np.mean(each, axis=0)
    return {
        way: {"cpu_s": cpu, "wall_s": wall}
        for way, (cpu, wall) in zip(ways, means.tolist(), strict=True)
    }


def fit_layer(
    n: int, width: int, threads: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Seconds of processor time, and by the clock."""
    linear = replace(settings(0, CogmapConfig().linear_learning_rate, 128), cells=None)
    data = examples(n, width, SWEPT_SIDE, rng)
    shuffled = replace(data, targets=data.targets[rng.permutation(n)])
    untrained = replace(data, inputs=rng.standard_normal((n, width), dtype=np.float32))

    def fit(each: Examples) -> None:
        fit_places("bilinear", each, CLASSES, linear, np.random.default_rng(0))

    begin, begin_wall = process_time(), perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(fit, (data, shuffled, untrained)))
    return process_time() - begin, perf_counter() - begin_wall


def compared(grids: int, epochs: int, ours_s: float, grid_s: float) -> dict[str, float]:
    """Seconds of the map's training, given those of an epoch over the rows of one
    grid.
    """
    rows_s = grid_s * grids * epochs
    return {
        "grids": grids,
        "epochs": epochs,
        "ours_cpu_s": ours_s,
        "rows_cpu_s": rows_s,
        "ratio": rows_s / ours_s,
    }


def main() -> None:
    """Measure and print."""
    torch.set_num_threads(1)
    layers, epochs = (int(each) for each in sys.argv[1:] or (LAYERS, EPOCHS))
    swept = sweep(layers)
    many_s = ours(MANY, epochs)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    grid_s = naive()
    report = {
        "sweep": {"layers_measured": layers, "layers": LAYERS, **swept},
        "map": [
            compared(FEW, EPOCHS, ours(FEW, EPOCHS), grid_s),
            compared(MANY, epochs, many_s, grid_s),
        ],
        "most_memory_gib": memory,
    }
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
