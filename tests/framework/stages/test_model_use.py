"""What a run asked of models is summed by part and model, from the journal alone."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from gde import Plan
from gde.data.completion import Completion, ModelInfo
from gde.data.model_use import ModelUse, Usage, merged, total
from gde.stages.model_use import mixtures, models_used
from gde.stages.models import NOTED
from gde.store.journal import Journal

PLAN = Plan(environment="corridor", agent="asking")
ANSWER = Completion(
    text="RIGHT",
    reasoning=None,
    finish="stop",
    model="big",
    n_prompt=90,
    n_completion=10,
    seconds=0.5,
    answered_by="big-2026",
)
DAY = "2026-11-23"


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(Journal.create(tmp_path / "run.sqlite")) as journal:
        yield journal


def write(journal: Journal, scope: str, *answers: Completion, day: str = DAY) -> None:
    async def call() -> None:
        for i, one in enumerate(answers):
            named = replace(one, request=f"{scope} {day} {i} {one.model}")
            await journal.call(scope, None, named, day)

    asyncio.run(call())


def test_calls_are_summed_by_part_and_model(journal: Journal) -> None:
    info = ModelInfo(name="server:big@https://host/v1")
    journal.add_note(NOTED, {"big": asdict(info)})
    write(journal, "0/0/0", ANSWER, replace(ANSWER, model="small", seconds=None))
    write(journal, "0/1/0", ANSWER, day="2026-11-25")
    write(journal, "reward_model judge", ANSWER)

    agent, other, judge = models_used(journal, PLAN, {})
    assert (agent.kind, agent.part, agent.name) == ("agent", "asking", "big")
    assert agent.model == "server:big@https://host/v1"
    assert [*agent.answered_by] == ["big-2026"]
    assert agent.days == ("2026-11-23", "2026-11-25")
    assert agent.usage == Usage(calls=2, prompt_tokens=180, answer_tokens=20)
    assert agent.usage.seconds == 1.0
    assert (other.name, other.model, other.usage.seconds) == ("small", "small", None)
    assert (judge.kind, judge.part, judge.days) == ("reward_model", "judge", (DAY, DAY))


def test_answers_of_the_cache_took_nothing(journal: Journal) -> None:
    write(journal, "0/0/0", ANSWER)
    write(journal, "0/0/1", replace(ANSWER, cached=True), day="")
    (use,) = models_used(journal, PLAN, {})
    assert use.usage == Usage(calls=1, cached=1, prompt_tokens=90, answer_tokens=10)
    assert use.days == (DAY, DAY)


def test_a_cost_needs_a_price_and_says_what_it_lacks(journal: Journal) -> None:
    write(journal, "0/0/0", ANSWER, replace(ANSWER, n_completion=None))
    assert [one.usage.cost for one in models_used(journal, PLAN, {})] == [None]
    (use,) = models_used(journal, PLAN, {"big": (1e6, 2e6)})
    assert (use.usage.untold, use.usage.cost) == (1, 90 + 90 + 2 * 10)


def test_a_sum_has_no_cost_if_a_part_of_it_has_none() -> None:
    known = Usage(calls=1, cost=2.0, seconds=1.0)
    assert total([known, known]) == Usage(calls=2, cost=4.0)
    assert total([known, Usage(calls=1)]).cost is None
    assert total([]) == Usage()


def test_the_runs_of_a_study_are_merged_by_part_and_model() -> None:
    one = ModelUse(
        name="big",
        model="big",
        kind="agent",
        part="asking",
        answered_by={"a": 1},
        served={"provider": ("A",)},
        days=("2026-11-25", "2026-11-25"),
        usage=Usage(calls=1),
    )
    earlier = replace(
        one, days=(DAY, DAY), answered_by={"b": 2}, served={"provider": ("B", "A")}
    )
    both, judged = merged([one, earlier, replace(one, part="judge")])
    assert both.days == (DAY, "2026-11-25")
    assert both.answered_by == {"a": 1, "b": 2}
    assert both.served == {"provider": ("A", "B")}
    assert (both.usage.calls, judged.usage.calls) == (2, 1)


def test_what_servers_tell_of_themselves_is_kept_of_a_model(journal: Journal) -> None:
    told = [{"provider": "B"}, {"provider": "A", "fingerprint": "x"}, {"provider": "B"}]
    answers = [replace(ANSWER, served=served, n_prompt_cached=40) for served in told]
    write(journal, "0/0/0", *answers)
    write(journal, "reward_model judge", replace(ANSWER, served={"provider": "A"}))
    agent, judge = models_used(journal, PLAN, {})
    assert agent.served == {"provider": ("A", "B"), "fingerprint": ("x",)}
    assert judge.served == {"provider": ("A",)}
    assert (agent.usage.prompt_cached, judge.usage.prompt_cached) == (120, 0)
    assert agent.usage.prompt_tokens == 270
    assert not [*journal.damaged()]

    # Of one model, all answers are from one.
    (sentence,) = mixtures([agent, judge])
    assert sentence.startswith("More than one provider answered agent asking: A, B.")


def test_a_name_with_each_answer_fills_no_journal(journal: Journal) -> None:
    answers = [replace(ANSWER, served={"fingerprint": str(i)}) for i in range(150)]
    for i, answer in enumerate(answers):
        write(journal, f"0/{i}/0", answer)
    (use,) = models_used(journal, PLAN, {})
    assert 90 < len(use.served["fingerprint"]) <= 100
    (sentence,) = mixtures([use])
    assert len(sentence) < 250


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        ({}, None),
        (
            {"answered_by": {"a": 2, "b": 1}},
            "More than one model answered agent asking: a (n = 2), b (n = 1). ",
        ),
        (
            {"served": {"prompt": ("cut",)}},
            "The server seems to cut prompts of agent asking",
        ),
        ({"served": {"provider": ("A",)}}, None),
    ],
)
def test_a_mixture_is_told(told: dict[str, Any], sentence: str | None) -> None:
    one = ModelUse(name="m", model="m", kind="agent", part="asking", usage=Usage())
    found = [*mixtures([replace(one, **told)])]
    assert len(found) == (sentence is not None)
    assert sentence is None or sentence in found[0]


def test_an_episode_may_have_answers_of_several_models(journal: Journal) -> None:
    write(journal, "0/0/0", replace(ANSWER, answered_by="b", model="small"), ANSWER)
    write(journal, "0/1/0", replace(ANSWER, answered_by=""))
    write(journal, "0/2/0", replace(ANSWER, answered_by="b"))
    write(journal, "reward_model judge", replace(ANSWER, answered_by="c"))
    assert journal.served() == {"0/0/0": "b and big-2026", "0/2/0": "b"}


def test_failures_of_a_server_are_counted_by_part_and_kind(journal: Journal) -> None:
    async def reserve(scope: str, *failed: str) -> None:
        for each in failed:
            await journal.reserve(scope, "request", "big", (1, 1), each)

    asyncio.run(reserve("0/0/0", "", "status 502", "status 502", "no connection"))
    asyncio.run(reserve("0/1/0", "status 502"))
    asyncio.run(reserve("reward_model judge", *(f"odd {i}" for i in range(200))))
    known = journal.failed_tries()
    assert known["", "big"] == {"no connection": 1, "status 502": 3}
    assert 50 < len(known["reward_model judge", "big"]) <= 100
    write(journal, "0/0/0", ANSWER)
    (agent,) = models_used(journal, PLAN, {})
    assert agent.failed == known["", "big"]


def test_a_day_is_noted_once_however_many_answers_it_has(journal: Journal) -> None:
    write(journal, "0/0/0", ANSWER, replace(ANSWER, model="small"))
    write(journal, "0/1/0", ANSWER, ANSWER)
    query = "SELECT count(*) FROM facts WHERE name LIKE 'told [%\"day\"%'"
    ((n,),) = journal.query(query)
    assert n == 2
    assert not [*journal.damaged()]
