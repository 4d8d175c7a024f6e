"""Synthetic activations in which a map is planted."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gde.data.cell_map import KINDS, decoded_classes
from gde.data.probe import ProbeDataset
from gde.request.catalogue import Catalogue, load_plugins

sys.path.insert(0, str(Path(__file__).parent))

CLASSES = decoded_classes(KINDS)
EMPTY, AGENT, GOAL, WALL, PAD = range(5)

SIDE, WIDTH = 7, 48
Planted = Callable[[int, int], ProbeDataset]


@pytest.fixture
def planted() -> Planted:
    """(n, seed) to n open 5x5 or 7x7 rooms padded to 7x7, whose activations hold agent
    and goal, linearly and noisily.

    The embedding is the same for every seed. Turns come in worlds of two.
    """

    def make(n: int, seed: int) -> ProbeDataset:
        rng = np.random.default_rng(seed)
        cells = np.full((n, SIDE, SIDE), PAD, dtype=np.int64)
        features = np.zeros((n, 4 * SIDE + 1))
        for row in range(n):
            side = int(rng.choice([5, 7]))
            cells[row, :side, :side] = WALL
            cells[row, 1 : side - 1, 1 : side - 1] = EMPTY
            agent, goal = rng.choice((side - 2) ** 2, 2, replace=False)
            where = [
                1 + int(x) for x in (*divmod(agent, side - 2), *divmod(goal, side - 2))
            ]
            cells[row, where[0], where[1]], cells[row, where[2], where[3]] = AGENT, GOAL
            features[row, [i * SIDE + x for i, x in enumerate(where)]] = 1
            features[row, -1] = side == SIDE
        embedding = np.random.default_rng(0).normal(size=(features.shape[1], WIDTH))
        inputs = features @ embedding + rng.normal(scale=0.3, size=(n, WIDTH))
        groups = np.array([f"world{seed}-{row // 2}" for row in range(n)])
        return ProbeDataset(
            inputs=inputs.astype(np.float32),
            labels=cells,
            groups=groups,
            classes=CLASSES,
        )

    return make


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    """With the models of `planted_parts`."""
    return Catalogue(load_plugins(modules=("planted_parts",)))
