"""gde nano: train the embedded model."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gde.errors import ConfigError
from gde_plugins.language_models.nano import named_folder
from gde_plugins.language_models.nano.recipe import SHIPPED_STEPS, TOKENS, Recipe

if TYPE_CHECKING:
    from gde_plugins.language_models.nano.losses import Losses
    from gde_plugins.language_models.nano.walks import MakeEnvironment

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
    start: Annotated[
        str | None,
        typer.Option(
            help="Model to train further, at a lower learning rate: an embedded one, e.g. nano, or a folder."
        ),
    ] = None,
    turns: Annotated[
        int,
        typer.Option(
            min=0, help="Largest number of earlier turns in a prompt, drawn uniformly."
        ),
    ] = 0,
    tokens: Annotated[
        int, typer.Option(min=1, help="Approximate number of tokens of a batch.")
    ] = TOKENS,
    workers: Annotated[
        int,
        typer.Option(
            min=0, help="Other processes that draw samples, for a fast device."
        ),
    ] = 0,
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

    recipe = Recipe(
        steps=steps,
        tokens=tokens,
        seed=seed,
        auxiliary=auxiliary,
        turns=turns,
        start=_start(start),
    )
    training.train(recipe, _environments(env, turns), out, report, device, workers)
    typer.echo(f"trained: {out}", err=True)


def _start(model: str | None) -> Path | None:
    """Return the folder of the model to train further."""
    if model is None:
        return None
    found = named_folder(model)
    if not (found / "config.json").is_file():
        raise ConfigError(
            f"--start {model}: wanted an embedded model, e.g. nano, or a folder that gde nano train wrote"
        )
    return found


def _environments(name: str, turns: int) -> "MakeEnvironment":
    """Return a function that makes environments with given options."""
    from gde.parts.context import OutsideRun
    from gde.request.catalogue import Catalogue

    offer = Catalogue.default().find("environment", name).offer
    wanted = ["size", "density"]
    if turns:
        wanted += ["perturbation", "perturbation_turn"]
    if not set(wanted) <= set(offer.config.__dataclass_fields__):
        listed = " and ".join(wanted) if not turns else ", ".join(wanted)
        raise ConfigError(
            f"--env {name}: wanted an environment with the options {listed}, e.g. grid"
        )
    outside = OutsideRun()
    return lambda **options: offer.made(offer.config(**options), outside)
