"""gde eval: run an evaluation in a new folder."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gde.cli import options
from gde.cli.output import say, show, show_variants, talking, tell
from gde.cli.progress import progress

if TYPE_CHECKING:
    from gde.before.preparing import Dry
    from gde.comparisons.contest import Contest
    from gde.data.result import Result


def command(
    env: Annotated[str | None, typer.Option(help="Environment, e.g. grid.")] = None,
    agent: Annotated[
        str | None, typer.Option(help="Agent, e.g. gpt-oss; several with commas.")
    ] = None,
    model: options.Model = None,
    probe: Annotated[
        list[str] | None, typer.Option(help="Probe, e.g. cogmap; may be repeated.")
    ] = None,
    reward: Annotated[
        list[str] | None, typer.Option(help="Reward model; may be repeated.")
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="Metric or group of metrics; default: those that suit the parts."
        ),
    ] = None,
    weights: options.Weights = "",
    settings: options.Set = None,
    plan: Annotated[
        Path | None, typer.Option(help="A plan file (TOML); other options override it.")
    ] = None,
    episodes: Annotated[
        int | None, typer.Option(help="Maximum number of worlds per condition.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Root random seed.")] = None,
    goal_swap: Annotated[
        bool,
        typer.Option(
            "--goal-swap", help="Play each world again with its goal moved, and pair."
        ),
    ] = False,
    concurrency: Annotated[
        int | None, typer.Option(help="Number of concurrent episodes.")
    ] = None,
    executor: Annotated[str | None, options.WHERE] = None,
    stop_after: options.StopAfter = None,
    report: Annotated[
        list[str] | None, typer.Option(help="Reporter, e.g. html; may be repeated.")
    ] = None,
    out: Annotated[
        Path | None, options.out("Run folder to make; default: a new one under runs/.")
    ] = None,
    show_all: options.All = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check and print the plan; run nothing.")
    ] = False,
    no_preflight: options.NoPreflight = False,
) -> None:
    """Run an evaluation in a new folder.

    It plays the episodes, keeps the activations, fits the probes, computes the metrics
    and writes a report.
    """
    from gde.before.preflight import unasked
    from gde.before.preparing import dry
    from gde.cli.asking_first import checked
    from gde.comparisons.contest import contest
    from gde.request.building import Wanted, build_how
    from gde.request.catalogue import Catalogue
    from gde.request.howfile import read_settings
    from gde.request.models import with_weights
    from gde.request.settings import parse_settings
    from gde.request.variants import variants
    from gde.runs.evaluating import evaluate

    names = {
        "model": _separated(model or []),
        "probe": probe or [],
        "reward": reward or [],
        "metric": metric or [],
        "report": report or [],
    }
    for table, name in (("env", env), ("agent", agent), ("executor", executor)):
        if name is not None:
            names[table] = [name]
    parsed = parse_settings(settings or ())
    # An option of its own, such as --episodes, wins over --set run.episodes.
    of_run = parsed.setdefault("run", {})
    if goal_swap:
        of_run["goal_swap"] = True
    own = {
        "episodes": episodes,
        "seed": seed,
        "concurrency": concurrency,
        "stop_after": stop_after,
    }
    of_run |= {name: value for name, value in own.items() if value is not None}
    wanted = Wanted(names=names, settings=parsed)
    with talking():
        catalogue = Catalogue.default()
        plans = with_weights(variants(wanted, catalogue, plan), weights, catalogue)
        how = build_how(wanted, read_settings().how)
        if dry_run:
            sizes = {
                name: dry(each, catalogue, how, name) for name, each in plans.items()
            }
        else:
            ask_first = unasked if no_preflight else checked
            flights = ask_first(plans, catalogue, how)
    if dry_run:
        _show_dry(sizes, as_json)
        return
    found: Result | Contest
    with progress(quiet=quiet or as_json) as watch:
        if len(flights) > 1:
            plans = {name: each.plan for name, each in flights.items()}
            asked = {name: each.questions for name, each in flights.items()}
            found = contest(plans, out, catalogue, watch, how=how, questions=asked)
        else:
            (only,) = flights.values()
            asked_first = only.questions
            found = evaluate(
                only.plan, out, catalogue, watch, how=how, questions=asked_first
            )
    show(found, as_json, show_all)


def _separated(models: list[str]) -> list[str]:
    """The models, of which one option may name several with commas in between."""
    return [name.strip() for each in models for name in each.split(",")]


def _show_dry(sizes: "Mapping[str, Dry]", as_json: bool) -> None:
    from gde.cli.asking_first import say_estimates
    from gde.reporting.wording import plural
    from gde.request.planfile import plan_hash, plan_tables, write_plan

    if as_json:
        shown = {}
        for name, one in sizes.items():
            shown[name] = {
                "plan_hash": plan_hash(one.plan),
                "plan": plan_tables(one.plan),
                "episodes": one.episodes,
                "estimates": [asdict(each) for each in one.estimates],
            }
        show_variants(shown)
        return

    tell("\n".join(write_plan(one.plan) for one in sizes.values()), end=False)
    for name, one in sizes.items():
        conditions = plural(one.conditions, "condition")
        say(f"{name}: {plural(one.episodes, 'episode')} in {conditions}")
    estimates = [each for one in sizes.values() for each in one.estimates]
    say_estimates(estimates, len(sizes) > 1)
