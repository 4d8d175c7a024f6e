"""gde nano: train the embedded model."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gde.errors import ConfigError
from gde_plugins.language_models.nano.recipe import SHIPPED_STEPS, Recipe

if TYPE_CHECKING:
    from gde_plugins.language_models.nano.samples import MakeEnvironment
    from gde_plugins.language_models.nano.training import Step

REPORT_EVERY = 50
"""Steps between two lines of progress."""


def add_commands(app: typer.Typer) -> None:
    """Add `gde nano` to the command line."""
    nano = typer.Typer(
        help="The embedded model: train it.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    nano.callback()(_group)
    nano.command("train")(train)
    nano.command("trainings")(trainings)
    app.add_typer(nano, name="nano")


def _group() -> None:
    """The embedded model."""


def train(
    out: Annotated[
        Path,
        typer.Option(
            help="Folder to write the model to: a new one, or that of a training that goes on."
        ),
    ],
    steps: Annotated[
        int,
        typer.Option(
            min=1, help="Batches; the default is what the shipped weights had."
        ),
    ] = SHIPPED_STEPS,
    seed: Annotated[
        int, typer.Option(min=0, help="Of the initial weights and all samples.")
    ] = 0,
    env: Annotated[
        str,
        typer.Option(help="Environment with a size and a density to draw grids from."),
    ] = "grid",
    auxiliary: Annotated[
        bool, typer.Option(help="Put into the residual stream what probes look for.")
    ] = True,
    device: Annotated[
        str, typer.Option(help="Where torch trains, e.g. cpu or cuda.")
    ] = "cpu",
) -> None:
    """Train nano from scratch, about two hours on one core; the folder can be evaluated
    with hf:FOLDER.
    """
    from gde_plugins.language_models.nano import checkpoints, training

    if out.exists() and not (out / checkpoints.NAME).exists():
        raise ConfigError(
            f"--out {out}: wanted a folder that does not exist yet; choose another name"
        )
    environments = _environments(env)
    recipe = Recipe(steps=steps, seed=seed, auxiliary=auxiliary)
    training.train(recipe, environments, out, _reporter(steps), device)
    typer.echo(f"trained: {out}", err=True)


def trainings(
    out: Annotated[
        Path,
        typer.Option(
            help="Folder to write models and runs to; what is finished there stays."
        ),
    ],
    steps: Annotated[
        int, typer.Option(min=1, help="Batches of each training.")
    ] = SHIPPED_STEPS,
    seeds: Annotated[
        int,
        typer.Option(
            min=1, help="Trainings with auxiliary losses, and as many without."
        ),
    ] = 2,
    episodes: Annotated[
        int, typer.Option(min=1, help="Grids of each size and density, for each model.")
    ] = 20,
    device: Annotated[
        str, typer.Option(help="Where torch trains, e.g. cpu or cuda.")
    ] = "cpu",
) -> None:
    """Train nano with and without auxiliary losses, from several seeds; then evaluate
    and probe every model. Gives the tables of a model card. The models can be evaluated
    with hf:FOLDER.
    """
    from gde_plugins.language_models.nano import trainings as every

    made = every.train_all(
        every.recipes(steps, seeds),
        _environments("grid"),
        out,
        _reporter(steps),
        device,
    )
    card = every.measure_all(made, out, every.Measured(episodes=episodes))
    typer.echo(f"tables: {card}", err=True)


def _environments(name: str) -> "MakeEnvironment":
    """Grids by size and density, from whichever plugin offers them."""
    from gde.parts.context import OutsideRun
    from gde.request.catalogue import Catalogue

    offer = Catalogue.default().find("environment", name).offer
    if not {"size", "density"} <= set(offer.config.__dataclass_fields__):
        raise ConfigError(
            f"--env {name}: wanted an environment with the settings size and density, e.g. grid"
        )
    outside = OutsideRun()
    return lambda size, density: offer.make(
        offer.config(size=size, density=density), outside
    )


def _reporter(steps: int) -> "Callable[[Step], None]":
    began = time.monotonic()

    def report(step: "Step") -> None:
        if step.number % REPORT_EVERY == 0 or step.number == steps:
            losses = step.losses
            values = {
                name: getattr(losses, name).item()
                for name in ("token", "cell", "ends", "look")
            }
            shown = "  ".join(f"{name} {value:.3f}" for name, value in values.items())
            seconds = time.monotonic() - began
            typer.echo(
                f"step {step.number}/{steps}  {seconds:.0f} s  {shown}  right {losses.accuracy:.3f}",
                err=True,
            )

    return report
