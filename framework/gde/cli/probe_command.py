"""gde probe: probe a finished run again."""

from typing import Annotated

import typer

from gde.cli import options
from gde.cli.output import show_result
from gde.cli.progress import progress


def command(
    run: options.Run,
    probe: Annotated[
        list[str] | None,
        typer.Option(help="Probe to add; default: refit the probes of the run."),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help="ALIAS=MODEL, e.g. local weights that need settings."),
    ] = None,
    other: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="RUN",
            help="Run of the same weights whose probes are taken to this one.",
        ),
    ] = "",
    weights: options.Weights = "",
    settings: options.Set = None,
    executor: options.Where = "",
    show_all: options.All = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Add probes to a run, or refit its probes.

    Another layer, for example: --probe cogmap --set cogmap.layer=3. Of a served model:
    --weights hf:PATH_OR_ID. A probe of another run reads other sizes, prompts or
    perturbations: --from RUN. Keeps all other results.
    """
    from gde.cli.going_on import where
    from gde.request.building import asked_for, choose
    from gde.runs.adding import probe as add_probes
    from gde.runs.training_elsewhere import probes_of

    # Settings that are given come later, and win.
    labels = [choose(name).label for name in probe or ()] if weights else []
    settings = [*(f"{label}.weights={weights}" for label in labels), *(settings or ())]
    choices, models = asked_for("probe", probe or (), settings, model or ())
    if other:
        choices = (*choices, *probes_of(other))
    how = where(run, executor)
    with progress(quiet=quiet or as_json) as watch:
        result = add_probes(run, choices, watch=watch, models=models, how=how)
    show_result(result, as_json, show_all)
