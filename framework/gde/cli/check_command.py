"""gde check: check a plan file, or all parts of a distribution."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from gde.cli import options
from gde.cli.output import say, show_json, show_variants, talking, tell
from gde.cli.progress import shown
from gde.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gde.testing.distribution import Checked

SHOWN = 3
"""Answers that are shown where the command does not say it."""
Fields = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Set a field of the plan, or of a part: cogmap.epochs=3.",
    ),
]


def command(
    what: Annotated[
        str,
        typer.Argument(
            metavar="PLAN|DIST",
            help="A plan file (TOML), or an installed distribution.",
        ),
    ] = "",
    settings: Fields = None,
    env: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Environment to check.",
        ),
    ] = "",
    show: Annotated[
        int,
        typer.Option(
            min=1, help="Answers of a plan's served agent to show as they were read."
        ),
    ] = SHOWN,
    as_json: options.Json = False,
) -> None:
    """Check a plan file, an environment or a distribution.

    Of a plan file, check that it can be run here, and ask each served model a few
    questions; nothing is run. Of an environment, tell how many worlds it lists, and what
    it leaves out of its files. Of an installed distribution, check that every part keeps
    the promises of its kind.
    """
    if what and env:
        raise ConfigError("--env: checked alone, without PLAN or DIST")
    if not what:
        _environment(env, settings or (), as_json)
    elif what.endswith(".toml") or Path(what).is_file():
        _plan(Path(what), settings or (), show, as_json)
    else:
        _distribution(what, settings or (), as_json)


def _environment(name: str, settings: "Sequence[str]", as_json: bool) -> None:
    from contextlib import closing

    from gde.before.preparing import prepare
    from gde.data.plan import Choice, Plan
    from gde.errors import ConfigError
    from gde.reporting.wording import plural
    from gde.request.settings import parse_settings
    from gde.stages.context import Resources
    from gde.stages.rollout import list_worlds, remarks

    parsed = parse_settings(settings)
    environment = Choice(name=name, config=parsed.pop("env", {}))
    if not name or parsed:
        raise ConfigError(
            "gde check: wanted a plan, a distribution, or --env NAME with --set env.FIELD=VALUE"
        )
    ready = prepare(Plan(environment=environment, agent=_idle))
    with closing(Resources(ready)) as resources:
        said = remarks(ready, resources)
        worlds = len(
            {name for listed in list_worlds(ready, resources) for name in listed}
        )
    if as_json:
        show_json({"environment": name, "worlds": worlds, "remarks": said})
        return
    for sentence in said:
        say(sentence)
    found = plural(worlds, "world") if worlds else "a world for every seed"
    say(f"ok: {found} of {name}")


def _idle(_: str) -> str:
    """An agent that is never asked."""
    return ""


def _plan(file: Path, settings: "Sequence[str]", show: int, as_json: bool) -> None:
    from gde.before.preparing import dry
    from gde.cli.asking_first import checked as ask_first
    from gde.request.building import Wanted
    from gde.request.catalogue import Catalogue
    from gde.request.howfile import read_settings
    from gde.request.planfile import plan_hash
    from gde.request.settings import parse_settings
    from gde.request.variants import variants

    catalogue = Catalogue.default()
    wanted = Wanted(names={}, settings=parse_settings(settings))
    plans = variants(wanted, catalogue, file)
    how = read_settings().how
    flights = ask_first(plans, catalogue, how, show)
    checked = {}
    for name, flight in flights.items():
        found = dry(flight.plan, catalogue, how)
        checked[name] = {
            "plan_hash": plan_hash(found.plan),
            "episodes": found.episodes,
            "conditions": found.conditions,
        }
    if as_json:
        show_variants(checked)
        return
    for name, one in checked.items():
        whose = f"{name}: " if len(checked) > 1 else ""
        say(
            f"ok: {whose}{one['episodes']} episodes in {one['conditions']} conditions, plan {one['plan_hash']}"
        )


def _distribution(name: str, settings: "Sequence[str]", as_json: bool) -> None:
    from gde.request.catalogue import Catalogue
    from gde.request.settings import parse_settings
    from gde.testing.distribution import Status, check_distribution

    given = parse_settings(settings)
    found: list[Checked] = []
    try:
        # What parts print while they are checked is no data.
        with talking(), shown(quiet=as_json) as watch:
            found.extend(check_distribution(name, Catalogue.default(), given, watch))
    finally:
        # An interrupted check says what it has found.
        if not as_json:
            for one in found:
                tell(_line(one))
    statuses = [one.status for one in found]
    counts = {each: statuses.count(each) for each in get_args(Status)}
    if as_json:
        show_json(
            {
                "distribution": name,
                **counts,
                "checks": [asdict(one) for one in found],
            }
        )
    else:
        say(", ".join(f"{n} {status}" for status, n in counts.items()))
    if counts["broken"]:
        raise typer.Exit(2)


def _line(one: "Checked") -> str:
    what = f"{one.status:<9} {one.kind.replace('_', ' ')} {one.name}"
    return f"{what}: {one.reason}" if one.reason else f"{what}, {one.seconds:.1f} s"
