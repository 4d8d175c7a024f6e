"""gde view: read the episodes of a run in the terminal."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from gde.cli import options
from gde.cli.output import show_json, show_table, tell

PAGE = 1000
"""Episodes in one table: to lay a table out takes time and memory."""

if TYPE_CHECKING:
    from gde.data.trajectory import Trajectory


def command(
    run: options.Run,
    episode: Annotated[str | None, typer.Argument(help="STRATUM/WORLD/REPEAT; default: list all episodes.")] = None,
    as_json: options.Json = False,
) -> None:
    """List the episodes of a run, or show one turn by turn."""
    from gde.runs.exporting import one_episode, summaries

    if episode is None:
        _list(summaries(run), as_json)
    else:
        _show(one_episode(run, episode), as_json)


def _list(rows: "list[dict[str, Any]]", as_json: bool) -> None:
    if as_json:
        show_json({"schema": 1, "episodes": rows})
        return
    columns = list(rows[0]) if rows else ["episode"]
    for start in range(0, max(len(rows), 1), PAGE):
        page = rows[start : start + PAGE]
        show_table("", columns, [[str(row.get(column, "")) for column in columns] for row in page])


def _show(trajectory: "Trajectory", as_json: bool) -> None:
    from gde.runs.exporting import trajectory_json

    stored: dict[str, Any] = trajectory_json(trajectory)
    if as_json:
        show_json({"schema": 1, **stored})
        return
    for turn in trajectory.turns:
        decision = turn.decision
        tell(f"turn {turn.index}\n{turn.observation.text}")
        if decision.completion and decision.completion.reasoning:
            tell(f"reasoning: {decision.completion.reasoning.strip()}")
        best = "" if turn.optimal is None else f"   optimal: {', '.join(turn.optimal)}"
        tell(f"decision: {decision.action or f'{decision.status}: {decision.detail}'}{best}\n")
    tell(f"{trajectory.ending} after {len(trajectory.turns)} turns {trajectory.failure}".strip())
