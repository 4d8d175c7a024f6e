"""gde eval: run an evaluation in a new folder."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gde.cli import options
from gde.cli.output import progress, say, show_json, show_result

if TYPE_CHECKING:
    from gde.data.json import Json
    from gde.data.plan import Choice, Plan

PLURALS = {"probe": "probes", "reward": "rewards", "metric": "metrics"}


def command(
    env: Annotated[str | None, typer.Option(help="Environment, e.g. grid.")] = None,
    agent: Annotated[str | None, typer.Option(help="Agent, e.g. gpt-oss.")] = None,
    probe: Annotated[list[str] | None, typer.Option(help="Probe, e.g. cogmap; may be repeated.")] = None,
    reward: Annotated[list[str] | None, typer.Option(help="Reward model; may be repeated.")] = None,
    metric: Annotated[list[str] | None, typer.Option(help="Metric; default: all that fit.")] = None,
    settings: options.Set = None,
    plan: Annotated[Path | None, typer.Option(help="A plan file (TOML); other options override it.")] = None,
    episodes: Annotated[int | None, typer.Option(help="Worlds per combination of swept values, at most.")] = None,
    seed: Annotated[int | None, typer.Option(help="The root of all randomness.")] = None,
    concurrency: Annotated[int | None, typer.Option(help="Episodes in flight at once.")] = None,
    executor: Annotated[str | None, typer.Option(help="Where episodes run: serial or processes.")] = None,
    out: Annotated[Path | None, typer.Option(help="Run folder to make; default: a new one under runs/.")] = None,
    as_json: options.Json = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check and print the plan; run nothing.")] = False,
    no_plugin: options.NoPlugin = None,
) -> None:
    """Run an evaluation in a new folder: episodes, activations, probes, metrics, report."""
    from gde.request.catalogue import Catalogue
    from gde.request.plugins import load_plugins
    from gde.runs.evaluating import evaluate, prepare
    from gde.stages.rollout import episode_keys

    several = {"probe": probe or [], "reward": reward or [], "metric": metric or []}
    numbers = {"episodes": episodes, "seed": seed, "concurrency": concurrency}
    request = _with_settings(_plan(plan, env, agent, executor, several), settings or [], numbers)
    catalogue = Catalogue(load_plugins(no_plugin or ()))
    if dry_run:
        ready = prepare(request, catalogue)
        episode_keys(ready)  # refuses worlds that cannot be had
        _show_plan(ready.plan, as_json)
        return
    with progress(quiet=as_json) as watch:
        result = evaluate(request, out, catalogue, watch)
    show_result(result, as_json)
    if not as_json and (Path(result.run) / "report.html").is_file():
        say(f"report: {Path(result.run) / 'report.html'}")


def _plan(
    file: Path | None, env: str | None, agent: str | None, executor: str | None, several: Mapping[str, Sequence[str]]
) -> "Plan":
    from gde.data.plan import Choice, Plan
    from gde.errors import ConfigError
    from gde.request.planfile import read_plan

    if file is not None:
        plan = read_plan(file)
        plan = replace(plan, environment=Choice(name=env)) if env else plan
        plan = replace(plan, agent=Choice(name=agent), language_model={}) if agent else plan
    elif env and agent:
        plan = Plan(environment=Choice(name=env), agent=Choice(name=agent))
    else:
        missing = "--agent" if env else "--env"
        raise ConfigError(
            f"wanted {missing} NAME (or --plan FILE), got none; `gde list environments` shows what there is"
        )
    plan = replace(plan, executor=Choice(name=executor)) if executor else plan
    chosen: dict[str, Any] = {
        PLURALS[kind]: tuple(Choice(name=name) for name in names) for kind, names in several.items() if names
    }
    return replace(plan, **chosen)


def _with_settings(plan: "Plan", settings: Sequence[str], numbers: Mapping[str, int | None]) -> "Plan":
    """The plan with `--set` values given to the parts they name."""
    from gde.errors import UnknownName
    from gde.request.planfile import configure_run
    from gde.request.settings import parse_settings

    parsed = parse_settings(settings)
    run = {**parsed.pop("run", {}), **{name: value for name, value in numbers.items() if value is not None}}
    model = {**_kept_model(plan, parsed), **parsed.pop("model", {})}
    plan = replace(
        configure_run(plan, run),
        environment=_configured(plan.environment, parsed.pop("env", {})),
        agent=_configured(plan.agent, parsed.pop("agent", {})),
        executor=_configured(plan.executor, parsed.pop("executor", {})),
        language_model=model,
    )
    for field in (*PLURALS.values(), "reporters"):
        choices: tuple[Choice, ...] = getattr(plan, field)
        parts: dict[str, Any] = {field: tuple(_configured(each, parsed.pop(each.name, {})) for each in choices)}
        plan = replace(plan, **parts)
    if parsed:
        names = [each.name for field in PLURALS.values() for each in getattr(plan, field)]
        raise UnknownName("part of --set", next(iter(parsed)), ["run", "env", "agent", "executor", "model", *names])
    return plan


def _kept_model(plan: "Plan", parsed: "Mapping[str, Mapping[str, Json]]") -> "Mapping[str, Json]":
    """The model settings of a plan file, which are of no use to another model."""
    return {} if "model" in parsed.get("agent", {}) else plan.language_model


def _configured(choice: "Choice", values: "Mapping[str, Json]") -> "Choice":
    return replace(choice, config={**choice.config, **values})


def _show_plan(plan: "Plan", as_json: bool) -> None:
    from gde.request.planfile import plan_hash, plan_tables, write_plan

    if as_json:
        show_json({"schema": 1, "plan_hash": plan_hash(plan), "plan": plan_tables(plan)})
    else:
        typer.echo(write_plan(plan), nl=False)
