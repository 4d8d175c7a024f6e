"""A budget stops the run, loses nothing that was paid for, and can be raised."""

import asyncio
import re
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from gde import (
    ChatRequest,
    Choice,
    Completion,
    GdeError,
    How,
    Message,
    Plan,
    RunFailed,
    Sampling,
    evaluate,
    load_evidence,
    resume,
)
from gde.before.preparing import prepare
from gde.data.json import Json
from gde.parts.language_model import send_again
from gde.reporting.terminal.screen import screen
from gde.request.catalogue import Catalogue
from gde.request.planfile import plan_hash
from gde.runs.sharing import left_to, shares
from gde.stages.budget import Budget, cost_before, most_tokens
from gde.store.folder import RunFolder
from gde.store.journal import Journal

PLAN = Plan(
    environment="long-corridor",
    agent="asking-logged",
    metrics=["success"],
    episodes=5,
)
HOW = How(concurrency=3)
TOLD = Completion(text="", reasoning=None, finish="stop", n_prompt=3, n_completion=2)
UNTOLD = replace(TOLD, n_completion=None)


@dataclass
class Answering:
    """A model that gives these answers one after another, each after some tries."""

    answers: list[Completion]
    tries: int = 1
    asked: int = 0

    async def complete(self, request: ChatRequest) -> Completion:
        for again in range(self.tries):
            if again:
                await send_again()
            self.asked += 1
            await asyncio.sleep(0)
        if not self.answers:
            raise GdeError("unusable")
        return self.answers.pop(0)


def question(n: int) -> ChatRequest:
    messages = (Message(role="user", content="where?"),)
    return ChatRequest(messages=messages, seed=n, sampling=Sampling(max_tokens=100))


MOST = sum(most_tokens(question(0)))
"""Tokens that one question may take."""


def limited(**limits: Any) -> Budget:
    """The budget of a run with these."""
    return Budget(How(**limits), None)


def spend(
    budget: Budget, answers: list[Completion], model: str = "m", tries: int = 1
) -> int:
    """Ask for all at once. Gives how many were answered before it was over."""
    answering: Any = Answering(list(answers), tries)

    async def together() -> int:
        calls = [
            budget.answered("0/0/0", model, answering, question(n))
            for n in range(len(answers))
        ]
        given = await asyncio.gather(*calls, return_exceptions=True)
        return sum(isinstance(each, Completion) for each in given)

    return asyncio.run(together())


def test_no_more_calls_are_made_than_there_are() -> None:
    assert spend(limited(max_calls=4), [TOLD] * 9) == 4
    assert spend(limited(), [UNTOLD] * 9) == 9


def asked(budget: Budget, answering: Any, times: int) -> int:
    """Ask so often at once; how often the model was asked before it was over."""

    async def together() -> None:
        calls = [
            budget.answered("0/0/0", "m", answering, question(n)) for n in range(times)
        ]
        await asyncio.gather(*calls, return_exceptions=True)

    asyncio.run(together())
    return int(answering.asked)


def test_retries_and_unusable_answers_are_calls() -> None:
    assert asked(limited(max_calls=5), Answering([TOLD] * 9, tries=3), 9) == 5
    assert asked(limited(max_calls=4), Answering([]), 9) == 4


def test_what_a_request_may_take_is_reserved_until_its_answer_is_there() -> None:
    # Of three at once the budget has room for two, and then for what these leave.
    answering = Answering([TOLD] * 3)
    budget = limited(max_tokens=2 * MOST)
    assert asked(budget, answering, 3) == 3
    spent = sum((TOLD.n_prompt, TOLD.n_completion))  # type: ignore[arg-type]
    assert asked(limited(max_tokens=2 * MOST - 1), Answering([TOLD] * 2), 2) == 2
    assert asked(limited(max_tokens=MOST - 1), Answering([TOLD]), 1) == 0
    assert asked(limited(max_tokens=MOST + spent), Answering([TOLD] * 9), 9) == 2


