"""One real question is asked before a run, and what it tells is set or said."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import count
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
    assert estimate.prompt_tokens == pytest.approx(1000 * calls, rel=0.05)
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


def refuses(
    *fields: str, text: str = ACTION, by: Callable[[str], Reply] = refused
) -> Answer:
    def answer(body: Body) -> Reply:
        for field in fields:
            if field in body:
                return by(f"Unrecognized request argument: {field}")
        return said(text)

    return answer


@pytest.mark.parametrize(
    "error",
    [
        lambda text: {"error": {"message": text, "code": 400}},
        lambda text: {"error": text},
        lambda text: {"object": "error", "message": text, "code": 40001},
        lambda text: {"detail": text},
    ],
)
def test_a_refusal_in_an_answer_of_status_200_is_one(
    serve: Serve, error: Callable[[str], Body]
) -> None:
    answer = refuses("seed", by=lambda text: Reply(body=error(text)))
    (model,) = preflight(plan(serve(answer))).plan.models
    assert model.config["without"] == ["seed"]
    answer = refuses("temperature", by=lambda text: Reply(body=error(text)))
    with pytest.raises(GdeError, match=r"set model\.without=temperature"):
        preflight(plan(serve(answer)))


def test_the_number_of_tokens_is_no_condition_of_a_stream(serve: Serve) -> None:
    (model,) = preflight(
        plan(serve(refuses("stream_options")), stream=True)
    ).plan.models
    assert model.config["without"] == ["stream_options"]


def asking(one: Plan, **config: Any) -> Plan:
    return replace(one, agent=replace(one.agent, config={**one.agent.config, **config}))


@pytest.mark.parametrize("effort", ["low", "high"])
def test_an_effort_that_the_user_has_set_is_never_left_out(
    serve: Serve, effort: str
) -> None:
    server = serve(refuses("reasoning_effort"))
    message = f"agent.effort={effort}: model 'big' refuses it.*set model.without=reasoning_effort"
    with pytest.raises(GdeError, match=message):
        preflight(asking(plan(server), effort=effort))
    # Nobody has asked for any, and then the user has chosen to do without.
    assert preflight(asking(plan(server), effort="auto")).notes
    without = plan(server, without=["reasoning_effort"])
    assert preflight(asking(without, effort=effort)).notes == ()


def test_an_effort_of_a_judge_is_never_left_out(serve: Serve) -> None:
    one = judged(serve(refuses("reasoning_effort", text="score: 0.5")))
    assert preflight(one).notes
    (judge,) = one.rewards
    low = replace(judge, config={**judge.config, "effort": "low"})
    with pytest.raises(GdeError, match=r"judge\.effort=low: model 'big' refuses it"):
        preflight(replace(one, rewards=(low,)))
    # A planner is not asked before a run, and its model is.
    planner = Choice(name="react-reward", config={"model": "big", "effort": "low"})
    with pytest.raises(GdeError, match=r"agent\.effort=low: model 'big' refuses it"):
        preflight(replace(one, agent=planner))


@pytest.mark.parametrize(
    ("field", "settings", "advice"),
    [
        ("seed", {"body": {"seed": 3}}, "out of model.body"),
        ("reasoning_effort", {"effort": "high"}, "set model.without=reasoning_effort"),
        (
            "reasoning_effort",
            {"body": {"reasoning_effort": "x"}},
            "out of model.body",
        ),
        (
            "return_token_ids",
            {"body": {"return_token_ids": True}},
            "out of model.body",
        ),
        ("logprobs", {"logprobs": True}, "set model.logprobs=false"),
        ("stream", {"stream": True}, "set model.stream=false"),
        ("temperature", {}, "set model.without=temperature"),
        ("max_tokens", {}, "set model.without=max_tokens"),
    ],
)
def test_what_the_user_has_set_is_refused_by_name_with_what_helps(
    serve: Serve, field: str, settings: dict[str, Any], advice: str
) -> None:
    server = serve(refuses(field))
    with pytest.raises(GdeError, match=advice) as caught:
        preflight(plan(server, **settings))
    assert field in str(caught.value)
    assert field in server.asked[0] and field not in server.asked[-1]


def test_all_that_must_be_left_out_is_told_at_once(serve: Serve) -> None:
    server = serve(refuses("temperature", "seed", "top_p"))
    with pytest.raises(GdeError, match=r"set model\.without=\S+") as caught:
        preflight(plan(server))
    fields = re.findall(r"without=(\S+)", str(caught.value))[0].split(",")
    assert {"temperature", "top_p"} <= {*fields}
    assert preflight(plan(server, without=fields)).notes == ()
    # What was left out already stays so.
    with pytest.raises(GdeError, match=r"set model\.without=seed,temperature,top_p"):
        preflight(plan(server, without=["seed"]))


def test_log_probabilities_that_are_not_allowed_are_no_matter_of_the_key(
    serve: Serve,
) -> None:
    def answer(body: Body) -> Reply:
        if "logprobs" in body:
            return refused("You are not allowed to request logprobs", 403)
        return said(ACTION)

    with pytest.raises(GdeError, match=r"set model\.logprobs=false") as caught:
        preflight(plan(serve(answer), logprobs=True))
    assert "KEY" not in str(caught.value)


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
@pytest.mark.parametrize("shorter_helps", [True, False])
def test_a_limit_is_lowered_where_that_is_known_to_help(
    serve: Serve, shorter_helps: bool, name: str
) -> None:
    def answer(body: Body) -> Reply:
        limit = body.get("max_tokens") or body.get("max_completion_tokens") or 1
        if shorter_helps and limit < 4096:
            return said(ACTION)
        return refused(f"'{name}' is too large for the context: {limit}")

    with pytest.raises(GdeError) as caught:
        preflight(plan(serve(answer)))
    advises = "lower model.max_tokens, or set model.context" in str(caught.value)
    assert advises is shorter_helps
    assert shorter_helps or "set model" not in str(caught.value)


def test_an_empty_answer_is_no_reason_for_more_tokens(serve: Serve) -> None:
    with pytest.raises(GdeError) as caught:
        preflight(plan(serve(lambda _: said(""))))
    assert "max_tokens" not in str(caught.value)


@pytest.mark.parametrize(("effort", "advises"), [("low", False), ("high", True)])
def test_an_effort_is_lowered_where_there_is_a_lower_one(
    serve: Serve, effort: str, advises: bool
) -> None:
    server = serve(lambda _: said("", choice={"finish_reason": "length"}))
    with pytest.raises(GdeError, match=r"raise agent\.max_tokens") as caught:
        preflight(asking(plan(server), effort=effort))
    assert ("set a lower model.effort" in str(caught.value)) is advises


def test_one_unusable_answer_is_no_reason_to_refuse(serve: Serve) -> None:
    server = serve(lambda _: said(ACTION if len(server.asked) > 1 else "Well."))
    found = preflight(plan(server))
    assert found.estimates and len(server.asked) == 2
    # Both are shown as they were read.
    unread, read = found.readings
    assert unread.startswith("answered 'Well.', read as unparsable: ")
    assert read == f"answered {ACTION!r}, read as LEFT"


def test_an_answer_in_which_the_world_reads_nothing_is_no_usable_one(
    serve: Serve,
) -> None:
    server = serve(lambda _: said("I like mazes."))
    asked = replace(plan(server), environment=Choice(name="babyai-plan"))
    with pytest.raises(GdeError, match="none of 3 first answers can be used"):
        preflight(asked)


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


@pytest.mark.parametrize("window", [50, 1000])
def test_a_prompt_that_the_server_cuts_is_told_before_a_run(
    serve: Serve, window: int
) -> None:
    usage = {"prompt_tokens": window, "completion_tokens": 10}
    flight = preflight(plan(serve(lambda _: said(ACTION, usage=usage))))
    is_told = any("raise the context of its server" in note for note in flight.notes)
    assert is_told is (window == 50)


@pytest.mark.parametrize("show", [1, 2, 5])
def test_as_many_answers_are_shown_as_asked_for(serve: Serve, show: int) -> None:
    texts = count()

    def answer(body: Body) -> Reply:
        return said(f"{next(texts)}: {'so ' * 100} I choose LEFT.")

    server = serve(answer)
    flight = preflight(plan(server), show=show)
    assert len(server.asked) == len(flight.readings) == show
    for number, told in enumerate(flight.readings):
        # Where an answer concludes is never cut off.
        assert told.startswith(f"answered '{number}: so so")
        assert told.endswith(" so I choose LEFT.', read as LEFT")
    (estimate,) = flight.estimates
    assert estimate.prompt_tokens == pytest.approx(
        1000 * (estimate.calls or 0), rel=0.05
    )
