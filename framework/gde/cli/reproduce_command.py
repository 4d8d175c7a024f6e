"""gde reproduce: re-run a published study and print its numbers, ours and the
difference side by side.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gde.cli import options
from gde.cli.output import EXIT_PARTIAL, interval, number, say, show_json, show_table
from gde.cli.progress import progress

if TYPE_CHECKING:
    from gde.parts.reproduction import Comparison, Estimate
    from gde.runs.reproducing import Request, Study


def command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="A published study, as in `gde list reproductions`."
        ),
    ],
    scale: Annotated[float, typer.Option(help="Share of the published size.")] = 1.0,
    agent: Annotated[
        str, typer.Option(help="Agent to evaluate; gde list agents.")
    ] = "gpt-oss",
    model: Annotated[
        str | None,
        typer.Option(
            help="Language model of the agent, e.g. hf:PATH; default: its own."
        ),
    ] = None,
    reward: Annotated[
        list[str] | None, typer.Option(help="Further reward model; may be repeated.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Estimate the calls of models and stop.")
    ] = False,
    settings: options.Set = None,
    executor: Annotated[
        str, typer.Option(help="Where episodes run: serial, processes or ray.")
    ] = "serial",
    out: Annotated[
        Path | None, options.out("Folder for the runs; what it has finished is kept.")
    ] = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Re-run a published study and compare the numbers.

    The tables show the published number, the new one and their difference.
    """
    from gde.reporting.page_files import write_study
    from gde.runs.reproducing import reproduce

    request = _request(
        name, scale, agent, model, reward or [], settings or [], executor
    )
    if dry_run:
        _foretell(request, as_json)
        return
    with progress(quiet or as_json, "the same command and `--out {folder}`") as watch:
        study = reproduce(request, out, watch=watch)
    _show(study, as_json)
    page, missing = write_study(study)
    say(f"page: {page}" if page else f"no page: {missing}")
    if study.status != "ok":
        raise typer.Exit(EXIT_PARTIAL)


def _request(
    name: str,
    scale: float,
    agent: str,
    model: str | None,
    rewards: Sequence[str],
    settings: Sequence[str],
    executor: str,
) -> "Request":
    from dataclasses import replace

    from gde.data.plan import Choice
    from gde.errors import UnknownName
    from gde.request.building import choose
    from gde.request.settings import parse_settings
    from gde.runs.reproducing import Request

    parsed = parse_settings(settings)
    judges = [choose(each) for each in rewards]
    known = {"study", "agent", "model", "executor", *(each.label for each in judges)}
    if unknown := sorted(parsed.keys() - known):
        raise UnknownName("part of --set", unknown[0], sorted(known))
    named = {"model": model} if model else {}
    return Request(
        name=name,
        scale=scale,
        settings=parsed.get("study", {}),
        agent=Choice(name=agent, config={**parsed.get("agent", {}), **named}),
        language_model=parsed.get("model", {}),
        rewards=tuple(
            replace(each, config=parsed.get(each.label, {})) for each in judges
        ),
        executor=Choice(name=executor, config=parsed.get("executor", {})),
    )


def _foretell(request: "Request", as_json: bool) -> None:
    from dataclasses import asdict

    from gde.runs.reproducing import foresee

    found = foresee(request)
    if as_json:
        show_json(
            {
                "schema": 1,
                "study": request.name,
                "estimates": [asdict(each) for each in found],
            }
        )
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
    show_table(
        "What would be asked of language models, at most",
        columns,
        [_foretold(each) for each in found],
    )


def _foretold(one: "Estimate") -> tuple[str, ...]:
    counts = (
        "?" if each is None else f"{each:,}"
        for each in (one.calls, one.prompt_tokens, one.answer_tokens)
    )
    return (
        one.plan,
        one.part,
        f"{one.episodes:,}",
        *counts,
        "" if one.cost is None else f"{one.cost:,.2f}",
        one.note,
    )


def _show(study: "Study", as_json: bool) -> None:
    from gde.runs.reproducing import study_json

    if as_json:
        show_json(study_json(study))
        return
    tables: Mapping[str, list[Comparison]] = {row.table: [] for row in study.rows}
    for row in study.rows:
        tables[row.table].append(row)
    for heading, rows in tables.items():
        _show_table(heading, rows)
    for notice in study.notices:
        say(notice)
    say(f"{study.status}: {study.folder}")


def _show_table(heading: str, rows: "Sequence[Comparison]") -> None:
    rules = list(dict.fromkeys(rule for row in rows for rule in row.others))
    columns = (
        "quantity",
        "paper",
        "ours",
        "95 % interval",
        "difference",
        *rules,
        "source",
    )
    show_table(heading, columns, [_line(row, rules) for row in rows])


def _line(row: "Comparison", rules: "Sequence[str]") -> tuple[str, ...]:
    paper = "" if row.paper is None else f"{row.paper:.4g}"
    difference = "" if row.difference is None else f"{row.difference:+.3f}"
    others = (number(row.others[rule]) if rule in row.others else "" for rule in rules)
    return (
        row.quantity,
        paper,
        number(row.ours),
        interval(row.ours),
        difference,
        *others,
        row.source,
    )
