"""gde babyai: make the datasets of LLM-BabyBench."""

from pathlib import Path
from typing import Annotated

import typer

from gde.files import local


def add_commands(app: typer.Typer) -> None:
    """Add `gde babyai` to the command line."""
    babyai = typer.Typer(
        help="BabyAI: make datasets.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    babyai.callback()(_group)
    babyai.command("dataset")(dataset)
    app.add_typer(babyai, name="babyai")


def _group() -> None:
    """BabyAI: make datasets."""


def dataset(
    task: Annotated[str, typer.Option(help="predict, plan or decompose.")],
    out: Annotated[
        Path,
        typer.Option(
            help="File to write: .csv or .jsonl.",
            callback=local,
        ),
    ],
    form: Annotated[
        str,
        typer.Option(
            "--format", help="Form of descriptions: structured, narrative or json."
        ),
    ] = "structured",
    levels: Annotated[
        str,
        typer.Option(
            help="Levels, separated by commas; default: the 16 published ones of the task."
        ),
    ] = "",
    seeds: Annotated[
        str, typer.Option(help="Seeds as FIRST-LAST, or separated by commas.")
    ] = "1-500",
    release: Annotated[
        str,
        typer.Option(
            help="Release of minigrid whose worlds are generated: 3.0 or 3.2."
        ),
    ] = "3.0",
) -> None:
    """Write a dataset of questions in the columns of the published dataset."""
    from typing import cast, get_args

    from gde.errors import UnknownName
    from gde_plugins.babyai.config import Format
    from gde_plugins.babyai.worlds.levels import (
        LEVELS,
        PAPER_LEVELS,
        PLAN_WORLDS,
        Release,
    )

    published = tuple(PLAN_WORLDS) if task == "plan" else PAPER_LEVELS
    chosen = tuple(levels.split(",")) if levels else published
    asked = (
        (task, "task", ("predict", "plan", "decompose")),
        (release, "release", get_args(Release)),
        (form, "format", get_args(Format)),
    )
    for name, what, known in (*asked, *((level, "level", LEVELS) for level in chosen)):
        if name not in known:
            raise UnknownName(what, name, known)
    from gde_plugins.babyai.tasks.datasets import Wanted, write_dataset

    wanted = Wanted(
        task=task,
        levels=chosen,
        seeds=_seeds(seeds),
        release="3.0" if release == "3.0" else "3.2",
        format=cast("Format", form),
    )
    n = write_dataset(wanted, out)
    typer.echo(f"{n} rows in {out}", err=True)


def _seeds(text: str) -> tuple[int, ...]:
    from gde.errors import ConfigError

    first, dash, last = text.partition("-")
    try:
        seeds = (
            tuple(range(int(first), int(last) + 1))
            if dash
            else tuple(dict.fromkeys(map(int, text.split(","))))
        )
    except ValueError:
        seeds = ()
    if not seeds:
        raise ConfigError(
            f"--seeds {text!r}: wanted FIRST-LAST or numbers separated by commas, e.g. 1-500"
        )
    return seeds
