"""A budget stops the run, loses nothing that was paid for, and can be raised."""

import asyncio
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gde import (
    Choice,
    Completion,
    GdeError,
    Plan,
    RunFailed,
    evaluate,
    load_evidence,
    resume,
)
from gde.reporting.terminal.screen import screen
from gde.request.catalogue import Catalogue
from gde.runs.evaluating import prepare
from gde.runs.sharing import left_to, shares
from gde.stages.budget import Budget, cost_before
from gde.store.folder import RunFolder
from gde.store.journal import Journal

PLAN = Plan(
    environment="long-corridor",
    agent="asking-logged",
    metrics=["success"],
    episodes=5,
    concurrency=3,
)
TOLD = Completion(text="", reasoning=None, finish="stop", n_prompt=3, n_completion=2)
UNTOLD = replace(TOLD, n_completion=None)


def limited(**limits: Any) -> Budget:
    """The budget of a plan with these."""
    return Budget(replace(PLAN, **limits), None)


def spend(budget: Budget, answers: list[Completion]) -> int:
    """Call for all at once. Gives how many were answered before it was over."""
    given = 0

    async def one(answer: Completion) -> None:
        nonlocal given
        async with budget.call():
            await asyncio.sleep(0)
            budget.count(answer)
        given += 1

    async def together() -> None:
        await asyncio.gather(*map(one, answers), return_exceptions=True)

    asyncio.run(together())
    return given


def test_no_more_calls_are_made_than_there_are() -> None:
    assert spend(limited(max_calls=4), [TOLD] * 9) == 4
    assert spend(limited(), [UNTOLD] * 9) == 9


@pytest.mark.parametrize("died", [False, True])
def test_workers_share_what_is_left_and_no_death_adds_to_it(
    died: bool, tmp_path: Path, catalogue: Catalogue
) -> None:
    """Three shares of ten calls, of which the first had four before the run was
    resumed.
    """
    ready = prepare(replace(PLAN, max_calls=14), catalogue)
    with closing(Journal.create(tmp_path / "run.sqlite")) as journal:
        for turn in range(4):
            asyncio.run(journal.call("0/0/0", turn, replace(TOLD, request=str(turn))))
        parts = shares(ready, ((),), journal, 3)
        if died:  # after two more answers
            for turn in range(4, 6):
                asyncio.run(
                    journal.call("0/0/0", turn, replace(TOLD, request=str(turn)))
                )
        left = [left_to(share, journal) for share in parts]
    assert left == [
        {"max_calls": 2.0 if died else 4.0},
        {"max_calls": 3.0},
        {"max_calls": 3.0},
    ]
    assert spend(Budget(ready.plan, None, left[1]), [TOLD] * 20) == 3


def test_what_workers_have_spent_is_known_to_what_comes_after_them(
    tmp_path: Path, asking: Catalogue
) -> None:
    """A judge asks after the rollout, of the same budget."""
    log = tmp_path / "log"
    judge = Choice(name="progress-judge", config={"model": f"noted:{log}"})
    request = replace(PLAN, agent="asking", rewards=[judge], models=[])
    with pytest.raises(RunFailed, match="is spent"):
        evaluate(
            replace(request, max_calls=turns(request, tmp_path, asking) + 2),
            tmp_path / "run",
            asking,
        )
    assert len(log.read_text().splitlines()) == 2


def turns(request: Plan, folder: Path, catalogue: Catalogue) -> int:
    """As many as the agent's calls."""
    return evaluate(
        replace(request, rewards=[]), folder / "whole", catalogue
    ).subject.turns


def test_tokens_are_counted_as_they_are_told() -> None:
    budget = limited(max_tokens=12)
    assert [spend(budget, [TOLD]) for _ in range(4)] == [1, 1, 1, 0]


def test_tokens_that_are_not_told_are_not_taken_for_none() -> None:
    async def another(budget: Budget) -> None:
        async with budget.call():
            pass

    budget = limited(max_tokens=1000)
    assert spend(budget, [UNTOLD]) == 1
    with pytest.raises(
        RunFailed, match=r"run\.max_tokens cannot be enforced.*; set run\.max_calls"
    ):
        asyncio.run(another(budget))