def test_what_was_sent_and_not_answered_is_counted_at_its_most(tmp_path: Path) -> None:
    with closing(Journal.create(tmp_path / "run.sqlite")) as journal:
        how = How(max_calls=9)
        asked(Budget(how, journal), Answering([TOLD], tries=2), 2)
        spent = cost_before(journal, {"m": (1e6, 1e6)})
        left = Budget(how, journal)
        assert asked(left, Answering([TOLD] * 9), 9) == 9 - 4
    assert (spent.calls, spent.unsettled) == (4, 3)
    assert spent.tokens == spent.money == 5 + 3 * MOST


async def answer(journal: Journal, turn: int) -> None:
    await journal.reserve("0/0/0", str(turn), "m", (3, 9))
    journal.settle("0/0/0", str(turn), TOLD)
    await asyncio.sleep(0)


@pytest.mark.parametrize("died", [False, True])
def test_workers_share_what_is_left_and_no_death_adds_to_it(
    died: bool, tmp_path: Path, catalogue: Catalogue
) -> None:
    """Three shares of ten calls, of which the first had four before the run was
    resumed.
    """
    ready = prepare(PLAN, catalogue, replace(HOW, max_calls=14))
    with closing(Journal.create(tmp_path / "run.sqlite")) as journal:
        for turn in range(4):
            asyncio.run(answer(journal, turn))
        parts = shares(ready, ((),), journal, 3)
        if died:  # after two more answers
            for turn in range(4, 6):
                asyncio.run(answer(journal, turn))
        left = [left_to(share, journal) for share in parts]
    assert left == [
        {"max_calls": 2.0 if died else 4.0},
        {"max_calls": 3.0},
        {"max_calls": 3.0},
    ]
    assert spend(Budget(ready.how, None, left[1]), [TOLD] * 20) == 3


def test_what_workers_have_spent_is_known_to_what_comes_after_them(
    tmp_path: Path, asking: Catalogue
) -> None:
    """A judge asks after the rollout, of the same budget."""
    log = tmp_path / "log"
    judge = Choice(name="progress-judge", config={"model": f"noted:{log}"})
    request = replace(PLAN, agent="asking", rewards=[judge], models=[])
    with pytest.raises(RunFailed, match="is spent"):
        evaluate(
            request,
            tmp_path / "run",
            asking,
            how=replace(HOW, max_calls=turns(request, tmp_path, asking) + 2),
        )
    assert len(log.read_text().splitlines()) == 2


def turns(request: Plan, folder: Path, catalogue: Catalogue) -> int:
    """As many as the agent's calls."""
    return evaluate(
        replace(request, rewards=[]), folder / "whole", catalogue
    ).subject.turns


def test_tokens_are_counted_as_they_are_told() -> None:
    budget = limited(max_tokens=MOST + 12)
    assert [spend(budget, [TOLD]) for _ in range(4)] == [1, 1, 1, 0]


def refusal(budget: Budget, model: str = "m") -> str:
    """Why a further question is not asked."""
    with pytest.raises(RunFailed) as refused:
        asyncio.run(
            budget.answered("0/0/0", model, Answering([TOLD]), question(99))  # type: ignore[arg-type]
        )
    return str(refused.value)


def test_tokens_that_are_not_told_are_not_taken_for_none() -> None:
    budget = limited(max_tokens=2000)
    assert spend(budget, [UNTOLD]) == 1
    assert re.search(
        r"run\.max_tokens cannot be enforced.*; set run\.max_calls", refusal(budget)
    )


