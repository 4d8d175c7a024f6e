"""gde reproduce: re-run a published study and compare its numbers."""

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, cast, get_args

import typer

from gde.cli import options
from gde.cli.output import (
    EXIT_PARTIAL,
    say,
    show_json,
    show_table,
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
    from gde.request.building import Wanted, build_how, choose, choose_model
    from gde.request.howfile import read_settings
    from gde.request.settings import parse_settings
    from gde.studies.reproducing import Request, reproduce
    from gde.studies.study import write_study

    if table and table not in get_args(Form):
        raise UnknownName("form of --table", table, get_args(Form))
    parsed = parse_settings(settings or [])
    judges = [choose(each) for each in reward or []]
    models = [choose_model(each) for each in model or []]
    aliased = [each for each in models if each.alias]
    of_agent = [each.name for each in models if not each.alias]
    of_how = [each for each in settings or [] if each.startswith(("run.", "executor."))]
    wanted = Wanted(names={"executor": [executor]}, settings=of_how)
    known = {"study", "agent", "model", "executor", "run"}
    known.update(each.label for each in (*judges, *aliased))
    UnknownName.check("part of --set", parsed, known)
    config = parsed.get("agent", {})
    if of_agent:
        # A study has one agent; several names are refused as that agent's model.
        config["model"] = ",".join(of_agent)
    if "model" in parsed:
        aliased.append(Choice(name="", config=parsed["model"]))
    request = Request(
        name=name,
        scale=scale,
        settings=parsed.get("study", {}),
        agent=Choice(name=agent, config=config),
        weights=weights,
        models=tuple(
            replace(each, config={**each.config, **parsed.get(each.alias, {})})
            for each in aliased
        ),
        rewards=tuple(
            replace(each, config=parsed.get(each.label, {})) for each in judges
        ),
    )
    if dry_run:
        _foretell(request, as_json)
        return
    how = build_how(wanted, read_settings().how)
    ask_first = unasked if no_preflight else checked
    with progress(quiet or as_json, "the same command and `--out {folder}`") as watch:
        study = reproduce(request, out, watch=watch, how=how, ask_first=ask_first)
    if table:
        tell(study_table(study.rows, cast("Form", table)))
    else:
        _show(study, as_json)
    write_study(study)
    page, missing = write_page(study)
    say(f"page: {page}" if page else f"no page: {missing}")
    if study.status != "ok":
        raise typer.Exit(EXIT_PARTIAL)


def _foretell(request: "Request", as_json: bool) -> None:
    from gde.studies.reproducing import foresee

    found = foresee(request)
    if as_json:
        estimates = [asdict(each) for each in found]
        show_json({"schema": 1, "study": request.name, "estimates": estimates})
        return
    columns = (
        "run",
        "part",
        "episodes",
        "calls",
        "prompt tokens",
        "answer tokens",
        "cost",
        "note",
    )
    rows = []
    for one in found:
        counts = [
            "?" if each is None else f"{each:,}"
            for each in (one.calls, one.prompt_tokens, one.answer_tokens)
        ]
        cost = "" if one.cost is None else f"{one.cost:,.2f}"
        rows.append((one.plan, one.part, f"{one.episodes:,}", *counts, cost, one.note))
    show_table("Upper bound of what language models would be asked", columns, rows)


def _show(study: "Study", as_json: bool) -> None:
    from gde.reporting.asked import asked_lines
    from gde.reporting.study_table import at_a_glance
    from gde.studies.study import study_json

    if as_json:
        show_json(study_json(study))
        return
    for line in asked_lines(study.models):
        tell(line)
    if study.finding:
        tell(study.finding)
    if study.results:
        tell(study.extent)
    for sentence in study.claim:
        tell(sentence)
    tables, left_out = at_a_glance(study.rows)
    for table in tables:
        show_table(table.heading, ("", *table.columns), table.lines)
        for note in table.notes:
            tell(note)
    for sentence in (*left_out, *study.failures, *study.notices):
        say(sentence)
    say(f"{study.status}: {study.folder}")
