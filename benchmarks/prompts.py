"""Prompts of the benchmarks that ask a model."""

import numpy as np

COMPACT = "Go from A to G by the shortest way; # is wall, _ is free.\n"


def open_grid(side: int, seed: int) -> str:
    """A walled room with agent and goal, as the grid environment writes it."""
    cells = np.full((side, side), "_")
    cells[[0, -1], :] = cells[:, [0, -1]] = "#"
    inside = np.argwhere(cells == "_")
    agent, goal = np.random.default_rng(seed).choice(inside, 2, replace=False)
    cells[tuple(agent)], cells[tuple(goal)] = "A", "G"
    width = len(str(side)) + 1
    lines = ["", *map(str, range(side))]
    rows = [[str(column) for column in range(side)], *cells.tolist()]
    return "\n".join(
        head.ljust(width)
        + "".join(symbol.ljust(width) for symbol in row).rstrip()
        + " "
        for head, row in zip(lines, rows, strict=True)
    )