@pytest.mark.parametrize("limits", [{"max_tokens": 10**6}, {"max_cost": 1e9}])
@pytest.mark.parametrize("shared", [False, True])
def test_a_resumed_run_knows_that_a_model_does_not_tell_its_tokens(
    limits: dict[str, float], shared: bool, tmp_path: Path
) -> None:
    """Its answers of before the stop are in the journal; so they are for a worker."""
    how = How(settings=PRICED, **limits)  # type: ignore[arg-type]
    with closing(Journal.create(tmp_path / "run.sqlite")) as journal:
        assert spend(Budget(how, journal), [UNTOLD]) == 1
        again = Budget(how, journal, limits if shared else None)
        (name,) = limits
        assert f"run.{name} cannot be enforced: " in refusal(again)


def test_too_little_for_one_request_is_said() -> None:
    budget = limited(max_tokens=MOST - 1)
    assert f"is spent but for {MOST - 1}, and one request may take {MOST};" in refusal(
        budget
    )


@pytest.mark.parametrize("limit", ["max_calls", "max_tokens"])
def test_a_run_stops_when_it_is_spent_and_goes_on_when_it_is_raised(
    limit: str, tmp_path: Path, catalogue: Catalogue
) -> None:
    plan = replace(
        PLAN, models=[Choice(name="", config={"log": str(tmp_path / "log")})]
    )
    undisturbed = evaluate(plan, tmp_path / "undisturbed", catalogue, how=HOW)
    amounts: dict[str, Any] = {"max_calls": 11, "max_tokens": 11_000}
    limited_how = replace(HOW, **{limit: amounts[limit]})
    (tmp_path / "log").unlink()
    with pytest.raises(
        RunFailed,
        match=rf"run\.{limit}=\d+ is spent.*; finished work is kept: raise it with `gde resume",
    ):
        evaluate(plan, tmp_path / "run", catalogue, how=limited_how)
    folder = RunFolder.open(tmp_path / "run")
    with closing(folder.journal()) as journal:
        spent = cost_before(journal, {})
        assert journal.failed_episodes() == []
    assert (
        len((tmp_path / "log").read_text().splitlines()) == spent.calls
    )  # none was paid for and lost
    assert spent.calls == 11 if limit == "max_calls" else 0 < spent.tokens <= 11_000
    with pytest.raises(RunFailed, match="is spent"):
        resume(folder.path, catalogue)
    changes: dict[str, Any] = {limit: None}
    raised = resume(folder.path, catalogue, how=replace(folder.last_how(), **changes))
    assert raised.measurements == undisturbed.measurements
    assert getattr(folder.last_how(), limit) is None
    assert (
        load_evidence(folder.path).trajectories
        == load_evidence(tmp_path / "undisturbed").trajectories
    )


PRICED = {"m": {"prices": [1_000_000.0, 2_000_000.0]}}
"""A token of a prompt costs 1, one of an answer 2: an answer as `TOLD` 7."""


def paid(budget: Budget, answers: list[Completion]) -> int:
    """Ask for one after another. Gives how many were answered before it was over."""
    return sum(spend(budget, [answer]) for answer in answers)


MOST_MONEY = (MOST - 100) * 1 + 100 * 2
"""What one question may cost."""


@pytest.mark.parametrize(
    ("money", "answers"), [(-0.1, 0), (0.0, 1), (6.9, 1), (7.0, 2), (63.0, 10)]
)
def test_money_is_counted_by_prices(money: float, answers: int) -> None:
    budget = limited(max_cost=MOST_MONEY + money, settings=PRICED)
    assert paid(budget, [TOLD] * 12) == answers


def test_what_an_answer_cost_is_not_taken_for_nothing_where_it_is_not_known() -> None:
    budget = limited(max_cost=1e9, settings=PRICED)
    assert paid(budget, [TOLD, UNTOLD, TOLD]) == 2
    assert re.search(
        r"the cost of some answers is unknown; set run\.max_calls", refusal(budget)
    )


def test_a_model_without_a_price_is_not_asked() -> None:
    budget = limited(max_cost=1.0, settings=PRICED)
    assert "without the prices of other: set its field prices" in refusal(
        budget, "other"
    )


