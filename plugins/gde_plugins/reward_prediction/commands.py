"""gde rewardbench: build the benchmark."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gde.errors import ConfigError, UnknownName
from gde.files import local

if TYPE_CHECKING:
    from gde.parts.executor import Executor
    from gde_plugins.reward_prediction.building import Order
    from gde_plugins.reward_prediction.domains import Settings

PARTIAL = 3
"""Exit code of a build with failures."""
ALL = "all"
APART = ("goals", "layouts", "steps")
RUN_FILE = "plan.toml"
"""File that marks the folder of a run; no build writes into one."""


def add_commands(app: typer.Typer) -> None:
    """Add `gde rewardbench` to the command line."""
    bench = typer.Typer(
        help="Build the RewardPrediction benchmark.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    bench.callback()(_group)
    bench.command("build")(build)
    app.add_typer(bench, name="rewardbench")


def _group() -> None:
    """The RewardPrediction benchmark."""


def build(
    out: Annotated[
        Path,
        typer.Option(
            help="Folder to write to; existing tasks are kept.", callback=local
        ),
    ],
    domain: Annotated[
        list[str] | None, typer.Option(help="A domain, or all; may be repeated.")
    ] = None,
    share: Annotated[
        float, typer.Option(help="Share of the published number of pairs.")
    ] = 1.0,
    seed: Annotated[
        int,
        typer.Option(min=0, help="Random seed for tasks, padding and random policies."),
    ] = 0,
    padding: Annotated[
        int, typer.Option(min=0, help="Maximum number of random steps at each end.")
    ] = 3,
    offset: Annotated[
        int,
        typer.Option(
            min=0, max=1, help="True reward of step i of T: (i + offset) / T."
        ),
    ] = 1,
    overlap: Annotated[
        int,
        typer.Option(
            min=1,
            help="Length of action sequences that a failure must not share with the expert.",
        ),
    ] = 2,
    pairs: Annotated[
        str,
        typer.Option(
            help="Failures: published, hard, or one kind of hard ones "
            "(near-miss, undone, noisy, scored)."
        ),
    ] = "published",
    train: Annotated[
        int,
        typer.Option(
            min=0, help="Write this many preference pairs per domain instead."
        ),
    ] = 0,
    test: Annotated[
        Path | None,
        typer.Option(
            help="With --train: a built benchmark whose tasks are left out; "
            "by default those of this seed and share, made anew."
        ),
    ] = None,
    apart: Annotated[
        list[str] | None,
        typer.Option(
            help="With --train: goals, layouts or steps that no task may share with the test; may be repeated."
        ),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Number of processes.")] = 1,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="DOMAIN.FIELD=VALUE of the environment; may be repeated."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write pairs of trajectories with a true reward for every step."""
    from gde_plugins.reward_prediction.building import build_domain

    if not 0 < share <= 1:
        raise ConfigError(f"--share: wanted a number above 0 and up to 1, got {share}")
    if test and not train:
        raise ConfigError("--test: has no effect without --train: add --train N")
    for kind in apart or []:
        if kind not in APART:
            raise UnknownName("kind of --apart", kind, APART)
    recipe = {
        "seed": seed,
        "padding": padding,
        "offset": offset,
        "overlap": overlap,
        "pairs": pairs,
    }
    orders = _orders(domain or [ALL], share, recipe, settings or [], out)
    _prepare(out, orders, to_train=bool(train))
    executor = _executor(workers)
    try:
        if train:
            built = [
                _trained(order, train, executor, test, apart or []) for order in orders
            ]
        else:
            built = [asdict(build_domain(order, executor, _watch)) for order in orders]
    except KeyboardInterrupt:
        typer.echo(
            "Interrupted. Finished tasks are kept; repeat the command to resume.",
            err=True,
        )
        raise
    _show(built, out, as_json)
    if any(each["failures"] for each in built):
        raise typer.Exit(PARTIAL)


def _orders(
    names: list[str],
    share: float,
    recipe: dict[str, Any],
    settings: list[str],
    out: Path,
) -> "list[Order]":
    from gde.errors import GdeError, UnknownName
    from gde.request.settings import build as configure
    from gde.request.settings import parse_settings
    from gde_plugins.reward_prediction.building import Order
    from gde_plugins.reward_prediction.config import Recipe
    from gde_plugins.reward_prediction.domains import (
        DOMAINS,
        checked,
        find_domain,
        offer_of,
    )

    asked = parse_settings(settings)
    if unknown := sorted(asked.keys() - DOMAINS.keys()):
        raise UnknownName("domain of --set", unknown[0], DOMAINS)
    names = [*DOMAINS] if ALL in names else [*dict.fromkeys(names)]
    chosen = [find_domain(name) for name in names]
    if unused := sorted(asked.keys() - {domain.name for domain in chosen}):
        raise ConfigError(
            f"--set {unused[0]}: domain {unused[0]} is not built: add --domain {unused[0]}, or leave the setting out"
        )
    orders: list[Order] = []
    for domain in chosen:
        typed: Settings = asked.get(domain.name, {})
        try:
            offer_of(domain)
        except GdeError:
            pass  # the build reports a domain that is not available
        else:
            typed = checked(domain, typed)
        order = Order(
            domain=domain,
            recipe=configure(Recipe, recipe, "rewardbench"),
            n_tasks=domain.tasks(share),
            settings=typed,
            folder=out / domain.name,
        )
        orders.append(order)
    return orders


def _executor(workers: int) -> "Executor":
    from gde.parts.context import OutsideRun
    from gde.request.catalogue import Catalogue
    from gde.request.settings import build as configure

    name, settings = (
        ("processes", {"workers": workers}) if workers > 1 else ("serial", {})
    )
    offer = Catalogue.default().find("executor", name).offer
    made: Executor = offer.made(
        configure(offer.config, settings, "--workers"), OutsideRun()
    )
    return made


def _prepare(out: Path, orders: "list[Order]", to_train: bool) -> None:
    """Check the folder, then make it.

    Raises:
        ConfigError: it holds a run or pairs of another recipe, cannot be made, or has a
            file in the place of a domain's folder.
    """
    from gde_plugins.reward_prediction.building import check_recipe

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"--out: cannot make {out}: {error.strerror}: name another folder"
        ) from error
    if (out / RUN_FILE).is_file():
        raise ConfigError(f"--out: {out} is the folder of a run: name another folder")
    for order in orders:
        if order.folder.exists() and not order.folder.is_dir():
            raise ConfigError(
                f"--out: {order.folder} is a file, not a folder: move it or name another folder"
            )
        # Preferences are written anew each time, so no recipe restricts them.
        if not to_train:
            check_recipe(order)


def _trained(
    order: "Order",
    n_pairs: int,
    executor: "Executor",
    test: Path | None,
    apart: list[str],
) -> dict[str, Any]:
    from gde_plugins.reward_prediction.building import TRAIN, write_preferences

    n_written, too_few, overlap = write_preferences(
        order, n_pairs, executor, _watch, test, apart
    )
    file = {"file": str(order.folder / TRAIN)} if n_written else {}
    return {
        "domain": order.domain.name,
        **file,
        "overlap": overlap,
        "failures": [too_few] if too_few else [],
    }


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
            typer.echo(
                f"{each['domain']}: {each['pairs']} pairs, {size}, {len(each['failures'])} failures"
            )
        elif "file" in each:
            typer.echo(each["file"])
        if "overlap" in each:
            shared = (f"{n} of {all_} {k}" for k, (n, all_) in each["overlap"].items())
            typer.echo(f"{each['domain']}: the test has {', '.join(shared)}")
