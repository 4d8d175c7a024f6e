"""gde judge: a reward model on the trajectories of a file."""

from pathlib import Path
from typing import Annotated

import typer

from gde.cli import options
from gde.cli.output import EXIT_PARTIAL, say, show_json, tell


def command(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="JSONL: a trajectory a line (goal, steps: [{action, observation}]), or a step a line (goal, action,"
            " observation, id); start and domain where they are known.",
        ),
    ],
    reward: Annotated[str, typer.Option(help="Reward model, or LABEL=NAME.")],
    settings: options.Set = None,
    out: Annotated[
        Path | None, options.out("Result; default: FILE.LABEL.jsonl beside the file.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Judge the steps of trajectories that gde did not make."""
    from gde.request.building import asked_for
    from gde.request.howfile import read_settings
    from gde.runs.judging import reward_model
    from gde_plugins.exchange.judged_file import judge_file

    (choice,), _ = asked_for("reward", [reward], settings or ())
    how = read_settings().how
    model = reward_model(choice, how=how)
    path = out or file.with_name(f"{file.name}.{model.name}.jsonl")
    judged = judge_file(file, model, path, how.concurrency)
    failed = [each for each in judged if each["failure"]]
    if as_json:
        show_json({"file": str(path), "trajectories": judged})
    else:
        for each in failed:
            say(f"{file}, line {each['line']}: {each['failure']}")
        tell(f"{len(judged) - len(failed)} of {len(judged)} judged: {path}")
    if failed:
        raise typer.Exit(EXIT_PARTIAL)
