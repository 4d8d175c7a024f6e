"""Parts of the caller's own in a plan: what they may be, what they are called, and what
is refused.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from own_parts import Counting, Locked, episodes, go_right, long_corridor

from gde import (
    Capability,
    Choice,
    EnvironmentOffer,
    Evidence,
    FunctionAgent,
    GdeError,
    How,
    Measure,
    Measurement,
    NoConfig,
    Offer,
    Plan,
    Trajectory,
    evaluate,
    read_plan,
    write_plan,
)
from gde.request.catalogue import Catalogue
from gde.request.objects import with_objects
from gde.request.planfile import plan_hash
from gde.request.ready import Chosen, Ready
from gde.request.resolve import resolve
from gde.testing.context import PlainContext
from gde.testing.parts import Corridor, ScriptedAgent


class Incomplete:
    """An environment without a world, and a probe without labels."""

    reset = step = task = close = capture = fit = load = score = None


async def later(episode: Trajectory) -> float:
    return 0.0


def ready(**parts: Any) -> Ready:
    return resolve(
        Plan(
            **{
                "environment": Corridor,
                "agent": Counting,
                "metrics": [episodes],
                **parts,
            }
        ),
        Catalogue.default(),
    )


def made(chosen: Chosen) -> Any:
    return chosen.make(PlainContext())


@pytest.mark.parametrize(
    ("agent", "label"),
    [
        (Counting, "Counting"),
        (Counting(), "Counting"),
        (partial(ScriptedAgent, ["LEFT"]), "ScriptedAgent"),
        (lambda: Counting(), "<lambda>"),
        (FunctionAgent(go_right), "go_right"),
        (
            Offer(
                name="mine", summary="s", config=NoConfig, make=lambda _, __: Counting()
            ),
            "mine",
        ),
        (Choice.of(Counting(), "first"), "first"),
    ],
)
def test_an_agent_is_an_object_a_class_a_function_that_makes_one_or_an_offer(
    agent: Any, label: str
) -> None:
    chosen = ready(agent=agent).agent
    assert chosen.label == label
    one, another = made(chosen), made(chosen)
    assert hasattr(one, "act")
    assert one is not another


@pytest.mark.parametrize(
    "environment", [Corridor, Corridor(), long_corridor, lambda: Corridor(4)]
)
def test_capabilities_of_an_environment_are_what_it_can_do(environment: Any) -> None:
    gives = ready(environment=environment).environment.entry.offer.gives
    assert {Capability.STATE, Capability.MDP, Capability.SNAPSHOT} <= gives
    assert Capability.WORLDS not in gives


def test_a_metric_is_a_function_of_the_evidence_and_stays_what_it_is() -> None:
    (chosen,) = ready(metrics=[episodes]).metrics
    assert made(chosen) is episodes
    (chosen,) = ready(metrics=[lambda: episodes]).metrics
    assert made(chosen) is episodes


def test_an_object_says_what_its_numbers_mean() -> None:
    score = Measure(name="score", title="Score", headline=True)

    def scores(evidence: Evidence) -> list[Measurement]:
        return []

    vars(scores)["measures"] = (score,)
    mine, other = ready(metrics=[scores, episodes]).metrics
    assert mine.entry.offer.measures == (score,)
    (named,) = other.entry.offer.measures
    assert (named.name, named.headline) == ("episodes", True)


def test_an_offer_of_another_kind_is_refused() -> None:
    offer = Offer(
        name="row", summary="s", config=NoConfig, make=lambda _, __: Corridor(3)
    )
    with pytest.raises(
        GdeError, match=r"wanted EnvironmentOffer\(\.\.\.\), got Offer\("
    ):
        ready(environment=offer)


def test_an_offer_brings_its_configuration_needs_and_sweeps() -> None:
    @dataclass(frozen=True)
    class Size:
        length: int = 3

    offer = EnvironmentOffer(
        name="row",
        summary="s",
        config=Size,
        make=lambda config, _: Corridor(config.length),
    )
    choice = replace(Choice.of(offer), config={"length": [4, 5]})
    found = ready(environment=choice)
    assert [dict(condition.labels) for condition in found.conditions] == [
        {"length": 4},
        {"length": 5},
    ]
    assert [made(condition.environment).length for condition in found.conditions] == [
        4,
        5,
    ]
    assert found.environment.entry.offer is offer


def test_a_plan_knows_objects_by_name_and_its_hash_is_stable(tmp_path: Path) -> None:
    plan = ready(agent=Counting(), environment=Corridor(4)).plan
    assert plan.agent.name == "python:own_parts.Counting"
    assert plan_hash(plan) == plan_hash(
        ready(agent=Counting(), environment=Corridor(4)).plan
    )
    assert plan_hash(plan) != plan_hash(
        ready(agent=Choice.of(Counting(), "other"), environment=Corridor(4)).plan
    )
    (tmp_path / "plan.toml").write_text(write_plan(plan))
    recorded = read_plan(tmp_path / "plan.toml")
    assert plan_hash(recorded) == plan_hash(plan)
    assert recorded.agent.part is None
    assert with_objects(recorded, plan).agent.part is plan.agent.part
    assert with_objects(recorded, plan).metrics == plan.metrics


WRONG: list[tuple[Callable[[], object], str]] = [
    (
        lambda: ready(agent=lambda a, b: None),
        r"agent '<lambda>' cannot be made without a, b: wanted a function of the observ",
    ),
    (
        lambda: ready(metrics=[lambda a, b: []]),
        r"metric '<lambda>' cannot be made without a, b: wanted a function of an episode",
    ),
    (
        lambda: ready(metrics=[later]),
        "metric 'later': wanted a plain function, got an async one",
    ),
    (
        lambda: ready(rewards=[lambda a, b: 0.0]),
        r"'<lambda>' cannot be made without a, b: wanted reward\(goal, observation, act",
    ),
    (
        lambda: ready(rewards=[lambda g, o, a: 0.0]),
        r"'<lambda>' cannot be made without g, o, a: .* reward\(transcript\), an object",
    ),
    (
        lambda: ready(rewards=[lambda action: 0.0]),
        r"reward model '<lambda>' cannot be made without action: wanted reward\(goal",
    ),
    (lambda: ready(agent=Incomplete), r"'Incomplete': wanted it to make a function of"),
    (
        lambda: ready(metrics=[Incomplete]),
        r"metric 'Incomplete': wanted it to make a function of an episode or",
    ),
    (
        lambda: ready(agent=["random", Counting]),
        r"^agent: wanted one name or object, got \['random', .* make a plan for each$",
    ),
    (
        lambda: Plan(episode=5),  # type: ignore[call-arg]
        r"unknown argument of Plan 'episode'\. Did you mean episodes\?",
    ),
    (
        lambda: Plan(environment="grid"),  # type: ignore[call-arg]
        r"^Plan: missing a required argument: 'agent'$",
    ),
    (
        lambda: How(concurency=5),  # type: ignore[call-arg]
        r"unknown argument of How 'concurency'\. Did you mean concurrency\?",
    ),
    (
        lambda: Choice(nam="grid"),  # type: ignore[call-arg]
        r"unknown argument of Choice 'nam'\. Did you mean name\?",
    ),
    (
        lambda: evaluate(Plan(environment="grid", agent="random"), outt="run"),  # type: ignore[call-arg]
        r"unknown argument of evaluate 'outt'\. Did you mean out\?",
    ),
    (
        lambda: ready(environment=ScriptedAgent()),
        r"environment 'ScriptedAgent': wanted an object with reset\(\), .* got Scr",
    ),
    (
        lambda: ready(environment=lambda: 5),
        r"environment '<lambda>': wanted it to make an object with reset\(\), .*got 5",
    ),
    (
        lambda: ready(agent=lambda: 5),
        r"agent '<lambda>': wanted it to make a function of the observation.*got 5",
    ),
    (
        lambda: ready(environment=Incomplete),
        r"environment 'Incomplete': wanted an object with reset.* got one without world$",
    ),
    (
        lambda: ready(environment=lambda: Incomplete()),
        r"environment '<lambda>': wanted an object with reset.* got one without world$",
    ),
    (
        lambda: ready(probes=[Incomplete()]),
        "probe 'Incomplete': wanted an object with capture.* got one without labels$",
    ),
    (
        lambda: ready(environment=lambda: 1 / 0),
        r"environment '<lambda>' cannot be made: ZeroDivisionError",
    ),
    (
        lambda: ready(agent=Locked()),
        r"agent 'Locked' cannot be copied for every episode \(cannot pickle '_thread.lock'",
    ),
    (
        lambda: ready(agent=None),
        "a part of a plan: wanted a name, a Choice, an Offer or an object, got None",
    ),
    (
        lambda: ready(metrics="success"),
        "metrics: wanted a list of names and objects, got 'success'",
    ),
    (
        lambda: ready(metrics=[episodes, episodes]),
        r"metric 'episodes' is listed twice.*Choice\.of\(part, 'OTHER'\)",
    ),
    (
        lambda: ready(agent=replace(Choice.of(Counting), config={"p": 1})),
        r"Counting\.p: an object is configured where it is made; leave the setting out",
    ),
]


@pytest.mark.parametrize(("wrong", "message"), WRONG)
def test_what_is_no_part_is_refused_with_what_to_do(
    wrong: Callable[[], object], message: str
) -> None:
    with pytest.raises(GdeError, match=message):
        wrong()


def test_a_class_of_what_cannot_be_copied_will_do() -> None:
    made(ready(agent=Locked).agent)
