"""Manhattan-distance baselines for planning agents and reward models on the grid.

Run `python examples/by_distance.py`.
"""

import tempfile
from pathlib import Path
from statistics import mean

import numpy as np

from gde import (
    Choice,
    FunctionAgent,
    How,
    Observation,
    Plan,
    Trajectory,
    evaluate,
    load_evidence,
)
from gde_plugins.reward_baselines.epic import distance
from gde_plugins.reward_baselines.models import truth

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


def epic_distance(episode: Trajectory) -> float:
    """EPIC distance between minus the distance to the goal and certified progress."""
    return distance(
        -np.array([away(turn.observation) for turn in episode.turns]), truth(episode)
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
    """Print one row of docs/planning-agents.md and two distances of
    docs/reward-models.md.
    """
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
        for agent in ("noisy", "random"):
            plan = Plan(
                environment=Choice(name="grid"),
                agent=Choice(name=agent),
                episodes=200,
                metrics=("length",),
            )
            episodes = load_evidence(
                Path(evaluate(plan, f"{made}/{agent}").run)
            ).trajectories
            found = mean(map(epic_distance, episodes))
            print(
                f"EPIC distance of minus the Manhattan distance, agent {agent}: {found:.3f}"
            )


if __name__ == "__main__":
    main()
