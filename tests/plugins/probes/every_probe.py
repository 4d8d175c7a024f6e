"""Every probe fitted to the same random activations; as a program it prints what came
out.
"""

from collections.abc import Iterator
from hashlib import sha256
from typing import get_args

import numpy as np
import torch

from gde.data.cell_map import KINDS, decoded_classes
from gde.data.probe import ProbeDataset
from gde_plugins.probes.config import (
    CogmapConfig,
    DistanceConfig,
    MapVariant,
    PlanConfig,
)
from gde_plugins.probes.distance.probe import DistanceProbe
from gde_plugins.probes.maps.probe import CogmapProbe
from gde_plugins.probes.plans.probe import PlanProbe

WIDTH, SIDE, HORIZON = 384, 7, 4
MANY, FEW = 13 * 32 + 11, 32 + 11
"""Turns. Of the last eleven, MKL adds up the products in another order on two threads
than on one.
"""


def hashes() -> Iterator[str]:
    """Name, variant and a hash of the weights and of what they read, for each."""
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(MANY, WIDTH)).astype(np.float32)
    groups = np.array([str(row // 2) for row in range(MANY)])
    classes = decoded_classes(KINDS)
    is_wall = inputs[:, : SIDE**2] > 0
    maps = np.where(is_wall, classes.index("wall"), classes.index("empty"))
    agent = inputs[:, : SIDE**2].argmin(axis=1)
    maps[np.arange(MANY), agent] = classes.index("agent")
    steps = (inputs[:, :3] @ np.ones((3, 3))).round() + 20
    plans = 1 + (inputs[:, :HORIZON] > 0)
    plans[:, -1] = 0
    datasets = (
        (
            "cogmap",
            CogmapProbe(
                CogmapConfig(
                    variants=get_args(MapVariant),
                    size=SIDE,
                    epochs=1,
                )
            ),
            ProbeDataset(
                inputs=inputs,
                labels=maps.reshape(MANY, SIDE, SIDE),
                groups=groups,
                classes=classes,
            ),
        ),
        (
            "distance",
            DistanceProbe(DistanceConfig(epochs=1)),
            ProbeDataset(inputs=inputs, labels=steps, groups=groups),
        ),
        (
            "plan",
            PlanProbe(PlanConfig(epochs=1, horizon=HORIZON, depth=1)),
            ProbeDataset(
                inputs=inputs[:FEW, None], labels=plans[:FEW], groups=groups[:FEW]
            ),
        ),
    )
    for name, probe, dataset in datasets:
        for variant in probe.variants:
            readout = probe.fit(variant, dataset, np.random.default_rng(1))
            told = sha256()
            for array in (*readout.arrays().values(), readout.predict(dataset.inputs)):
                told.update(np.ascontiguousarray(array).tobytes())
            yield f"{name} {variant} {told.hexdigest()}"


if __name__ == "__main__":
    torch.set_num_threads(torch.get_num_threads())  # as a model of the same run does
    print(*hashes(), sep="\n")  # noqa: T201