@pytest.mark.parametrize("limit", ["max_calls", "max_tokens"])
def test_a_run_stops_when_it_is_spent_and_goes_on_when_it_is_raised(
    limit: str, tmp_path: Path, catalogue: Catalogue
) -> None:
    plan = replace(
        PLAN, models=[Choice(name="", config={"log": str(tmp_path / "log")})]
    )
    undisturbed = evaluate(plan, tmp_path / "undisturbed", catalogue)
    wanted = replace(plan, **{limit: {"max_calls": 11, "max_tokens": 900}[limit]})
    (tmp_path / "log").unlink()
    with pytest.raises(
        RunFailed,
        match=rf"run\.{limit}=\d+ is spent; finished work is kept: raise it with `gde resume",
    ):
        evaluate(wanted, tmp_path / "run", catalogue)
    folder = RunFolder.open(tmp_path / "run")
    with closing(folder.journal()) as journal:
        spent = cost_before(journal, {})
        assert journal.failed_episodes() == []
    assert (
        len((tmp_path / "log").read_text().splitlines()) == spent.calls
    )  # none was paid for and lost
    assert spent.calls == 11 if limit == "max_calls" else spent.tokens >= 900
    with pytest.raises(RunFailed, match="is spent"):
        resume(folder.path, catalogue)
    raised = resume(folder.path, catalogue, settings=[f"run.{limit}=none"])
    assert raised.measurements == undisturbed.measurements
    assert getattr(folder.plan(), limit) is None
    assert (
        load_evidence(folder.path).trajectories
        == load_evidence(tmp_path / "undisturbed").trajectories
    )


PRICED = (Choice(name="m", config={"prices": (1_000_000.0, 2_000_000.0)}),)
"""A token of a prompt costs 1, one of an answer 2: an answer as `TOLD` 7."""


def paid(budget: Budget, answers: list[Completion], model: str = "m") -> int:
    """Call for one after another. Gives how many were answered before it was over."""

    async def one(answer: Completion) -> None:
        async with budget.call(model):
            budget.count(replace(answer, model=model))

    for given, answer in enumerate(answers):
        try:
            asyncio.run(one(answer))
        except RunFailed:
            return given
    return len(answers)


@pytest.mark.parametrize(
    ("money", "answers"), [(6.9, 1), (7.0, 1), (7.1, 2), (70.0, 10)]
)
def test_money_is_counted_by_prices(money: float, answers: int) -> None:
    assert paid(limited(max_cost=money, models=PRICED), [TOLD] * 12) == answers


def test_what_an_answer_cost_is_not_taken_for_nothing_where_it_is_not_known() -> None:
    budget = limited(max_cost=1e9, models=PRICED)
    assert paid(budget, [TOLD, UNTOLD, TOLD]) == 2
    with pytest.raises(
        RunFailed, match=r"the cost of some answers is unknown; set run\.max_calls"
    ):
        asyncio.run(_call(budget, "m"))


def test_a_model_without_a_price_is_not_asked() -> None:
    with pytest.raises(
        RunFailed, match="without the prices of other: set its field prices"
    ):
        asyncio.run(_call(limited(max_cost=1.0, models=PRICED), "other"))


async def _call(budget: Budget, model: str) -> None:
    async with budget.call(model):
        raise AssertionError("asked")


def test_a_run_stops_when_its_money_is_spent_and_tells_what_it_has_cost(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    plan = replace(
        PLAN, models=[Choice(name="", config={"log": str(tmp_path / "log")})]
    )
    undisturbed = evaluate(plan, tmp_path / "undisturbed", catalogue)
    assert [one.usage.cost for one in undisturbed.models] == [None]
    priced = {"log": str(tmp_path / "log"), "prices": (1e6, 1e6)}
    models = [Choice(name="", config=priced)]
    wanted = replace(plan, max_cost=900.0, models=models)
    with pytest.raises(
        RunFailed,
        match=r"run\.max_cost=900\.0 is spent; finished work is kept: raise it with `gde resume",
    ):
        evaluate(wanted, tmp_path / "run", catalogue)
    folder = RunFolder.open(tmp_path / "run")
    prices = folder.plan().prices
    model = str(undisturbed.subject.model)
    assert (folder.plan().max_cost, prices) == (900.0, {model: (1e6, 1e6)})
    with closing(folder.journal()) as journal:
        spent = cost_before(journal, prices)
        assert (
            journal.failed_episodes() == [] and spent.money >= 900 and spent.untold == 0
        )
        assert spent.tokens == spent.money
    result = resume(folder.path, catalogue, settings=["run.max_cost=none"])
    assert result.measurements == undisturbed.measurements
    with closing(folder.journal()) as journal:
        whole = cost_before(journal, prices)
    (use,) = result.models
    assert use.usage.cost == whole.money > spent.money
    assert f"cost {whole.money:.2f}" in " ".join(screen(result).header)


def test_a_model_without_a_price_is_refused_before_anything_runs(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    with pytest.raises(
        GdeError,
        match=r"run\.max_cost: wanted the prices of model '\S+', got none; --set model\.prices=",
    ):
        evaluate(replace(PLAN, max_cost=1.0), tmp_path / "run", catalogue)
    assert not (tmp_path / "run").exists()
