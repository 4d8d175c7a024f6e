"""gde reproduce: re-run a published study and compare its numbers."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, cast, get_args

import typer

from gde.cli import options
from gde.cli.output import (
    EXIT_PARTIAL,
    columns,
    say,
    show_json,
    tell,
)
from gde.cli.progress import progress

if TYPE_CHECKING:
    from gde.studies.reproducing import Request
    from gde.studies.study import Study


def command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="Name of a study; see `gde list reproductions`."
        ),
    ],
    scale: Annotated[float, typer.Option(help="Share of the published size.")] = 1.0,
    agent: Annotated[
        str,
        typer.Option(
            help="Agent to evaluate; see `gde list agents`. Default: the study's own."
        ),
    ] = "",
    model: options.Model = None,
    weights: options.Weights = "",
    reward: Annotated[
        list[str] | None, typer.Option(help="Further reward model; may be repeated.")
    ] = None,
    dry_run: options.Dry = False,
    no_preflight: options.NoPreflight = False,
    settings: options.Set = None,
    executor: Annotated[str, options.WHERE] = "serial",
    stop_after: options.StopAfter = None,
    out: options.StudyOut = None,
    table: Annotated[
        str,
        typer.Option(
            help="Print the tables alone, as published: markdown, latex or csv."
        ),
    ] = "",
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Re-run a published study and compare the numbers.

    The tables show the published number, the new one and their difference.
    """
    from gde.before.preflight import unasked
    from gde.cli.asking_first import checked
    from gde.data.plan import Choice
    from gde.errors import UnknownName
    from gde.reporting.pages import write_page
    from gde.reporting.study_table import Form, study_table
    from gde.request.building import (
        Wanted,
        build_how,
        choose,
        choose_model,
        configured,
    )
    from gde.request.howfile import read_settings
    from gde.request.settings import parse_settings
    from gde.stages.progress import Progress
    from gde.studies.reproducing import Request, reproduce
    from gde.studies.study import write_study

    if table and table not in get_args(Form):
        raise UnknownName("form of --table", table, get_args(Form))
    parsed = parse_settings(settings or ())
    named = [choose_model(each) for each in model or []]
    own = {name: parsed.pop(name, {}) for name in ("study", "agent", "run", "executor")}
    if stop_after is not None:
        own["run"]["stop_after"] = stop_after
    models = configured([each for each in named if each.alias], parsed)
    judges = configured([choose(each) for each in reward or []], parsed)
    if of_agent := [each.name for each in named if not each.alias]:
        # A study has one agent; several names are refused as that agent's model.
        own["agent"]["model"] = ",".join(of_agent)
    if "model" in parsed:
        models = (*models, Choice(name="", config=parsed.pop("model")))
    known = [*own, "model", *(each.label for each in (*judges, *models) if each.label)]
    UnknownName.check("part of --set", parsed, known)
    request = Request(
        name=name,
        scale=scale,
        settings=own["study"],
        agent=Choice(name=agent, config=own["agent"]),
        weights=weights,
        models=models,
        rewards=judges,
    )
    if dry_run:
        _foretell(request, as_json)
        return
    wanted = Wanted(names={"executor": [executor]}, settings=own)
    how = build_how(wanted, read_settings().how)
    ask_first = unasked if no_preflight else checked
    with progress(quiet or as_json, "the same command and `--out {folder}`") as watch:
        study = reproduce(request, out, watch=watch, how=how, ask_first=ask_first)
        watch(Progress("page", 0, 1))
        write_study(study)
        page, missing = write_page(study)
    if table:
        tell(study_table(study.rows, cast("Form", table)))
    else:
        _show(study, as_json)
    say(f"page: {page}" if page else f"no page: {missing}")
    if study.status != "ok":
        raise typer.Exit(EXIT_PARTIAL)


def _foretell(request: "Request", as_json: bool) -> None:
    from gde.cli.asking_first import say_estimates
    from gde.studies.reproducing import foresee

    found = foresee(request)
    if as_json:
        estimates = [asdict(each) for each in found]
        show_json({"study": request.name, "estimates": estimates})
        return
    if not found:
        say("no part asks a language model")
    say_estimates(found, several_plans=True)


def _show(study: "Study", as_json: bool) -> None:
    from gde.reporting.terminal.study_screen import study_screen
    from gde.studies.study import study_json

    if as_json:
        show_json(study_json(study))
        return
    tell("\n".join(study_screen(study, columns())))
    if study.figures_missing:
        say(f"no figures: {study.figures_missing}")
    n_numbers = len(study.rows)
    say(f"{study.status}: {study.folder} (all {n_numbers} numbers: --table markdown)")
