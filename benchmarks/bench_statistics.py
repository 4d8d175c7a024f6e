"""The statistics of the whole behavioural study, on a synthetic record: `python
benchmarks/bench_statistics.py`.

300 grids, four transforms of each, 10 trajectories in every world. Seconds of processor
time for every variation against its unvaried grid (`pairs`) and for the trends over
size, density and distance (`trends`).
"""

import json
import sys
import time
from collections.abc import Iterator

import numpy as np
from sizes import size

from gde import (
    Decision,
    EpisodeKey,
    Evidence,
    Observation,
    State,
    Trajectory,
    Turn,
    World,
)
from gde.data.json import Labels
from gde.request.catalogue import Catalogue
from gde.testing.context import PlainContext

TRANSFORMS = ("none", "reflect", "rotate90", "swap", "transpose")
SIZES = size((7, 9, 11, 13, 15), (7, 9, 11))
DENSITIES = size((0.0, 0.2, 0.4, 0.6, 0.8, 1.0), (0.0, 0.5, 1.0))
GRIDS, REPEATS = size((10, 10), (2, 1))
ACTIONS = ("LEFT", "RIGHT", "UP", "DOWN")
SEEN = Observation(text="", actions=ACTIONS)


def main() -> None:
    """Measure and print."""
    evidence = Evidence(trajectories=tuple(study(np.random.default_rng(0))))
    catalogue = Catalogue.default()
    figures: dict[str, float] = {"trajectories": len(evidence.trajectories)}
    figures["turns"] = sum(
        len(trajectory.turns) for trajectory in evidence.trajectories
    )
    for name in ("pairs", "trends"):
        offer = catalogue.find("metric", name).offer
        started = time.process_time()
        figures[f"{name}_measurements"] = len(
            offer.made(offer.config(), PlainContext())(evidence)
        )
        figures[f"{name}_seconds"] = round(time.process_time() - started, 2)
    sys.stdout.write(json.dumps(figures) + "\n")


def study(rng: np.random.Generator) -> Iterator[Trajectory]:
    """Every trajectory of the study."""
    grids = [
        (side, density, i)
        for side in SIZES
        for density in DENSITIES
        for i in range(GRIDS)
    ]
    for condition, transform in enumerate(TRANSFORMS):
        for number, (side, density, i) in enumerate(grids):
            base = f"{side} {density} {i}"
            labels: Labels = {"size": side, "density": density, "distance": side}
            world = World(id=f"{base} {transform}", base=base, labels=labels)
            for repeat in range(REPEATS):
                key = EpisodeKey(condition=condition, world=number, repeat=repeat)
                yield episode(key, world, {**labels, "transform": transform}, rng)


def episode(
    key: EpisodeKey, world: World, labels: Labels, rng: np.random.Generator
) -> Trajectory:
    """A walk along a line to the goal, with a random step now and then."""
    size, density = int(labels["size"]), float(labels["density"])
    distance, turns = size, list[Turn]()
    while distance > 0 and len(turns) < 1.5 * size:
        hit = rng.random() > 0.1 + 0.02 * distance * density
        decision = Decision.act("RIGHT" if hit else ACTIONS[rng.integers(4)])
        state = State(facts={}, index=distance)
        after = distance - (1 if decision.action == "RIGHT" else -1)
        turns.append(
            Turn(
                index=len(turns),
                observation=SEEN,
                decision=decision,
                reward=float(after == 0),
                terminated=after == 0,
                success=float(after == 0),
                truncated=False,
                state=state,
                optimal=("RIGHT",),
                value=-float(distance),
            )
        )
        distance = after
    return Trajectory(
        key=key,
        seed=0,
        world=world,
        labels=labels,
        horizon=99,
        turns=tuple(turns),
        ending="terminated" if distance == 0 else "horizon",
    )


if __name__ == "__main__":
    main()
