"""A plan from names and settings, as they are written on a command line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gde.data.how import URL, How
from gde.data.json import Json
from gde.data.plan import Choice, Plan
from gde.errors import ConfigError, UnknownName
from gde.request.howfile import RUN_HOW, configure_how, with_settings
from gde.request.kinds import EXECUTOR, MODEL, REPORTER, SEVERAL, SINGLE
from gde.request.models import ALIAS
from gde.request.names import split_url
from gde.request.planfile import RUN, configure_run
from gde.request.settings import parse_settings
from gde.validating import Text

Names = Mapping[str, Sequence[str]]
"""Names of parts by the table of their kind, e.g. {"env": ["grid"], "probe": ["cogmap",
"deep=cogmap"]}.
"""
Settings = Mapping[str, Mapping[str, Json]]
"""Field to value by part, as `parse_settings` gives them; "run" has those of the run."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A request for a plan."""

    names: Names
    settings: Settings = field(default_factory=dict)
    plan: Plan | None = None
    """A plan of a file, which names and settings override."""


def build_plan(wanted: Wanted) -> Plan:
    """The plan that is asked for.

    Raises:
        ConfigError: no environment or no agent, or a setting that cannot be read.
        UnknownName: a setting of a part that the plan does not have.
    """
    models = [choose_model(text) for text in wanted.names.get(MODEL.table, ())]
    plan = _named(wanted, [choice for choice in models if choice.alias])
    parsed = dict(wanted.settings)
    run = parsed.pop("run", {})
    if of_agent := [choice.name for choice in models if not choice.alias]:
        named = {MODEL.table: Text(",".join(of_agent))}
        parsed["agent"] = {**parsed.get("agent", {}), **named}
    what = {name: each for name, each in run.items() if name not in RUN_HOW}
    plan = configure_run(plan, what)

    # Settings of the agent's model in a plan file are of no use to another model.
    if MODEL.table in parsed.get("agent", {}):
        plan = replace(plan, models=_with_names(plan.models))
    if of_agents := parsed.pop(MODEL.table, {}):
        unnamed = Choice(name="", config=of_agents)
        plan = replace(plan, models=(*plan.models, unnamed))

    known = ["run", MODEL.table, EXECUTOR.table]
    parsed.pop(EXECUTOR.table, {})
    configured(_reporters(wanted), parsed)
    parts: dict[str, Any] = {}
    for kind in SINGLE:
        choice = getattr(plan, kind.field)
        values = parsed.pop(kind.table, {})
        parts[kind.field] = _with_values(choice, values)
        known.append(kind.table)
    for kind in SEVERAL:
        choices = getattr(plan, kind.field)
        parts[kind.field] = configured(choices, parsed)
        known += [choice.label for choice in choices if choice.label]

    # Each part has taken its settings out.
    for name in parsed:
        hint = f" To set a probe, reward model or metric, add it first, e.g. --reward {name}."
        raise UnknownName("part of --set", name, known, hint)
    return replace(plan, **parts)


def build_how(wanted: Wanted, how: How) -> How:
    """A `How` with what a command line says of it.

    Raises:
        ConfigError: a setting that cannot be read.
        UnknownName: an unknown field.
    """
    parsed = dict(wanted.settings)
    run = parsed.pop("run", {})
    how = configure_how(how, {name: run[name] for name in run if name in RUN_HOW})

    executor = how.executor
    for name in wanted.names.get(EXECUTOR.table, ()):
        executor = choose(name)
    executor = _with_values(executor, parsed.pop(EXECUTOR.table, {}))
    reporters = _reporters(wanted) or how.reporters
    return replace(how, executor=executor, reporters=configured(reporters, parsed))


