"""A budget stops the run, loses nothing that was paid for, and can be raised."""

import asyncio
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from gde import Completion, Plan, RunFailed, evaluate, load_evidence, resume
from gde.request.catalogue import Catalogue
from gde.request.planfile import write_plan
from gde.stages.budget import Budget, spent_before
from gde.store.folder import RunFolder

PLAN = Plan(environment="long-corridor", agent="asking-logged", metrics=["success"], episodes=5, concurrency=3)
TOLD = Completion(text="", reasoning=None, finish="stop", n_prompt=3, n_completion=2)
UNTOLD = replace(TOLD, n_completion=None)


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
    assert spend(Budget(4, None, None), [TOLD] * 9) == 4
    assert spend(Budget(None, None, None), [UNTOLD] * 9) == 9


@pytest.mark.parametrize(("calls", "shares"), [(9, 3), (10, 4), (1, 1)])
def test_workers_share(calls: int, shares: int) -> None:
    assert spend(Budget(calls, None, None, workers=3), [TOLD] * 20) == shares


def test_tokens_are_counted_as_they_are_told() -> None:
    budget = Budget(None, 12, None)
    assert [spend(budget, [TOLD]) for _ in range(4)] == [1, 1, 1, 0]


def test_tokens_that_are_not_told_are_not_taken_for_none() -> None:
    async def another(budget: Budget) -> None:
        async with budget.call():
            pass

    budget = Budget(None, 1000, None)
    assert spend(budget, [UNTOLD]) == 1
    with pytest.raises(RunFailed, match=r"run\.max_tokens cannot be kept.*: set run\.max_calls"):
        asyncio.run(another(budget))


@pytest.mark.parametrize("limit", ["max_calls", "max_tokens"])
def test_a_run_stops_when_it_is_spent_and_goes_on_when_it_is_raised(
    limit: str, tmp_path: Path, catalogue: Catalogue
) -> None:
    plan = replace(PLAN, language_model={"log": str(tmp_path / "log")})
    undisturbed = evaluate(plan, tmp_path / "undisturbed", catalogue)
    wanted = replace(plan, **{limit: {"max_calls": 11, "max_tokens": 900}[limit]})
    (tmp_path / "log").unlink()
    with pytest.raises(RunFailed, match=rf"run\.{limit}=\d+ are spent; what was finished is kept: raise it in plan"):
        evaluate(wanted, tmp_path / "run", catalogue)
    folder = RunFolder.open(tmp_path / "run")
    with closing(folder.journal()) as journal:
        calls, tokens = spent_before(journal)
        assert journal.failed_episodes() == []
    assert len((tmp_path / "log").read_text().splitlines()) == calls  # none was paid for and lost
    assert calls == 11 if limit == "max_calls" else tokens is not None and tokens >= 900
    with pytest.raises(RunFailed, match="are spent"):
        resume(folder.path, catalogue)
    (folder.path / "plan.toml").write_text(write_plan(replace(folder.plan(), **{limit: None})))
    assert resume(folder.path, catalogue).measurements == undisturbed.measurements
    assert load_evidence(folder.path).trajectories == load_evidence(tmp_path / "undisturbed").trajectories
