"""The conditions of a run: every combination of the swept environment values."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from gde.data.goals import GOAL_MOVED
from gde.data.json import NONE, Json
from gde.data.plan import Choice, Plan
from gde.errors import ConfigError, GdeError
from gde.request.finding import Finder
from gde.request.ready import Condition
from gde.request.settings import dump_what, how_fields, sweep


def conditions_of(plan: Plan, find: Finder) -> tuple[tuple[Condition, ...], Choice]:
    """The conditions of a plan, and the choice of its environment with all values.

    Raises:
        GdeError: it does not exist, or a value that a field does not take.
    """
    choice = plan.environment
    try:
        entry = find.entry("environment", choice)
        config = entry.offer.config
        alternatives = sweep(config, choice.config, "env")
    except GdeError:
        if not find.absent:
            raise
        # Of an environment that is not installed here, the swept fields are
        # unknown.
        only = Condition(labels={}, environment=find.part("environment", choice))
        return tuple(_swapped(only)) if plan.goal_swap else (only,), choice

    # Fields with one value are no sweep, and label nothing.
    swept = {name: each for name, each in alternatives.items() if len(each) > 1}
    for name in swept.keys() & how_fields(config):
        raise ConfigError(
            f"env.{name} says how a run is done: wanted one value, got several"
        )
    conditions: list[Condition] = []
    for combination in product(*alternatives.values()):
        values = dict(zip(alternatives, combination, strict=True))
        labels = {name: _label(values[name]) for name in swept}
        part = find.part("environment", replace(choice, config=values))
        one = Condition(labels=labels, environment=part)
        conditions += _swapped(one) if plan.goal_swap else [one]

    # The plan keeps all values of a swept field, and the defaults of the others.
    values = {**dump_what(conditions[0].environment.config), **swept}
    return tuple(conditions), replace(choice, config=values)


def _swapped(condition: Condition) -> Iterator[Condition]:
    """The condition with the worlds' own goals, and with the goals moved."""
    for moved in (False, True):
        labels = {**condition.labels, GOAL_MOVED: moved}
        yield replace(condition, labels=labels, goal_moved=moved)


def _label(value: Json) -> str | int | float | bool:
    """A swept value as a label."""
    if value is None:
        return NONE
    if isinstance(value, str | int | float | bool):
        return value
    return str(value)
