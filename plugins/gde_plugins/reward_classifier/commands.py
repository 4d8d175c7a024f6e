"""gde train-reward: train a reward model on preferences."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer


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
        from gde_plugins.reward_classifier.training import train
    except ModuleNotFoundError as error:
        raise MissingExtra(
            "gde train-reward", [error.name or "torch"], "rewards"
        ) from error
    trained = asdict(train(preferences, recipe, out, _watch))
    typer.echo(
        json.dumps({"schema": 1, "out": str(out), **trained})
        if as_json
        else _line(trained, out)
    )


def _line(trained: dict[str, object], out: Path) -> str:
    accuracy = trained["accuracy"]
    held = (
        "nothing held out"
        if accuracy is None
        else f"{accuracy:.3f} of {trained['n_held_out']} held-out pairs right"
    )
    return f"{out}: {trained['n_pairs']} pairs, loss {trained['first_loss']:.3f} to {trained['last_loss']:.3f}, {held}"


def _watch(step: int, n_steps: int, loss: float) -> None:
    if step % max(1, n_steps // 20) == 0:
        typer.echo(f"step {step}/{n_steps}: loss {loss:.4f}", err=True)
