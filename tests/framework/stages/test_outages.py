"""A model out of reach stops the run, which resumes where it was; a short outage costs
no episode.
"""

import asyncio
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import outage_parts
import pytest
from outage_parts import Outage

from gde import How, Plan, RunFailed, Unavailable, evaluate, load_evidence, resume
from gde.request.catalogue import Catalogue, load_plugins
from gde.stages.outages import PATIENCE, Reach, SecondChances
from gde.store.folder import RunFolder

AWAY = Unavailable("no server here")
PLAN = Plan(
    environment="long-corridor",
    agent="asking-flickering",
    metrics=["success"],
    episodes=6,
    seed=3,
)


@pytest.fixture
def flickering() -> Catalogue:
    return Catalogue(
        load_plugins(modules=("gde.testing.plugin", "odd_parts", "outage_parts"))
    )


def outage(monkeypatch: pytest.MonkeyPatch, **when: object) -> None:
    monkeypatch.setattr(outage_parts, "OUTAGE", Outage(**when))  # type: ignore[arg-type]


def test_after_some_requests_in_a_row_without_answer_the_run_stops() -> None:
    reach = Reach()
    for _ in range(PATIENCE - 1):
        reach.unanswered("m", AWAY)
    reach.answered("m")
    for _ in range(PATIENCE - 1):
        reach.unanswered("m", AWAY)
    reach.answered("another")
    with pytest.raises(
        RunFailed,
        match=r"^no server here; no later request succeeded; run stopped.* with `gde resume`",
    ):
        reach.unanswered("m", AWAY)


def test_what_is_put_back_comes_once_more_after_all_others() -> None:
    reach, came = Reach(), []

    items = SecondChances([1, 2, 3], reach)

    async def work(item: int) -> None:
        came.append(item)
        if item != 1:
            reach.answered("m")
        elif not items.put_back(
            item, "1", AWAY
        ):  # others were answered: it is its own fault
            came.append("failed")

    asyncio.run(items.handle(work))
    assert came == [1, 2, 3, 1, "failed"]


def test_where_nobody_was_answered_meanwhile_it_is_no_fault_of_its_own() -> None:
    items = SecondChances([1], Reach())

    async def work(item: int) -> None:
        items.put_back(item, "1", AWAY)

    with pytest.raises(RunFailed, match="no server here"):
        asyncio.run(items.handle(work))


def test_a_request_that_makes_a_server_fail_does_not_stop_the_run() -> None:
    """The last item, which fails whenever it is asked: nobody else can be answered."""
    failed = []

    items = SecondChances([1], Reach())

    async def work(item: int) -> None:
        error = Unavailable("the server failed", request=True)
        if not items.put_back(item, "1", error):
            failed.append(item)

    asyncio.run(items.handle(work))
    assert failed == [1]


def test_what_is_put_back_waits_for_those_that_are_under_way() -> None:
    reach = Reach()
    items, came = SecondChances([1, 2], reach), []

    async def work(item: int) -> None:
        if item == 1 and not came:
            items.put_back(item, "1", AWAY)
        elif item == 2:
            await asyncio.sleep(0.05)
            reach.answered("m")
        came.append(item)

    asyncio.run(items.handle(work, at_once=2))
    assert came == [1, 2, 1]


@pytest.mark.parametrize("agent", ["asking-flickering", "swallowing-flickering"])
@pytest.mark.parametrize("concurrency", [1, 5])
@pytest.mark.parametrize("after", [0, 20])
def test_an_outage_stops_the_run_and_fails_no_episode(
    agent: str,
    concurrency: int,
    after: int,
    tmp_path: Path,
    flickering: Catalogue,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wanted, how = replace(PLAN, agent=agent), How(concurrency=concurrency)
    outage(monkeypatch)
    undisturbed = evaluate(wanted, tmp_path / "undisturbed", flickering, how=how)
    outage(monkeypatch, after=after)
    with pytest.raises(RunFailed, match="no later request succeeded; run stopped"):
        evaluate(wanted, tmp_path / "run", flickering, how=how)
    assert len(outage_parts.OUTAGE.asked) <= after + PATIENCE + concurrency
    with closing(RunFolder.open(tmp_path / "run").journal()) as journal:
        assert journal.failed_episodes() == []
    outage(monkeypatch)
    result = resume(tmp_path / "run", flickering)
    assert (result.status, result.measurements) == ("ok", undisturbed.measurements)
    assert (
        load_evidence(tmp_path / "run").trajectories
        == load_evidence(tmp_path / "undisturbed").trajectories
    )


def test_a_moment_s_outage_costs_no_episode(
    tmp_path: Path, flickering: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    outage(monkeypatch)
    undisturbed = evaluate(PLAN, tmp_path / "undisturbed", flickering)
    outage(monkeypatch, at=frozenset({4, 5}))
    result = evaluate(PLAN, tmp_path / "run", flickering)
    assert (result.status, result.measurements) == ("ok", undisturbed.measurements)


def test_a_request_that_alone_is_never_answered_fails_its_episode(
    tmp_path: Path, flickering: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = How(concurrency=1)
    outage(monkeypatch)
    evaluate(PLAN, tmp_path / "undisturbed", flickering, how=alone)
    outage(monkeypatch, seeds=frozenset(outage_parts.OUTAGE.asked[:1]))
    result = evaluate(PLAN, tmp_path / "run", flickering, how=alone)
    assert [(one.subject, one.reason) for one in result.failures] == [
        ("0/0/0", "no server here")
    ]
    outage(monkeypatch)
    again = resume(tmp_path / "run", flickering, retry_failed=True)
    assert again.subject.retried == 1


def test_judgements_wait_for_the_end_of_an_outage_as_well(
    tmp_path: Path, flickering: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = replace(PLAN, rewards=["judge-flickering"])
    outage(monkeypatch)
    evaluate(judged, tmp_path / "undisturbed", flickering)
    n_turns = sum(
        len(one.turns) for one in load_evidence(tmp_path / "undisturbed").trajectories
    )
    outage(monkeypatch, after=n_turns + 5)
    with pytest.raises(RunFailed, match="no later request succeeded"):
        evaluate(judged, tmp_path / "run", flickering)
    outage(monkeypatch, at=frozenset({1}))
    assert resume(tmp_path / "run", flickering).status == "ok"
    traces = [
        load_evidence(tmp_path / run).reward_traces for run in ("run", "undisturbed")
    ]
    assert [one.values.tolist() for one in traces[0]] == [
        one.values.tolist() for one in traces[1]
    ]
