"""The settings in which plans differ."""

from collections.abc import Iterator, Mapping

from gde.data.json import Json
from gde.data.plan import Plan
from gde.request.kinds import SINGLE
from gde.request.planfile import RUN
from gde.store.rows import to_json

Settings = Mapping[str, Json]
"""Setting, e.g. "agent.p", to value."""
Differing = Mapping[str, Settings]
"""By contender."""


def differing(plans: Mapping[str, Plan]) -> Differing:
    """The settings in which plans differ.

    A setting that one of them alone has, e.g. of another agent, tells nothing apart.
    """
    settings = {name: dict(_settings(plan)) for name, plan in plans.items()}
    values: dict[str, list[str]] = {}
    for own in settings.values():
        for key, value in own.items():
            values.setdefault(key, []).append(to_json(value))
    differ = [key for key, found in values.items() if len(set(found)) > 1]
    return {
        name: {key: own[key] for key in differ if key in own}
        for name, own in settings.items()
    }


def _settings(plan: Plan) -> Iterator[tuple[str, Json]]:
    """Names, as `--set` takes them, and values."""
    chosen = [(kind.table, getattr(plan, kind.field)) for kind in SINGLE]
    named = plan.agent.config.values()
    chosen += [("model", model) for model in plan.models if model.label in named]
    for table, choice in chosen:
        yield table, choice.name
        for field, value in choice.config.items():
            yield f"{table}.{field}", value
    for field in RUN:
        yield field, getattr(plan, field)
