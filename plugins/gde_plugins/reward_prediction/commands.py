"""gde rewardbench: build the benchmark."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gde.errors import ConfigError

if TYPE_CHECKING:
    from gde.parts.executor import Executor
    from gde_plugins.reward_prediction.building import Built, Order

PARTIAL = 3
"""Exit code of a build with failures."""
ALL = "all"
A_RUN_HAS = "plan.toml"
"""Nothing is written among the files of a run."""


def add_commands(app: typer.Typer) -> None:
    """Add `gde rewardbench` to the command line."""
    bench = typer.Typer(help="The RewardPrediction benchmark: build it.", no_args_is_help=True, rich_markup_mode=None)
    bench.callback()(_group)
    bench.command("build")(build)
    app.add_typer(bench, name="rewardbench")


def _group() -> None:
    """The RewardPrediction benchmark."""


def build(
    out: Annotated[Path, typer.Option(help="Folder to write to; what it has already is kept.")],
    domain: Annotated[list[str] | None, typer.Option(help="A domain, or all; may be repeated.")] = None,
    share: Annotated[float, typer.Option(help="Share of the published number of pairs.")] = 1.0,
    seed: Annotated[int, typer.Option(min=0, help="Tasks, padding and random policies follow from it.")] = 0,
    padding: Annotated[int, typer.Option(min=0, help="Greatest number of random steps at either end.")] = 3,
    offset: Annotated[int, typer.Option(min=0, max=1, help="True reward of step i of T: (i + offset) / T.")] = 1,
    overlap: Annotated[int, typer.Option(min=1, help="Actions in a row that a failure never shares.")] = 2,
    train: Annotated[int, typer.Option(min=0, help="Write so many preference pairs a domain instead.")] = 0,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="DOMAIN.FIELD=VALUE of its environment; may be repeated.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Make pairs of trajectories with a true reward for every step, as files."""
    from gde_plugins.reward_prediction.building import build_domain

    if not 0 < share <= 1:
        raise ConfigError(f"--share: wanted a number above 0 and up to 1, got {share}")
    if out.exists() and not out.is_dir():
        raise ConfigError(f"--out: {out} is a file: name a folder")
    if (out / A_RUN_HAS).exists():
        raise ConfigError(f"--out: {out} holds a run: name another folder")
    recipe = {"seed": seed, "padding": padding, "offset": offset, "overlap": overlap}
    orders = _orders(domain or [ALL], share, recipe, settings or [], out)
    executor = _executor(workers)
    if train:
        built = [_trained(order, train, executor) for order in orders]
    else:
        built = [_told(build_domain(order, executor, _watch)) for order in orders]
        built += _tabulated(out)
    _show(built, out, as_json)
    if any(each["failures"] for each in built):
        raise typer.Exit(PARTIAL)


def _orders(names: list[str], share: float, recipe: dict[str, Any], settings: list[str], out: Path) -> "list[Order]":
    from gde.errors import UnknownName
    from gde.request.settings import build as configure
    from gde.request.settings import parse_settings
    from gde_plugins.reward_prediction.building import Order
    from gde_plugins.reward_prediction.config import Recipe
    from gde_plugins.reward_prediction.domains import DOMAINS, find_domain

    asked = parse_settings(settings)
    if unknown := sorted(asked.keys() - DOMAINS.keys()):
        raise UnknownName("domain of --set", unknown[0], DOMAINS)
    chosen = [*DOMAINS] if ALL in names else list(dict.fromkeys(names))
    return [
        Order(
            domain=find_domain(name),
            recipe=configure(Recipe, recipe, "rewardbench"),
            n_tasks=find_domain(name).tasks(share),
            settings=asked.get(name, {}),
            folder=out / name,
        )
        for name in chosen
    ]


def _executor(workers: int) -> "Executor":
    from gde.shipped.executors import Processes, Serial

    return Processes(workers) if workers > 1 else Serial()


def _told(built: "Built") -> dict[str, Any]:
    return {**vars(built), "failures": list(built.failures)}


def _trained(order: "Order", n_pairs: int, executor: "Executor") -> dict[str, Any]:
    from gde.errors import GdeError
    from gde_plugins.reward_prediction.domains import offer_of
    from gde_plugins.reward_prediction.preferences import write_preferences

    try:
        offer_of(order.domain)
        path, failures = write_preferences(order, n_pairs, executor, _watch)
    except GdeError as error:
        return {"domain": order.domain.name, "failures": [str(error)]}
    return {"domain": order.domain.name, "file": str(path), "failures": failures}


def _tabulated(out: Path) -> list[dict[str, Any]]:
    """The table, where there is something to put in and pyarrow to do it."""
    from gde_plugins.reward_prediction.table import write_parquet

    if not out.is_dir():
        return []
    try:
        path, failures = write_parquet(out)
    except ModuleNotFoundError:
        typer.echo("no steps.parquet: pip install 'gde-eval[parquet]'", err=True)
        return []
    return [{"file": str(path), "failures": failures}]


def _watch(domain: str, done: int, total: int) -> None:
    typer.echo(f"{domain}: {done}/{total}", err=True)


def _show(built: list[dict[str, Any]], out: Path, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"schema": 1, "out": str(out), "built": built}))
        return
    for each in built:
        for failure in each["failures"]:
            typer.echo(failure, err=True)
        if "pairs" in each:
            size = f"{each['megabytes']:.1f} MiB in {each['seconds']:.1f} s"
            typer.echo(f"{each['domain']}: {each['pairs']} pairs, {size}, {len(each['failures'])} failures")
        elif "file" in each:
            typer.echo(each["file"])
