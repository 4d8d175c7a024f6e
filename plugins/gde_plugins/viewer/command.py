"""gde view: show the episodes of a run in the terminal or a browser."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gde.cli import options
from gde.cli.output import say, show_json, show_table, tell

PAGE = 1000
"""Episodes in one table: to lay a table out takes time and memory."""

if TYPE_CHECKING:
    from gde.data.trajectory import Trajectory


def command(
    run: Annotated[
        Path,
        typer.Argument(metavar="RUN", help="Run folder, or a folder of runs."),
    ],
    episode: Annotated[
        str | None,
        typer.Argument(help="CONDITION/WORLD/REPEAT; default: list all episodes."),
    ] = None,
    serve: Annotated[
        bool,
        typer.Option("--serve", help="Serve the folder on 127.0.0.1."),
    ] = False,
    port: Annotated[
        int,
        typer.Option(help="Port of --serve; 0 for any free port.", min=0, max=65535),
    ] = 8790,
    out: Annotated[
        Path | None,
        options.out("SVG file for the maps of EPISODE, one after the other."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Show the episodes of a run in the terminal or a browser.

    Without EPISODE, list the episodes of a run, or the runs in a folder. With EPISODE,
    show it turn by turn, or write it as an animated SVG file.

    With --serve, show the folder in a browser: every run with its costs and findings,
    running ones turn by turn, two runs side by side with paired differences, and all
    episodes. Nothing is written. The address is printed to stderr, or with --json to
    stdout; with EPISODE it leads to the episode.
    """
    from gde.files import PLAN
    from gde.runs.exporting import one_episode, summaries

    if out is not None:
        _animate(run, episode, out, as_json)
    elif serve:
        _serve(run, f"run/{_place(run, episode)}" if episode else "", port, as_json)
    elif episode is None and run.is_dir() and not (run / PLAN).is_file():
        _list_runs(run, as_json)
    elif episode is None:
        _list(summaries(run), as_json)
    else:
        _show(one_episode(run, episode), as_json)


def _serve(folder: Path, place: str, port: int, as_json: bool) -> None:
    from gde_plugins.viewer.server import serve

    def ready(address: str) -> None:
        if as_json:
            show_json({"address": address})
        else:
            say(f"{address} (Ctrl-C ends it)")

    serve(folder, port, ready, place)


def _animate(run: Path, episode: str | None, out: Path, as_json: bool) -> None:
    from importlib.util import find_spec

    from gde.errors import ConfigError, MissingExtra
    from gde.files import replacing
    from gde.runs.exporting import one_episode

    if find_spec("jinja2") is None:
        raise MissingExtra("gde view --out", ["jinja2"], "report")
    from gde_plugins.pages.figures.animation import animation

    if episode is None:
        raise ConfigError("--out writes one episode: name it, e.g. 0/0/0")
    text = animation(one_episode(run, episode))
    if out.exists() or out.is_symlink():
        raise ConfigError(f"--out {out}: File exists; choose another name")
    with replacing(out) as unfinished:
        unfinished.write_text(text, encoding="utf-8")
    if as_json:
        show_json({"file": str(out)})
    else:
        say(str(out))


def _place(run: Path, episode: str) -> str:
    """The address of an episode in the viewer of its run."""
    from urllib.parse import quote

    from gde.runs.exporting import one_episode

    one_episode(run, episode)
    return f"{quote(run.resolve().name)}#episode={episode}&turn=1"


def _list_runs(folder: Path, as_json: bool) -> None:
    from gde.errors import RunFolderError
    from gde_plugins.pages.library import library, state

    states = [state(name, path) for name, path in library(folder).items()]
    if not states:
        raise RunFolderError(
            f"{folder} is no run folder and holds none: wanted plan.toml in it"
        )
    if as_json:
        show_json({"runs": [asdict(each) for each in states]})
        return
    fields = ("name", "status", "agent", "model", "environment", "found")
    rows = []
    for one in states:
        *cells, headline = (getattr(one, field) for field in fields)
        rows.append((*cells, f"{one.done}/{one.total}", headline))
    show_table("", ("run", *fields[1:-1], "episodes", "first headline"), rows)


def _list(rows: "list[dict[str, Any]]", as_json: bool) -> None:
    if as_json:
        show_json({"episodes": rows})
        return
    columns = list(rows[0]) if rows else ["episode"]
    for start in range(0, max(len(rows), 1), PAGE):
        page = rows[start : start + PAGE]
        show_table(
            "",
            columns,
            [[str(row.get(column, "")) for column in columns] for row in page],
        )


def _show(trajectory: "Trajectory", as_json: bool) -> None:
    from gde.runs.exporting import trajectory_json

    stored: dict[str, Any] = trajectory_json(trajectory)
    if as_json:
        show_json(stored)
        return
    for turn in trajectory.turns:
        decision = turn.decision
        tell(f"turn {turn.index}\n{turn.observation.text}")
        if decision.completion and decision.completion.reasoning:
            tell(f"reasoning: {decision.completion.reasoning.strip()}")
        best = "" if turn.optimal is None else f"   optimal: {', '.join(turn.optimal)}"
        tell(
            f"decision: {decision.action or f'{decision.status}: {decision.detail}'}{best}\n"
        )
    tell(
        f"{trajectory.ending} after {len(trajectory.turns)} turns {trajectory.failure}".strip()
    )
