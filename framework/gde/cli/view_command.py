"""gde view: read the episodes of a run in the terminal."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from gde.cli import options
from gde.cli.output import show_json, show_table

if TYPE_CHECKING:
    from gde.data.trajectory import Trajectory


def command(
    run: options.Run,
    episode: Annotated[str | None, typer.Argument(help="STRATUM/WORLD/REPEAT; default: list all episodes.")] = None,
    as_json: options.Json = False,
) -> None:
    """List the episodes of a run, or show one turn by turn."""
    from gde.errors import UnknownName
    from gde.stages.evidence import load_evidence

    trajectories = {str(each.key): each for each in load_evidence(run).trajectories}
    if episode is None:
        _list(trajectories, as_json)
    elif episode in trajectories:
        _show(trajectories[episode], as_json)
    else:
        raise UnknownName("episode", episode, trajectories)


def _list(trajectories: "dict[str, Trajectory]", as_json: bool) -> None:
    rows = [
        {"episode": key, "world": each.world.id, "turns": len(each.turns), "ending": each.ending, **each.labels}
        for key, each in trajectories.items()
    ]
    if as_json:
        show_json({"schema": 1, "episodes": rows})
    else:
        columns = list(rows[0]) if rows else ["episode"]
        show_table("", columns, [[str(row.get(column, "")) for column in columns] for row in rows])


def _show(trajectory: "Trajectory", as_json: bool) -> None:
    from gde.runs.exporting import trajectory_json

    stored: dict[str, Any] = trajectory_json(trajectory)
    if as_json:
        show_json({"schema": 1, **stored})
        return
    for turn in trajectory.turns:
        decision = turn.decision
        typer.echo(f"turn {turn.index}\n{turn.observation.text}")
        if decision.completion and decision.completion.reasoning:
            typer.echo(f"reasoning: {decision.completion.reasoning.strip()}")
        best = "" if turn.optimal is None else f"   optimal: {', '.join(turn.optimal)}"
        typer.echo(f"decision: {decision.action or f'{decision.status}: {decision.detail}'}{best}\n")
    typer.echo(f"{trajectory.ending} after {len(trajectory.turns)} turns {trajectory.failure}".strip())
