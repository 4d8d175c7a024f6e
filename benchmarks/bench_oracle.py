"""Optimal sets for all states of many grids, in batch and one after the other: `python
benchmarks/bench_oracle.py`.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sizes import size

from gde.numerics.tabular import solve
from gde_plugins.grid.generation.mazes import generate
from gde_plugins.grid.grid import Grid
from gde_plugins.grid.keyed import dynamics
from gde_plugins.grid.keyed.dynamics import KeyStates
from gde_plugins.grid.keyed.scene import Scene, cell
from gde_plugins.grid.solver.batch import key_door_actions, optimal_actions
from gde_plugins.grid.solver.dynamics import tabulate

SIZE, DENSITIES = 15, (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
GRIDS = size(20_000, 12)
PEER_GRIDS = size(300, 2)
RUNS = size(5, 1)


def per_second(work: Callable[[], object], n_grids: int) -> float:
    """Grids by the median time of several runs."""
    spent = []
    for _ in range(RUNS):
        started = time.perf_counter()
        work()
        spent.append(time.perf_counter() - started)
    return n_grids / float(np.median(spent))


def scenes(rng: np.random.Generator) -> list[Scene]:
    """Grids of all densities with agent, goal, key and door on any four free cells."""
    made = []
    for number in range(PEER_GRIDS):
        grid = generate(SIZE, DENSITIES[number % len(DENSITIES)], rng)
        agent, goal, key, door = map(
            cell, rng.permutation(np.argwhere(~grid.walls))[:4]
        )
        made.append(
            Scene(
                layout="any",
                rows=grid.rows,
                agent=agent,
                goal=goal,
                place=key,
                door=door,
            )
        )
    return made


def compared(
    batch: Callable[..., object],
    arrays: Sequence[Any],
    one: Callable[[Any], object],
    each: Any,
) -> Any:
    """Speed of the batch oracle on many grids, and of the one that solves grid by grid
    on some of them.
    """
    many = np.arange(GRIDS) % PEER_GRIDS
    full = [array[many] for array in arrays]
    ours = per_second(lambda: batch(*full), GRIDS)
    peer = per_second(lambda: [one(grid) for grid in each], len(each))
    return {
        "grids_per_second": round(ours),
        "one_by_one_per_second": round(peer),
        "ratio": round(ours / peer, 1),
    }


def main() -> None:
    """Print one JSON object."""
    made = scenes(np.random.default_rng(0))
    walls = np.array([scene.walls for scene in made])
    places = [
        np.array([getattr(scene, name) for scene in made])
        for name in ("goal", "place", "door")
    ]
    grids = [
        Grid(rows=scene.rows, agent=scene.agent, goal=scene.goal) for scene in made
    ]
    figures = {
        "size": SIZE,
        "plain": compared(
            optimal_actions,
            [walls, places[0]],
            lambda grid: solve(tabulate(grid)),
            grids,
        ),
        "key_door": compared(
            key_door_actions,
            [walls, *places],
            lambda scene: solve(dynamics.tabulate(scene, KeyStates.of(scene))),
            made,
        ),
    }
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