def amend_how(
    how: How,
    plan: Plan,
    settings: Sequence[str],
    executor: str = "",
    models: Sequence[str] = (),
) -> How:
    """How a run that has begun goes on.

    Args:
        how: it was done last.
        plan: of the run.
        settings: PART.FIELD=VALUE each.
        executor: its name; empty for the last one.
        models: MODEL@URL or ALIAS=MODEL@URL each, where a server is now.

    Raises:
        ConfigError: it could change the results of the run.
        UnknownName: a part that the run does not have, or an unknown field.
    """
    parsed = parse_settings(settings)
    run = parsed.pop("run", {})
    for name in run:
        if name in RUN:
            raise ConfigError(
                f"run.{name} could change the results of the run: start a new one with it"
            )
    changed = configure_how(how, run)
    if executor:
        changed = replace(changed, executor=choose(executor))
    own = parsed.pop(EXECUTOR.table, {})
    changed = replace(changed, executor=_with_values(changed.executor, own))

    several = [each for kind in SEVERAL for each in getattr(plan, kind.field)]
    known = {choice.label: choice for choice in several}
    for text in models:
        choice = choose_model(text)
        name, url = split_url(choice.name)
        label = choice.alias or name
        if not url or label not in known or known[label].name != name:
            asked = ", ".join(each.name for each in plan.models) or "none"
            raise ConfigError(
                f"--model {text}: wanted MODEL@URL, the server of a model of the run, which are: {asked}"
            )
        parsed.setdefault(label, {})[URL] = url
    single = [kind.table for kind in SINGLE]
    UnknownName.check("part of --set", parsed, (*single, MODEL.table, *known))
    return with_settings(changed, parsed)


def _reporters(wanted: Wanted) -> tuple[Choice, ...]:
    return tuple(map(choose, wanted.names.get(REPORTER.table, ())))


def choose(name: str) -> Choice:
    """The choice of `NAME`, or of `LABEL=NAME` with its own label in the run."""
    alias, equals, offer = name.partition("=")
    if not equals:
        return Choice(name=name)
    return Choice(name=offer, alias=alias)


def choose_model(text: str) -> Choice:
    """The choice of a language model, `NAME` or `ALIAS=NAME`.

    Names may contain "=", for example in a URL.
    """
    alias, equals, name = text.partition("=")
    if equals and ALIAS.fullmatch(alias):
        return Choice(name=name, alias=alias)
    return Choice(name=text)


def configured(choices: Sequence[Choice], parsed: dict[str, Any]) -> tuple[Choice, ...]:
    """The choices with the settings that name them, which are taken out of `parsed`."""
    return tuple(
        _with_values(choice, parsed.pop(choice.label, {})) for choice in choices
    )


def asked_for(
    kind: str,
    names: Sequence[str],
    settings: Sequence[str],
    models: Sequence[str] = (),
) -> tuple[tuple[Choice, ...], tuple[Choice, ...]]:
    """Parts of a kind that are added to an existing run, and models for them.

    Args:
        kind: e.g. "probe".
        names: NAME or LABEL=NAME each.
        settings: PART.FIELD=VALUE each.
        models: ALIAS=MODEL each.

    Raises:
        ConfigError: a setting names no part that is asked for, or a model no alias.
    """
    parsed = parse_settings(settings)
    choices = configured([choose(name) for name in names], parsed)
    named = [choose_model(text) for text in models]
    for model in named:
        if not model.alias:
            raise ConfigError(f"--model {model.name}: wanted ALIAS=MODEL")
    of_models = configured(named, parsed)
    for name in parsed:
        raise ConfigError(f"--set {name}: unknown {kind}; add it with --{kind} {name}")
    return choices, of_models


def _named(wanted: Wanted, models: Sequence[Choice]) -> Plan:
    """The plan file with the named parts replaced, or a plan of those parts.

    Args:
        wanted: names the parts.
        models: to which the user gives names of their own.
    """
    chosen: dict[str, Any] = {}
    for kind in SINGLE:
        if names := wanted.names.get(kind.table):
            chosen[kind.field] = choose(names[0])
    for kind in SEVERAL:
        names = wanted.names.get(kind.table)
        if names and kind is not MODEL:
            chosen[kind.field] = tuple(map(choose, names))
    if (plan := wanted.plan) is not None:
        kept = plan.models
        if "agent" in chosen:
            # Another agent asks another model.
            kept = _with_names(kept)
        aliases = {choice.alias for choice in models}
        kept = tuple(choice for choice in kept if choice.alias not in aliases)
        return replace(plan, **chosen, models=(*kept, *models))

    for kind in SINGLE:
        if kind.field not in chosen:
            shown = f"`gde list {kind.name}s` lists them"
            raise ConfigError(
                f"wanted --{kind.table} NAME (or --plan FILE), got none; {shown}"
            )
    return Plan(**chosen, models=models)


def _with_names(models: Sequence[Choice]) -> tuple[Choice, ...]:
    """The models without the settings of the agent's model, whichever that was."""
    return tuple(choice for choice in models if choice.name)


def _with_values(choice: Choice, values: Mapping[str, Json]) -> Choice:
    return replace(choice, config={**choice.config, **values})
