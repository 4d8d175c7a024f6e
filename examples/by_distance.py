"""Manhattan-distance baseline for planning agents on the grid.

Run `python examples/by_distance.py`.
"""

import tempfile

import numpy as np

from gde import (
    Choice,
    FunctionAgent,
    How,
    Observation,
    Plan,
    evaluate,
)

MOVES = {"UP": (-1, 0), "DOWN": (1, 0), "LEFT": (0, -1), "RIGHT": (0, 1)}


def cells(map_text: str) -> dict[tuple[int, int], str]:
    """Map (row, column) to symbols, without the numbered first line and column."""
    rows = [line.split()[1:] for line in map_text.splitlines()[1:]]
    return {
        (row, column): symbol
        for row, line in enumerate(rows)
        for column, symbol in enumerate(line)
    }


def away(seen: Observation, move: str = "") -> float:
    """Manhattan distance to the goal after a move; infinite for a wall."""
    board = cells(seen.text)
    place = {symbol: at for at, symbol in board.items()}
    (row, column), goal = place["A"], place["G"]
    down, right = MOVES.get(move, (0, 0))
    at = row + down, column + right
    return (
        float("inf")
        if board[at] == "#"
        else abs(at[0] - goal[0]) + abs(at[1] - goal[1])
    )


def walker(seen: Observation, rng: np.random.Generator) -> str:
    """Step to the free neighbour nearest to the goal; break ties at random."""
    distances = {move: away(seen, move) for move in MOVES}
    return str(
        rng.choice(
            [move for move, far in distances.items() if far == min(distances.values())]
        )
    )


def main() -> None:
    """Print one row of docs/planning-agents.md."""
    rng = np.random.default_rng(0)
    one_by_one = How(concurrency=1)
    with tempfile.TemporaryDirectory() as made:
        plan = Plan(
            environment=Choice(name="grid", config={"size": 9}),
            agent=FunctionAgent(lambda seen: walker(seen, rng)),
            episodes=40,
            repeats=10,
            metrics=("success", "accuracy", "efficiency"),
        )
        for one in evaluate(plan, f"{made}/walker", how=one_by_one).measurements:
            print(f"{one.name:<20} {one.value:.3f} {one.interval}")


if __name__ == "__main__":
    main()
