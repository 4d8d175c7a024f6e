"""gde nano: train the embedded model."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gde.errors import ConfigError
from gde_plugins.language_models.nano.recipe import SHIPPED_STEPS, Recipe

if TYPE_CHECKING:
    from gde_plugins.language_models.nano.losses import Losses
    from gde_plugins.language_models.nano.samples import MakeEnvironment

REPORT_EVERY = 50
"""Steps between two lines of progress."""


def add_commands(app: typer.Typer) -> None:
    """Add `gde nano` to the command line."""
    nano = typer.Typer(
        help="Train the embedded model.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    nano.callback()(_group)
    nano.command("train")(train)
    app.add_typer(nano, name="nano")


def _group() -> None:
    """Train the embedded model."""


def train(
    out: Annotated[
        Path,
        typer.Option(help="New folder to write the model to."),
    ],
    steps: Annotated[
        int,
        typer.Option(
            min=1, help="Training batches; the default matches the shipped weights."
        ),
    ] = SHIPPED_STEPS,
    seed: Annotated[
        int, typer.Option(min=0, help="Random seed of weights and samples.")
    ] = 0,
    env: Annotated[
        str,
        typer.Option(
            help="Environment of the training grids; it needs options size and density."
        ),
    ] = "grid",
    auxiliary: Annotated[
        bool,
        typer.Option(help="Train with auxiliary losses on agent and goal positions."),
    ] = True,
    device: Annotated[
        str, typer.Option(help="Device of the training, e.g. cpu or cuda.")
    ] = "cpu",
) -> None:
    """Train nano from scratch, in about two hours on one core.

    To evaluate the result, choose the model hf:FOLDER.
    """
    from gde_plugins.language_models.nano import training

    if out.exists():
        raise ConfigError(f"--out {out}: the folder exists; choose another name")
    began = time.monotonic()

    def report(step: int, losses: "Losses") -> None:
        if step % REPORT_EVERY and step != steps:
            return
        seconds = time.monotonic() - began
        typer.echo(
            f"step {step}/{steps}  {seconds:.0f} s  token {losses.token.item():.3f}"
            f"  cell {losses.cell.item():.3f}  ends {losses.ends.item():.3f}"
            f"  look {losses.look.item():.3f}  right {losses.accuracy:.3f}",
            err=True,
        )

    recipe = Recipe(steps=steps, seed=seed, auxiliary=auxiliary)
    training.train(recipe, _environments(env), out, report, device)
    typer.echo(f"trained: {out}", err=True)


def _environments(name: str) -> "MakeEnvironment":
    """Return a function that makes environments of a size and density."""
    from gde.parts.context import OutsideRun
    from gde.request.catalogue import Catalogue

    offer = Catalogue.default().find("environment", name).offer
    if not {"size", "density"} <= set(offer.config.__dataclass_fields__):
        raise ConfigError(
            f"--env {name}: wanted an environment with the options size and density, e.g. grid"
        )
    outside = OutsideRun()
    return lambda size, density: offer.make(
        offer.config(size=size, density=density), outside
    )