def test_a_run_stops_when_its_money_is_spent_and_tells_what_it_has_cost(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    plan = replace(
        PLAN, models=[Choice(name="", config={"log": str(tmp_path / "log")})]
    )
    undisturbed = evaluate(plan, tmp_path / "undisturbed", catalogue, how=HOW)
    assert [one.usage.cost for one in undisturbed.models] == [None]
    priced: dict[str, Json] = {"log": str(tmp_path / "log"), "prices": [1e6, 1e6]}
    models = [Choice(name="", config=priced)]
    wanted = replace(plan, models=models)
    assert plan_hash(prepare(wanted, catalogue).plan) == undisturbed.plan_hash
    with pytest.raises(
        RunFailed,
        match=r"run\.max_cost=11000\.0 is spent.*; finished work is kept: raise it with `gde resume",
    ):
        how = replace(HOW, max_cost=11_000.0)
        evaluate(wanted, tmp_path / "run", catalogue, how=how)
    folder = RunFolder.open(tmp_path / "run")
    last = folder.last_how()
    prices = last.prices
    model = str(undisturbed.subject.model)
    assert (last.max_cost, prices) == (11_000.0, {model: (1e6, 1e6)})
    with closing(folder.journal()) as journal:
        spent = cost_before(journal, prices)
        assert (
            journal.failed_episodes() == []
            and 0 < spent.money <= 11_000
            and spent.untold == 0
        )
        assert spent.tokens == spent.money
    with pytest.raises(RunFailed, match="is spent"):
        resume(folder.path, catalogue)
    result = resume(folder.path, catalogue, how=replace(last, max_cost=None))
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
        match=r"run\.max_cost: wanted the prices of model '\S+', got none; set model\.prices=",
    ):
        evaluate(PLAN, tmp_path / "run", catalogue, how=How(max_cost=1.0))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("limit", ["max_tokens", "max_cost"])
def test_a_limit_below_one_request_is_refused_before_anything_runs(
    limit: str, tmp_path: Path, catalogue: Catalogue
) -> None:
    config: dict[str, Json] = {"prices": [1e6, 1e6], "log": str(tmp_path / "log")}
    plan = replace(PLAN, models=[Choice(name="", config=config)], episodes=1)
    run = tmp_path / "run"

    def limited_to(amount: int) -> How:
        return How(max_cost=amount) if limit == "max_cost" else How(max_tokens=amount)

    refusal = rf"run\.{limit}=1: one request may take ([0-9]+); raise it"
    with pytest.raises(GdeError, match=refusal) as refused:
        evaluate(plan, run, catalogue, how=limited_to(1))
    found = re.search(refusal, str(refused.value))
    assert found is not None
    least = int(found[1])
    with pytest.raises(GdeError, match=f"={least - 1}: one request may take {least};"):
        evaluate(plan, run, catalogue, how=limited_to(least - 1))
    assert not run.exists()

    # So much is enough for one request, and not for two.
    with pytest.raises(RunFailed, match="is spent but for"):
        evaluate(plan, run, catalogue, how=limited_to(least))
    with closing(RunFolder.open(run).journal()) as journal:
        assert cost_before(journal, {}).calls >= 1


def test_a_worker_that_outlives_its_run_asks_no_more(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    with closing(Journal.create(path)) as run, closing(Journal.open(path)) as orphan:
        with run.asking_alone():
            orphan.asker = run.asker
            asyncio.run(answer(orphan, 0))

        # Nor before the next process begins, nor beside it.
        with pytest.raises(RunFailed, match="another process goes on"):
            asyncio.run(answer(orphan, 0))
        with run.asking_alone():
            asyncio.run(answer(run, 1))
            with pytest.raises(RunFailed, match="another process goes on"):
                asyncio.run(answer(orphan, 2))
        assert cost_before(run, {}).calls == 2
        assert run.noted("asker") is None
