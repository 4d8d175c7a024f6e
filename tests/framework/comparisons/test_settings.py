"""Settings that differ: what tells contenders apart, and nothing else."""

from gde.comparisons.settings import differing
from gde.data.plan import Choice, Plan


def plan(agent: str, seed: int = 0, **config: float) -> Plan:
    return Plan(
        environment=Choice(name="grid", config={"size": 7}),
        agent=Choice(name=agent, config=config),
        seed=seed,
    )


def test_equal_plans_differ_in_nothing() -> None:
    assert differing({"a": plan("noisy", p=0.1), "b": plan("noisy", p=0.1)}) == {
        "a": {},
        "b": {},
    }


def test_values_that_differ_are_named_as_set_takes_them() -> None:
    found = differing({"a": plan("noisy", p=0.1), "b": plan("noisy", seed=1, p=0.2)})
    assert found == {"a": {"agent.p": 0.1, "seed": 0}, "b": {"agent.p": 0.2, "seed": 1}}


def test_a_setting_of_one_agent_alone_tells_nothing_apart() -> None:
    found = differing({"a": plan("noisy", p=0.1), "b": plan("random")})
    assert found == {"a": {"agent": "noisy"}, "b": {"agent": "random"}}


def test_a_model_is_that_of_the_agent() -> None:
    plans = {}
    for name, heat in (("a", 0.0), ("b", 1.0)):
        model = Choice(name="openai", alias="served", config={"temperature": heat})
        other = Choice(name="openai", alias="judge", config={"temperature": heat})
        plans[name] = Plan(
            environment="grid",
            agent=Choice(name="gpt-oss", config={"model": "served"}),
            models=[model, other],
        )
    assert differing(plans) == {
        "a": {"model.temperature": 0.0},
        "b": {"model.temperature": 1.0},
    }
