"""An evaluation from Python: a plain function as the agent, offered under a name, in a new run folder.

python examples/embedded.py [FOLDER]
"""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gde import (
    Agent,
    Catalogue,
    Choice,
    FunctionAgent,
    NoConfig,
    Observation,
    Offer,
    Plan,
    evaluate,
    hookimpl,
    load_evidence,
)
from gde.request.plugins import load_plugins


def towards_goal(observation: Observation) -> str:
    """Goes towards G as the crow flies, whatever stands between."""
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


@hookimpl
def gde_agents() -> Sequence[Offer[NoConfig, Agent]]:
    """Offer the function."""
    return (
        Offer(
            name="crow", summary="Towards the goal.", config=NoConfig, make=lambda _, __: FunctionAgent(towards_goal)
        ),
    )


def run(folder: Path) -> dict[tuple[str, Any], float | None]:
    """Success of the function on open and on walled grids."""
    sys.path.insert(0, str(Path(__file__).parent))
    plan = Plan(
        environment=Choice(name="grid", config={"size": 7, "density": [0.0, 1.0]}),
        agent=Choice(name="crow"),
        metrics=(Choice(name="success"), Choice(name="accuracy")),
        episodes=12,
    )
    result = evaluate(plan, folder, Catalogue(load_plugins(modules=["embedded"])))
    return {(each.name, each.where.get("density")): each.value for each in result.measurements}


def main() -> None:
    """Print the numbers, then a look into the record."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(made) / "run"
        for (name, density), value in run(folder).items():
            print(f"{name:<24} density {density if density is not None else 'any':<6} {value}")
        first = load_evidence(folder).trajectories[0]
        print(f"episode {first.key} took {len(first.turns)} turns and {first.ending}")


if __name__ == "__main__":
    main()
