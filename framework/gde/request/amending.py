"""Changes of a plan while its run is stopped, which cannot change a result."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gde.data.plan import Choice, Plan
from gde.errors import ConfigError
from gde.request.kinds import KINDS, MODEL
from gde.request.planfile import HOW_ASKED, OF_RUN_ALONE, configure_run
from gde.request.settings import parse_settings

EXECUTOR = KINDS["executor"].table
AGENT = KINDS["agent"].table


def amended(plan: Plan, settings: Sequence[str], executor: str = "") -> Plan:
    """The plan with other limits, another executor, or models asked otherwise.

    Args:
        plan: of the run, complete.
        settings: PART.FIELD=VALUE each; PART is `run`, `executor`, `model` (the
            agent's) or the name of a model.
        executor: its name; empty for that of the plan.

    Raises:
        ConfigError: a setting that could change a result.
        UnknownName: a field that does not exist.
    """
    parsed = parse_settings(settings)
    run = parsed.pop("run", {})
    changed = configure_run(plan, run)
    _refuse_others("run", run, OF_RUN_ALONE)
    plan = changed

    if executor:
        plan = replace(plan, executor=Choice(name=executor))
    own = {**plan.executor.config, **parsed.pop(EXECUTOR, {})}
    plan = replace(plan, executor=replace(plan.executor, config=own))

    agents = str(plan.agent.config.get(MODEL.table, ""))
    models = []
    for choice in plan.models:
        values = parsed.pop(choice.label, {})
        if choice.label == agents:
            values = {**values, **parsed.pop(MODEL.table, {})}
        _refuse_others(choice.label, values, HOW_ASKED)
        models.append(replace(choice, config={**choice.config, **values}))

    for part, fields in parsed.items():
        _refuse_others(part, fields, ())
    return replace(plan, models=tuple(models))


def _refuse_others(
    part: str, values: Mapping[str, Any], allowed: Sequence[str]
) -> None:
    for name in values:
        if name not in allowed:
            known = [f"run.{field}" for field in OF_RUN_ALONE]
            known += [f"{MODEL.table}.{field}" for field in HOW_ASKED]
            raise ConfigError(
                f"--set {part}.{name}: it could change the results of the run: start a new one with it. A stopped run"
                f" takes {', '.join(known)} and settings of the executor"
            )
