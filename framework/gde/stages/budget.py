"""What a run may ask of its language models: so many calls, tokens, so much money. When it is spent, the run stops."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cached_property

from gde.data.completion import Completion
from gde.data.plan import Plan
from gde.errors import RunFailed
from gde.stages.costs import NO_PRICES, Cost, cost_before, cost_of
from gde.store.journal import Journal

KEPT = "what was finished is kept, and `gde resume` goes on"
ADVICE = "raise it in plan.toml and go on with `gde resume`, or take what there is with `gde rescore`"


Left = Mapping[str, float]
"""What may still be spent, by the name of the limit in a plan; only of limits that there are."""


def gone(spent: Cost) -> Left:
    """What was spent, by the name of its limit."""
    return {"max_calls": spent.calls, "max_tokens": spent.tokens, "max_cost": spent.money}


def left_of(plan: Plan, spent: Cost) -> Left:
    """What a plan allows beyond what was spent."""
    return {name: getattr(plan, name) - each for name, each in gone(spent).items() if getattr(plan, name) is not None}


class Budget:
    """What one process of a run may still ask for. Tokens are known once they are answered: those under way may go
    beyond."""

    def __init__(self, plan: Plan | None, journal: Journal | None, left: Left | None = None) -> None:
        """Take the limits of a plan, none for None, and the journal of what was spent before the first call. `left` is
        one of several processes' share of what is left."""
        self._plan, self._journal = plan, journal
        self._share = left
        self._prices = plan.prices if plan else NO_PRICES
        self._untold = self._unpriced = False
        self._in_flight = 0
        self._landed: list[asyncio.Future[None]] = []

    @cached_property
    def _left(self) -> dict[str, float]:
        """Found out at the first call: other processes may have spent of it until then."""
        if self._plan is None:
            return {}
        limited = bool(left_of(self._plan, Cost()))
        spent = cost_before(self._journal, self._prices) if limited and self._journal is not None else Cost()
        self._untold, self._unpriced = spent.silent > 0, spent.untold > 0 and self._plan.max_cost is not None
        return dict(left_of(self._plan, spent) if self._share is None else self._share)

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
                return f"run.{name}={getattr(self._plan, name)} are spent; what was finished is kept: {ADVICE}"
        if self._untold and "max_tokens" in self._left:
            return "run.max_tokens cannot be kept, for a model does not tell how many it takes: set run.max_calls"
        if "max_cost" in self._left and model not in self._prices:
            return f"run.max_cost cannot be kept without the price of {model}: add it to run.prices; {KEPT}"
        if self._unpriced:
            return f"run.max_cost cannot be kept, for the cost of some answers is not known: set run.max_calls; {KEPT}"
        return ""


def spent_before(journal: Journal) -> tuple[int, int | None]:
    """How many requests models have answered, and with how many tokens; None where one did not tell."""
    spent = cost_before(journal, NO_PRICES)
    return spent.calls, None if spent.silent else spent.tokens
