"""What a stopped run may be told before it goes on."""

import pytest

from gde.data.plan import Choice, Plan
from gde.errors import ConfigError, UnknownName
from gde.request.amending import amended
from gde.request.planfile import plan_hash

SERVED = Choice(name="openai:m@http://h/v1", config={"timeout": 600.0, "effort": "low"})
PLAN = Plan(
    environment="grid",
    agent=Choice(name="gpt-oss", config={"model": SERVED.name}),
    models=(SERVED, Choice(name="nano", alias="judge")),
)


def test_limits_executor_and_requests_may_change_and_the_run_stays_the_same() -> None:
    settings = (
        "run.max_calls=9",
        "run.turn_seconds=none",
        "executor.workers=2",
        "model.timeout=5",
        "judge.prices=1,2",
    )
    plan = amended(PLAN, settings, "processes")
    assert (plan.max_calls, plan.turn_seconds) == (9, None)
    assert plan.executor == Choice(name="processes", config={"workers": "2"})
    served, judge = plan.models
    assert served.config == {"timeout": "5", "effort": "low"}
    assert judge.config == {"prices": "1,2"}
    assert plan_hash(plan) == plan_hash(PLAN)


@pytest.mark.parametrize(
    "setting",
    ["run.seed=1", "run.episodes=9", "env.size=9", "model.effort=high", "x.y=1"],
)
def test_what_could_change_a_result_is_refused_by_name(setting: str) -> None:
    name, _, _ = setting.partition("=")
    with pytest.raises(ConfigError, match=f"--set .*{name.split('.')[1]}: it could"):
        amended(PLAN, [setting])


def test_a_field_that_answers_depend_on_makes_another_plan() -> None:
    with pytest.raises(UnknownName, match="field of run"):
        amended(PLAN, ["run.max_call=1"])
    other = Choice(name=SERVED.name, config={**SERVED.config, "effort": "high"})
    changed = Plan(environment="grid", agent=PLAN.agent, models=(other,))
    assert plan_hash(changed) != plan_hash(
        Plan(environment="grid", agent=PLAN.agent, models=(SERVED,))
    )
