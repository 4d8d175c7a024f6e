"""One real question is asked before a run, and what it tells is set or said."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_servers import MODEL, Answer, Body, FakeServer, Reply, refused, said, serving

from gde import Choice, GdeError, How, Plan, evaluate
from gde.before.preflight import preflight
from gde.before.preparing import dry

Serve = Callable[[Answer], FakeServer]


@pytest.fixture
def serve() -> Iterator[Serve]:
    with ExitStack() as open_servers:
        yield lambda answer: open_servers.enter_context(serving(answer))


def plan(server: FakeServer, model: str = MODEL, **settings: Any) -> Plan:
    served = Choice(
        name=f"openai:{model}@{server.url}",
        alias="big",
        config={"retries": 0, **settings},
    )
    return Plan(
        environment=Choice(name="grid", config={"size": 5}),
        agent=Choice(name="gpt-oss", config={"model": "big"}),
        models=(served,),
        metrics=["success"],
        episodes=10,
    )


ACTION = '{"action": "LEFT"}'


def test_calls_tokens_and_money_are_estimated_from_one_question(serve: Serve) -> None:
    server = serve(lambda _: said(ACTION))
    flight = preflight(plan(server, prices=[1.0, 10.0]), how=How(max_calls=5))
    assert len(server.asked) == 1
    assert "Current state" in str(server.asked[0]["messages"])
    (estimate,) = flight.estimates
    calls = estimate.calls
    assert calls is not None and calls > 5
    assert estimate.answer_tokens == 10 * calls
    assert estimate.prompt_tokens == pytest.approx(100 * calls, rel=0.05)
    cost = (estimate.prompt_tokens * 1 + 10 * calls * 10) / 1e6
    assert estimate.cost == pytest.approx(cost)
    assert flight.over == "the run would stop at run.max_calls=5"


def test_harmless_fields_that_a_server_refuses_are_left_out_and_recorded(
    serve: Serve,
) -> None:
    def answer(body: Body) -> Reply:
        for field in ("reasoning_effort", "seed"):
            if field in body:
                return refused(f"Unrecognized request argument: {field}")
        if "max_tokens" in body:
            return refused("max_tokens is gone: use max_completion_tokens")
        return said(ACTION)

    flight = preflight(plan(serve(answer)))
    (model,) = flight.plan.models
    assert set(model.config["without"]) == {"reasoning_effort", "seed"}  # type: ignore[arg-type]
    assert model.config["limit_field"] == "max_completion_tokens"
    assert any("without" in note for note in flight.notes)


def test_one_unusable_answer_is_no_reason_to_refuse(serve: Serve) -> None:
    server = serve(lambda _: said(ACTION if len(server.asked) > 1 else "Well."))
    assert preflight(plan(server)).estimates
    assert len(server.asked) == 2


def judged(server: FakeServer) -> Plan:
    one = plan(server)
    judge = Choice(name="judge", config={"model": "big", "repairs": 0})
    return replace(one, agent=Choice(name="random"), rewards=(judge,))


def test_a_judge_is_asked_about_a_turn(serve: Serve) -> None:
    server = serve(lambda _: said("score: 0.5"))
    flight = preflight(judged(server))
    assert "You judge" in str(server.asked[0]["messages"])
    (estimate,) = flight.estimates
    assert estimate.part == "judge" and estimate.calls == estimate.answer_tokens // 10  # type: ignore[operator]


def test_a_judge_that_cannot_score_is_refused(serve: Serve) -> None:
    server = serve(lambda _: said("I like mazes."))
    with pytest.raises(
        GdeError, match="reward model 'judge' cannot score a first turn"
    ):
        preflight(judged(server))


def test_worlds_of_all_sizes_are_counted(serve: Serve) -> None:
    server = serve(lambda _: said(ACTION))
    swept = Choice(name="grid", config={"size": [5, 9]})
    both = replace(plan(server), environment=swept)
    (found,) = preflight(both).estimates
    separate = []
    for size in (5, 9):
        one = Choice(name="grid", config={"size": size})
        separate += preflight(replace(both, environment=one)).estimates
    assert found.calls == separate[0].calls + separate[1].calls  # type: ignore[operator]
    assert separate[1].prompt_tokens > separate[0].prompt_tokens  # type: ignore[operator]


def test_a_dry_run_counts_without_asking(serve: Serve) -> None:
    server = serve(lambda _: said(ACTION))
    silent = plan(server, prices=[1.0, 10.0])
    (counted,) = dry(silent).estimates
    assert server.asked == []
    (estimated,) = preflight(silent).estimates
    assert counted.calls == estimated.calls
    limit = counted.calls * 10_000  # type: ignore[operator]
    assert counted.answer_tokens == limit
    assert counted.cost is not None and counted.cost > 10 * limit / 1e6


def test_a_run_asks_no_more_than_was_counted(serve: Serve, tmp_path: Path) -> None:
    server = serve(lambda _: said(ACTION))
    # Nobody reaches a goal by one direction alone in all worlds.
    wanted = replace(plan(server), episodes=4)
    (counted,) = dry(wanted).estimates
    result = evaluate(wanted, tmp_path / "run")
    assert counted.calls is not None
    assert result.models[0].usage.calls <= counted.calls


def test_models_in_this_process_are_left_alone() -> None:
    embedded = Plan(environment="grid", agent="gpt-oss")
    assert preflight(embedded).notes == ()
