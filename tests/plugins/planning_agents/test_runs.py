"""Planning agents in whole runs: what rewards are worth to them, what they cost, how
they go on when interrupted.
"""

import gc
from pathlib import Path
from typing import Any

import pytest
from playing import play
from thinking_parts import STOP

from gde import Choice, How, Plan, Result, evaluate, load_evidence, resume
from gde.data.json import Json
from gde.parts.environment import Environment
from gde.request.catalogue import Catalogue, load_plugins
from gde.testing.context import PlainContext
from gde.testing.parts import AnsweringModel
from gde_plugins.planning_agents import plugin
from gde_plugins.planning_agents.config import MctsConfig
from gde_plugins.planning_agents.effort import Effort
from gde_plugins.planning_agents.mcts import Mcts

OFFERS = {offer.name: offer for offer in plugin.gde_agents()}
METRIC = Choice(name="planning", alias="planning", part=plugin.gde_metrics()[0])
WORLDS: dict[str, dict[str, Json]] = {"grid": {"size": 7}, "blocksworld": {}}


@pytest.fixture
def thinking() -> Catalogue:
    return Catalogue(load_plugins(modules=("thinking_parts",)))


def agent(name: str, **config: Json) -> Choice:
    return Choice(name=name, alias=name, part=OFFERS[name], config=config)


def values(result: Result) -> dict[str, float]:
    return {
        one.name: one.value
        for one in result.measurements
        if one.value is not None and not one.where
    }


def run(
    world: str, out: Path, chosen: Choice, catalogue: Catalogue, n: int = 6
) -> dict[str, float]:
    plan = Plan(
        environment=Choice(name=world, config=WORLDS[world]),
        agent=chosen,
        metrics=(Choice(name="success"), Choice(name="accuracy"), METRIC),
        episodes=n,
    )
    result = evaluate(plan, out, catalogue, how=How(concurrency=1))
    assert result.status == "ok", result.failures
    return values(result)


@pytest.mark.parametrize("world", WORLDS)
def test_the_true_reward_leads_to_the_optimum_and_a_shuffled_one_does_not(
    world: str, tmp_path: Path, thinking: Catalogue
) -> None:
    found = {
        reward: run(
            world, tmp_path / reward, agent("mcts", reward=reward, budget=32), thinking
        )
        for reward in ("oracle", "shuffled")
    }
    assert (found["oracle"]["success"], found["oracle"]["accuracy"]) == (1, 1)
    assert found["shuffled"]["success"] <= 0.5
    assert found["shuffled"]["accuracy"] < 0.8
    assert 0 < found["oracle"]["planning.simulator_steps"] <= 32
    assert found["oracle"]["planning.model_calls"] == 0


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("react", {}),
        ("react-reward", {"reward": "oracle"}),
        ("mcts", {"reward": "oracle", "prior": "model", "budget": 4}),
        ("mcts", {"reward": "statefactory", "world": "model", "budget": 4}),
    ],
)
def test_an_interrupted_run_goes_on_and_asks_nothing_twice(
    name: str,
    config: dict[str, Json],
    tmp_path: Path,
    thinking: Catalogue,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def plan(log: Path) -> Plan:
        chosen = agent(name, model=f"thinker:{log}", **config)
        place = Choice(name="blocksworld", config={"blocks": 3})
        return Plan(
            environment=place,
            agent=chosen,
            metrics=(Choice(name="success"), METRIC),
            episodes=2,
        )

    whole = evaluate(plan(tmp_path / "undisturbed"), tmp_path / "whole", thinking)
    asked = (tmp_path / "undisturbed").read_text().splitlines()
    assert len(set(asked)) == len(asked)
    monkeypatch.setenv(STOP, str(len(asked) // 2))
    with pytest.raises(KeyboardInterrupt):
        evaluate(plan(tmp_path / "log"), tmp_path / "run", thinking)
    gc.collect()  # asyncio tells of tasks that are left; while another test parses, Python 3.11 trips on it
    monkeypatch.delenv(STOP)
    result = resume(tmp_path / "run", thinking, plan=plan(tmp_path / "log"))
    assert sorted((tmp_path / "log").read_text().splitlines()) == sorted(asked)
    assert (result.status, result.measurements) == ("ok", whole.measurements)


def test_every_question_and_every_mistake_is_in_the_record(
    tmp_path: Path, thinking: Catalogue
) -> None:
    log = tmp_path / "log"
    found = run(
        "blocksworld",
        tmp_path / "run",
        agent("react", model=f"thinker:{log}", strict=True),
        thinking,
        n=3,
    )
    turns = [
        turn
        for one in load_evidence(tmp_path / "run", thinking).trajectories
        for turn in one.turns
    ]
    noted = [Effort.noted(turn.decision.detail) for turn in turns]
    assert sum(each.model_calls for each in noted if each) == len(
        log.read_text().splitlines()
    )
    assert found["planning.malformed"] > 0
    assert found["planning.simulator_steps"] == 0


@pytest.mark.parametrize(
    "world",
    [
        "grid",
        "key-door",
        "key-no-door",
        "two-path-key",
        "blocksworld",
        "webshop",
        "babyai",
        "cliff-world",
    ],
)
def test_they_plan_in_every_world_that_copies_can_stand_in_for(world: str) -> None:
    offer = Catalogue.default().find("environment", world).offer
    if offer.missing():
        pytest.skip(f"{', '.join(offer.missing())} not installed")

    def make() -> Environment:
        environment: Environment = offer.made(offer.config(), PlainContext())
        return environment

    decisions = play(Mcts(MctsConfig(budget=3), PlainContext()), make, turns=2)
    assert all(decision.action for decision in decisions)
    model = AnsweringModel(["Thought: hm.\nAction 1: no such thing"])
    context = PlainContext(models={"scripted": model})
    config: dict[str, Any] = {
        "model": "scripted",
        "prior": "model",
        "budget": 2,
        "retries": 0,
    }
    (decided,) = play(Mcts(MctsConfig(**config), context), make, turns=1)
    assert decided.action
    noted = Effort.noted(decided.detail)
    assert noted is not None
    assert (noted.inadmissible, noted.model_calls) == (1, 1)
