"""Evaluate a plain function as the agent, from Python, in a new run folder.

python examples/embedded.py [FOLDER]
"""

import sys
import tempfile
from pathlib import Path

from gde import Choice, Observation, Plan, evaluate, load_evidence


def towards_goal(observation: Observation) -> str:
    """Go straight towards G and ignore walls."""
    cells = [
        (row, line.index(symbol))
        for symbol in "AG"
        for row, line in enumerate(observation.text.splitlines())
        if symbol in line
    ]
    (row, column), (goal_row, goal_column) = cells
    if row != goal_row:
        return "DOWN" if row < goal_row else "UP"
    return "RIGHT" if column < goal_column else "LEFT"


def main() -> None:
    """Print success on open and walled grids, then part of the record."""
    plan = Plan(
        environment=Choice(name="grid", config={"size": 7, "density": [0.0, 1.0]}),
        agent=towards_goal,
        metrics=["success", "accuracy"],
        episodes=12,
    )
    with tempfile.TemporaryDirectory() as made:
        result = evaluate(
            plan, sys.argv[1] if len(sys.argv) > 1 else Path(made) / "run"
        )
        for each in result.measurements:
            print(
                f"{each.name:<24} density {each.where.get('density', 'any'):<6} {each.value}"
            )
        first = load_evidence(result.run).trajectories[0]
        print(f"episode {first.key} took {len(first.turns)} turns and {first.ending}")


if __name__ == "__main__":
    main()
