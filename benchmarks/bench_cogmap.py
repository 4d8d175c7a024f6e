"""The factored probe against the same training on materialised (activation, row,
column) rows.

Both train the MLP of Arghal et al. (2026), section 5.1 (3 x 2880 activations + 2
coordinates, 1024 hidden units, 15 x 15 cells, 5 classes), from the same weights on the
same turns in the same order, for the same number of AdamW steps. On one or two threads,

    OMP_NUM_THREADS=1 python benchmarks/bench_cogmap.py

prints one JSON object: seconds of both, their ratio, and the greatest difference
between the two loss curves.
"""

import json
import sys
from dataclasses import replace
from time import perf_counter

import numpy as np
import torch
from numpy.typing import NDArray
from sizes import size
from torch.nn.functional import cross_entropy

from gde_plugins.probes.fitting.training import Examples, Settings, class_weights, train
from gde_plugins.probes.fitting.weights import CellWeights, cell_coordinates

TURNS, CLASSES = 32, 5
WIDTH = size(3 * 2880, 64)
SIDE = size(15, 3)
SEED = 0
SETTINGS = Settings(
    hidden=size(1024, 8),
    whiten=False,
    epochs=size(5, 1),
    batch=16,
    cells=None,
    learning_rate=1e-4,
    weight_decay=1e-3,
    device="cpu",
)


def examples(rng: np.random.Generator) -> Examples:
    """Normal activations, from whose signs every cell's class can be told."""
    inputs = rng.standard_normal((TURNS, WIDTH), dtype=np.float32)
    planted = inputs @ rng.standard_normal((WIDTH, SIDE**2 * CLASSES), dtype=np.float32)
    targets = planted.reshape(TURNS, SIDE**2, CLASSES).argmax(axis=-1)
    return Examples(
        inputs=inputs,
        shape=(SIDE, SIDE),
        targets=targets,
        weights=class_weights(targets, CLASSES),
    )


def materialised(
    start: CellWeights, data: Examples, rng: np.random.Generator
) -> list[float]:
    """The loss of every step of plain torch on one row a cell."""
    network = network_of(start)
    optimizer = torch.optim.AdamW(
        network.parameters(),
        lr=SETTINGS.learning_rate,
        weight_decay=SETTINGS.weight_decay,
        fused=True,
    )
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(
        optimizer, T_max=SETTINGS.epochs * TURNS // SETTINGS.batch
    )
    losses = []
    for _ in range(SETTINGS.epochs):
        for turns in np.split(rng.permutation(TURNS), TURNS // SETTINGS.batch):
            optimizer.zero_grad()
            logits = network(torch.from_numpy(rows(data.inputs[turns])))
            each = cross_entropy(
                logits, torch.from_numpy(data.targets[turns].ravel()), reduction="none"
            )
            loss = (
                each
                @ torch.from_numpy(data.weights[turns].ravel().astype(np.float32))
                / len(each)
            )
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            cosine.step()
            losses.append(loss.item())
    return losses


def rows(inputs: NDArray[np.float32]) -> NDArray[np.float32]:
    """(turns * cells, width + 2)."""
    coordinates = cell_coordinates((SIDE, SIDE))
    activations = np.repeat(inputs, len(coordinates), axis=0)
    return np.concatenate([activations, np.tile(coordinates, (len(inputs), 1))], axis=1)


def network_of(weights: CellWeights) -> torch.nn.Sequential:
    """The same network as a torch module on materialised rows."""
    network = torch.nn.Sequential(
        torch.nn.Linear(WIDTH + 2, SETTINGS.hidden),
        torch.nn.ReLU(),
        torch.nn.Linear(SETTINGS.hidden, CLASSES),
    )
    first = np.concatenate([weights.activation, weights.coordinate]).T
    arrays = (first, weights.bias, weights.output, weights.output_bias)
    with torch.no_grad():
        for parameter, array in zip(network.parameters(), arrays, strict=True):
            parameter.copy_(torch.tensor(array))
    return network


def main() -> None:
    """Run both and print the comparison."""
    rng = np.random.default_rng(SEED)
    data, start = (
        examples(rng),
        CellWeights.initial(WIDTH, 2, CLASSES, SETTINGS.hidden, rng),
    )
    # The first optimizer of a process imports much of torch.
    train(start, data, replace(SETTINGS, epochs=1), np.random.default_rng(SEED))
    begin = perf_counter()
    _, ours = train(start, data, SETTINGS, np.random.default_rng(SEED))
    middle = perf_counter()
    plain = materialised(start, data, np.random.default_rng(SEED))
    factored_s, materialised_s = middle - begin, perf_counter() - middle
    report = {
        "steps": len(ours),
        "rows_per_step": SETTINGS.batch * SIDE**2,
        "threads": torch.get_num_threads(),
        "factored_s": round(factored_s, 3),
        "materialised_s": round(materialised_s, 3),
        "ratio": round(materialised_s / factored_s, 1),
        "first_loss": ours[0],
        "last_loss": ours[-1],
        "max_loss_difference": float(np.abs(np.subtract(ours, plain)).max()),
    }
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
