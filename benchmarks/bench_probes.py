"""Probes at the size of GPT-OSS-20B: a map trained on 3,000 grids against rows that are materialised; 24 layers swept.

`map`: the MLP of Arghal et al. (2026), section 5.1, as `cogmap` trains it with its defaults (20 epochs, whitened, 16
cells of a turn a step), against 20 epochs over all rows of [activations; row; column], of both the time per grid in
one run. On few grids both are measured; on 3,000 the rows alone would take 23 GB, so of them a share is measured and
multiplied. `sweep`: a linear probe of 64 cells at 24 layers of width 2,880, each beside its shuffled control, on 2,000
turns. Memory is the most that the process ever held. On one or two threads,

    OMP_NUM_THREADS=1 python benchmarks/bench_probes.py

prints one JSON object. Seconds are of processor time, so they are of one core, whatever else the machine does.
"""

import json
import resource
import sys
from dataclasses import replace
from time import process_time

import numpy as np
import torch
from bench_cogmap import SETTINGS, materialised

from gde_plugins.probes.classifier import class_weights
from gde_plugins.probes.config import CogmapConfig
from gde_plugins.probes.place_training import fit_places
from gde_plugins.probes.training import Examples, Settings, fit_network
from gde_plugins.probes.weights import CellWeights

WIDTH, SIDE, CLASSES = 3 * 2880, 15, 5
FEW, MANY, SHARE = 96, 3000, 32
LAYERS, SWEPT_WIDTH, SWEPT_SIDE, TURNS = 24, 2880, 8, 2000
EPOCHS = CogmapConfig().epochs


def examples(n: int, width: int, side: int, rng: np.random.Generator) -> Examples:
    """Normal activations; classes from the signs of a few of them."""
    inputs = rng.standard_normal((n, width), dtype=np.float32)
    planted = inputs[:, :64] @ rng.standard_normal((64, side**2 * CLASSES), dtype=np.float32)
    targets = planted.reshape(n, side**2, CLASSES).argmax(axis=-1)
    return Examples(inputs=inputs, shape=(side, side), targets=targets, weights=class_weights(targets, CLASSES))


def settings(hidden: int, learning_rate: float, batch: int) -> Settings:
    """The defaults of `cogmap`, but for the batch."""
    config = CogmapConfig()
    return Settings(
        hidden=hidden,
        whiten=True,
        epochs=EPOCHS,
        batch=batch,
        cells=config.cells,
        learning_rate=learning_rate,
        weight_decay=config.weight_decay,
        device="cpu",
    )


def ours(n: int) -> float:
    """Seconds of a whole fit."""
    rng = np.random.default_rng(0)
    data = examples(n, WIDTH, SIDE, rng)
    begin = process_time()
    fit_network(data, CLASSES, settings(SETTINGS.hidden, 3e-3, 32), rng)
    return process_time() - begin


def naive(n: int) -> float:
    """Seconds of as many epochs over materialised rows, told from a few grids: the work is the same for each."""
    rng = np.random.default_rng(0)
    data = examples(SHARE, WIDTH, SIDE, rng)
    start = CellWeights.initial(WIDTH, 2, CLASSES, SETTINGS.hidden, rng)
    begin = process_time()
    materialised(start, data, rng)
    return (process_time() - begin) / (SHARE * SETTINGS.epochs) * n * EPOCHS


def sweep() -> float:
    """Seconds of all layers and their controls."""
    rng, linear = np.random.default_rng(0), settings(0, CogmapConfig().linear_learning_rate, 128)
    seconds = 0.0
    for _ in range(LAYERS):
        data = examples(TURNS, SWEPT_WIDTH, SWEPT_SIDE, rng)
        shuffled = replace(data, targets=data.targets[rng.permutation(TURNS)])
        begin = process_time()
        for each in (data, shuffled):
            fit_places("bilinear", each, CLASSES, replace(linear, cells=None), rng)
        seconds += process_time() - begin
    return seconds


def main() -> None:
    """Measure and print."""
    torch.set_num_threads(1)
    swept = sweep()
    few, many = ours(FEW), ours(MANY)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    few_naive, many_naive = naive(FEW), naive(MANY)
    report = {
        "sweep": {"layers": LAYERS, "fits": 2 * LAYERS, "cpu_s": swept, "two_cores_s": swept / 2},
        "map": {
            f"grids_{FEW}": {"ours_cpu_s": few, "rows_cpu_s": few_naive, "ratio": few_naive / few},
            f"grids_{MANY}": {"ours_cpu_s": many, "rows_cpu_s": many_naive, "ratio": many_naive / many},
        },
        "most_memory_gib": memory,
    }
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
