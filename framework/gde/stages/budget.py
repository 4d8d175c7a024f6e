"""What a run may ask of its language models: so many calls, tokens, so much money. When it is spent, the run stops."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gde.data.completion import Completion
from gde.data.plan import Plan, Prices
from gde.errors import RunFailed
from gde.stages.costs import NO_PRICES, Cost, cost_before, cost_of
from gde.store.journal import Journal

KEPT = "what was finished is kept, and `gde resume` goes on"
ADVICE = "raise it in plan.toml and go on with `gde resume`, or take what there is with `gde rescore`"


class Budget:
    """What one process of a run may still ask for. Of several processes each has its share of what was left when it
    began. Tokens are known once they are answered: those under way may go beyond."""

    def __init__(
        self,
        calls: int | None,
        tokens: int | None,
        journal: Journal | None,
        workers: int = 1,
        *,
        money: float | None = None,
        prices: Prices = NO_PRICES,
    ) -> None:
        """Take the limits of the plan, None for none, its prices, and the journal of what was spent before."""
        self._most: dict[str, float | None] = {"max_calls": calls, "max_tokens": tokens, "max_cost": money}
        self._prices = prices
        limited = journal is not None and (calls is not None or tokens is not None)
        spent = spent_before(journal) if journal is not None and limited else (0, 0)
        self._left: dict[str, float] = {
            name: -(-(most - (gone or 0)) // workers)
            for name, most, gone in (("max_calls", calls, spent[0]), ("max_tokens", tokens, spent[1]))
            if most is not None
        }
        self._untold, self._unpriced = None in spent, False
        if money is not None:
            cost = cost_before(journal, prices) if journal is not None else Cost()
            self._left["max_cost"] = (money - cost.money) / workers
            self._unpriced = cost.untold > 0
        self._in_flight = 0
        self._landed: list[asyncio.Future[None]] = []

    @asynccontextmanager
    async def call(self, model: str = "") -> AsyncIterator[None]:
        """One call of a model. When the budget is spent, what is under way is waited for: it is paid for.

        Raises:
            RunFailed: it is spent, or cannot be kept.
        """
        while reason := self._reason(model):
            if not self._in_flight:
                raise RunFailed(reason)
            landed = asyncio.get_running_loop().create_future()
            self._landed.append(landed)
            await landed
        self._in_flight += 1
        try:
            yield
        finally:
            self._in_flight -= 1
            landed_now, self._landed = self._landed, []
            for each in landed_now:
                if not each.done():
                    each.set_result(None)

    def count(self, answer: Completion) -> None:
        """Take off what an answer has cost."""
        if "max_calls" in self._left:
            self._left["max_calls"] -= 1
        if answer.n_prompt is None or answer.n_completion is None:
            self._untold = True
        elif "max_tokens" in self._left:
            self._left["max_tokens"] -= answer.n_prompt + answer.n_completion
        if "max_cost" in self._left:
            cost = cost_of(answer, self._prices)
            self._unpriced |= cost is None
            self._left["max_cost"] -= cost or 0.0

    def _reason(self, model: str) -> str:
        """Why there is no call at the moment; empty where there is."""
        for name, left in self._left.items():
            if left <= (self._in_flight if name == "max_calls" else 0):
                return f"run.{name}={self._most[name]} are spent; what was finished is kept: {ADVICE}"
        if self._untold and "max_tokens" in self._left:
            return "run.max_tokens cannot be kept, for a model does not tell how many it takes: set run.max_calls"
        if "max_cost" in self._left and model not in self._prices:
            return f"run.max_cost cannot be kept without the price of {model}: add it to run.prices; {KEPT}"
        if self._unpriced:
            return f"run.max_cost cannot be kept, for the cost of some answers is not known: set run.max_calls; {KEPT}"
        return ""


def budget_of(plan: Plan, journal: Journal | None, workers: int = 1) -> Budget:
    """The budget of a plan, for one of so many processes."""
    return Budget(plan.max_calls, plan.max_tokens, journal, workers, money=plan.max_cost, prices=plan.prices)


def spent_before(journal: Journal) -> tuple[int, int | None]:
    """How many requests models have answered, and with how many tokens; None where one did not tell."""
    (row,) = journal.query(
        "SELECT count(*), count(n_prompt + n_completion), sum(n_prompt + n_completion) FROM calls WHERE NOT cached"
    )
    calls, told, tokens = row
    return calls, (tokens or 0) if told == calls else None
