"""gde train-reward: train a reward model on preferences."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from gde_plugins.reward_classifier.training import Trained


def add_commands(app: typer.Typer) -> None:
    """Add `gde train-reward` to the command line."""
    app.command("train-reward")(train_reward)


def train_reward(
    data: Annotated[
        list[Path],
        typer.Option(
            help="A file of `gde rewardbench build --train`; may be repeated."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder to write the model to.")],
    plan: Annotated[
        Path | None,
        typer.Option(
            "--plan", help="A recipe (TOML, one table [train]); --set overrides it."
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="train.FIELD=VALUE of the recipe; may be repeated."),
    ] = None,
    sizes: Annotated[
        str,
        typer.Option(
            help="A learning curve: numbers of pairs such as 100+400, a model of each in OUT/N."
        ),
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Train a reward model on preferences.

    Use the model with --reward supervised or --reward vlwm.
    """
    from gde.errors import ConfigError, MissingExtra, UnknownName
    from gde.request.settings import build, parse_settings, read_toml
    from gde_plugins.reward_classifier.config import Recipe
    from gde_plugins.reward_classifier.texts import read_preferences

    parsed = parse_settings(settings or [])
    if unknown := sorted(parsed.keys() - {"train"}):
        raise UnknownName("part of --set", unknown[0], ["train"])
    planned = read_toml(plan) if plan else {}
    if plan and not (
        planned.keys() <= {"version", "train"}
        and isinstance(planned.get("train"), dict)
    ):
        raise ConfigError(
            f"plan {plan}: wanted a table [train] and nothing else, got {', '.join(planned) or 'none'}"
        )
    recipe = build(
        Recipe, {**planned.get("train", {}), **parsed.get("train", {})}, "train"
    )
    preferences = read_preferences(data)
    try:
        from gde_plugins.reward_classifier.training import train, train_curve
    except ModuleNotFoundError as error:
        raise MissingExtra(
            "gde train-reward", [error.name or "torch"], "rewards"
        ) from error
    if sizes:
        curve = train_curve(preferences, recipe, _sizes(sizes), out, _watch)
        printed: dict[str, object] = {"curve": [asdict(one) for one in curve]}
        lines = [line for one in curve for line in _lines(one)]
    else:
        trained = train(preferences, recipe, out, _watch)
        printed = asdict(trained)
        lines = _lines(trained)
    if as_json:
        typer.echo(json.dumps({"schema": 1, "out": str(out), **printed}))
    else:
        typer.echo("\n".join([str(out), *lines]))


def _sizes(text: str) -> list[int]:
    from gde.errors import ConfigError

    try:
        sizes = [int(each) for each in text.split("+")]
    except ValueError:
        sizes = []
    if not sizes or min(sizes) < 1:
        raise ConfigError(f"--sizes: wanted numbers such as 100+400, got {text!r}")
    return sizes


def _lines(trained: "Trained") -> list[str]:
    """The loss, then a line for each row of the held-out table."""
    lines = [
        f"{trained.n_pairs} pairs: loss {trained.first_loss:.3f} to {trained.last_loss:.3f}"
    ]
    if not trained.held_out:
        lines.append("  nothing held out")
    for row in trained.held_out:
        interval = ""
        if row.interval:
            low, high = row.interval
            interval = f" [{low:.3f}, {high:.3f}]"
        lines.append(
            f"  {row.domain}: {row.accuracy:.3f}{interval} of {row.pairs} held-out pairs "
            f"of {row.tasks} tasks right; "
            f"{row.baseline}, which reads nothing, {row.best:.3f}"
        )
    return lines


def _watch(step: int, n_steps: int, loss: float) -> None:
    if step % max(1, n_steps // 20) == 0:
        typer.echo(f"step {step}/{n_steps}: loss {loss:.4f}", err=True)
