"""Speed of the grid world and its oracle, with MiniGrid in the same run: `python
benchmarks/bench_grid.py`.
"""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

import gymnasium
import minigrid  # noqa: F401 - registers the peer
import numpy as np
from sizes import size

from gde.numerics.tabular import solve
from gde_plugins.grid.config import GridConfig
from gde_plugins.grid.environment import GridEnvironment
from gde_plugins.grid.generation.files import read_origins
from gde_plugins.grid.generation.mazes import generate
from gde_plugins.grid.grid import Grid
from gde_plugins.grid.solver.dynamics import ACTIONS, tabulate

STEPS = size(200_000, 20)
PEER_STEPS = size(20_000, 20)
LINES = size(500, 2)
RUNS = size(200, 2)
SIZE = 15


def grid_steps_per_second() -> float:
    """Random actions through the Environment protocol, texts and resets included."""
    environment = GridEnvironment(GridConfig(size=SIZE))
    environment.reset(0)
    actions = [
        ACTIONS[index]
        for index in np.random.default_rng(0).integers(len(ACTIONS), size=STEPS)
    ]
    started = time.perf_counter()
    for turn, action in enumerate(actions):
        if environment.step(action).terminated:
            environment.reset(turn)
    return STEPS / (time.perf_counter() - started)


def minigrid_steps_per_second() -> float:
    """Random actions in an empty MiniGrid room of the same size, without wrappers,
    resets included.
    """
    environment = gymnasium.make("MiniGrid-Empty-8x8-v0", size=SIZE).unwrapped
    environment.reset(seed=0)
    actions = np.random.default_rng(0).integers(3, size=PEER_STEPS).tolist()
    started = time.perf_counter()
    for action in actions:
        _, _, terminated, truncated, _ = environment.step(action)
        if terminated or truncated:
            environment.reset()
    return PEER_STEPS / (time.perf_counter() - started)


def grids_read_per_second() -> float:
    """Lines of a file of random grids, checked and made into grids."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "grids.jsonl"
        drawn = [
            generate(SIZE, 0.5, np.random.default_rng(seed)) for seed in range(LINES)
        ]
        lines = [
            json.dumps({"id": str(number), **asdict(grid)})
            for number, grid in enumerate(drawn)
        ]
        path.write_text("\n".join(lines), encoding="utf-8")
        started = time.perf_counter()
        read_origins(str(path))
        return LINES / (time.perf_counter() - started)


def milliseconds(work: Callable[[int], object], times: int = RUNS) -> float:
    """Median time of `work`, which is given the number of its run."""
    spent = []
    for run in range(times):
        started = time.perf_counter()
        work(run)
        spent.append(time.perf_counter() - started)
    return 1000 * float(np.median(spent))


def main() -> None:
    """Print one JSON object."""
    environment = GridEnvironment(GridConfig(size=SIZE))
    reset = milliseconds(environment.reset)
    transformed = GridEnvironment(
        GridConfig(size=SIZE, transform="reflect+rotate90", actions="N/S/W/E")
    )
    grid = Grid.from_record(environment.world(), environment.state())
    ours, peer = grid_steps_per_second(), minigrid_steps_per_second()
    figures = {
        "size": SIZE,
        "steps_per_second": round(ours),
        "minigrid_empty_steps_per_second": round(peer),
        "ratio": round(ours / peer, 1),
        "reset_ms": round(reset, 3),
        "transformed_reset_ms": round(milliseconds(transformed.reset), 3),
        "grids_read_per_second": round(grids_read_per_second()),
        "model_and_solve_ms": round(milliseconds(lambda _: solve(tabulate(grid))), 3),
    }
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
