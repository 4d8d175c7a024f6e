"""The budget of a run: the cost of answers, and what is left.

Limits are for calls, tokens and money.

A cost that is not known in full is never taken for nothing: sums that lack something
say so.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from gde.data.completion import Completion
from gde.data.plan import Plan, Prices
from gde.errors import RunFailed
from gde.store.journal import Journal

NO_PRICES: Prices = MappingProxyType({})
PER = 1_000_000
"""The number of tokens that a price is for."""
KEPT = "then run `gde resume` (finished work is kept)"
ADVICE = "raise it with `gde resume --set`, or evaluate the finished episodes with `gde rescore`"
Left = Mapping[str, float]
"""The remaining budget by the name of the limit in a plan; only set limits are listed."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """The cost of a number of answers."""

    money: float = 0.0
    """The known part of the cost, in the currency of the prices."""
    calls: int = 0
    """The number of answers."""
    untold: int = 0
    """The number of answers with unknown price or tokens."""
    tokens: int = 0
    """The known tokens of prompts and answers."""
    silent: int = 0
    """The number of answers whose tokens the model did not report."""


def cost_of(answer: Completion, prices: Prices) -> float | None:
    """The money that one answer cost; None where that is not known in full."""
    price = prices.get(answer.model)
    if price is None or answer.n_prompt is None or answer.n_completion is None:
        return None
    for_prompt, for_answer = price
    return (answer.n_prompt * for_prompt + answer.n_completion * for_answer) / PER


def cost_before(
    journal: Journal, prices: Prices, scopes: Collection[str] | None = None
) -> Cost:
    """The cost of all answers in a journal, or of some episodes and parts.

    Answers of the cache are free.
    """
    by = "model" if scopes is None else "model, scope"
    found = journal.query(
        f"SELECT {by}, count(*) AS calls, count(n_prompt + n_completion) AS told,"
        " coalesce(sum(n_prompt), 0) AS prompt, coalesce(sum(n_completion), 0) AS completion,"
        f" coalesce(sum(n_prompt + n_completion), 0) AS tokens FROM calls WHERE NOT cached GROUP BY {by}"
    )
    money = 0.0
    calls = tokens = with_tokens = with_price = 0
    for row in found:
        if scopes is not None and row["scope"] not in scopes:
            continue
        calls += row["calls"]
        tokens += row["tokens"]
        with_tokens += row["told"]
        if row["model"] in prices:
            for_prompt, for_answer = prices[row["model"]]
            money += row["prompt"] * for_prompt + row["completion"] * for_answer
            with_price += row["told"]
    return Cost(
        money=money / PER,
        calls=calls,
        untold=calls - with_price,
        tokens=tokens,
        silent=calls - with_tokens,
    )


def gone(spent: Cost) -> Left:
    """The amounts spent, by the name of their limit."""
    return {
        "max_calls": spent.calls,
        "max_tokens": spent.tokens,
        "max_cost": spent.money,
    }


def left_of(plan: Plan, spent: Cost) -> Left:
    """The remaining budget of a plan after the amounts spent."""
    left = {}
    for name, amount in gone(spent).items():
        limit = getattr(plan, name)
        if limit is not None:
            left[name] = limit - amount
    return left


class Budget:
    """What one process of a run may still ask for.

    Tokens and money are known only once an answer is there, so the answers under way
    may exceed a limit.
    """

    def __init__(
        self, plan: Plan | None, journal: Journal | None, left: Left | None = None
    ) -> None:
        """Take the limits of a plan, and the journal of what was spent before.

        Args:
            plan: holds the limits; None for no limits.
            journal: of the run.
            left: the share of one of several processes in what is left; None where
                there is only one process.
        """
        self._plan = plan
        self._journal = journal
        self._share = left
        self._prices = plan.prices if plan else NO_PRICES
        self._untold = False
        """Whether the number of tokens of some answer is unknown."""
        self._unpriced = False
        """Whether the cost of some answer is unknown."""
        self._in_flight = 0
        self._landed = asyncio.Event()
        """Set when one of the calls in flight is over, and then replaced."""

    @cached_property
    def _left(self) -> dict[str, float]:
        # Computed at the first call, because other processes may spend something until
        # then.
        if self._plan is None:
            return {}
        spent = Cost()
        limited = bool(left_of(self._plan, spent))
        if limited and self._journal is not None:
            spent = cost_before(self._journal, self._prices)
        self._untold = spent.silent > 0
        self._unpriced = spent.untold > 0 and self._plan.max_cost is not None
        return dict(left_of(self._plan, spent) if self._share is None else self._share)

    @asynccontextmanager
    async def call(self, model: str = "") -> AsyncIterator[None]:
        """Make one call of a model inside this context.

        Once the budget is spent, the context waits for the calls under way before it
        raises: they are paid for.

        Raises:
            RunFailed: the budget is spent, or its limits cannot be checked.
        """
        while reason := self._reason(model):
            if not self._in_flight:
                raise RunFailed(reason)
            await self._landed.wait()
        self._in_flight += 1
        try:
            yield
        finally:
            self._in_flight -= 1
            self._landed.set()
            self._landed = asyncio.Event()

    def count(self, answer: Completion) -> None:
        """Take the cost of an answer off what is left."""
        if "max_calls" in self._left:
            self._left["max_calls"] -= 1

        if answer.n_prompt is None or answer.n_completion is None:
            self._untold = True
        elif "max_tokens" in self._left:
            self._left["max_tokens"] -= answer.n_prompt + answer.n_completion

        if "max_cost" in self._left:
            cost = cost_of(answer, self._prices)
            if cost is None:
                self._unpriced = True
            else:
                self._left["max_cost"] -= cost

    def _reason(self, model: str) -> str:
        """Why no call may be made at the moment; empty where one may."""
        for name, left in self._left.items():
            # Each call under way takes one of the calls that are left.
            taken = self._in_flight if name == "max_calls" else 0
            if left <= taken:
                return f"run.{name}={getattr(self._plan, name)} is spent; finished work is kept: {ADVICE}"
        if self._untold and "max_tokens" in self._left:
            return "run.max_tokens cannot be enforced: a model does not report its tokens; set run.max_calls"
        if "max_cost" in self._left and model not in self._prices:
            return f"run.max_cost cannot be enforced without the prices of {model}: set its field prices; {KEPT}"
        if self._unpriced:
            return f"run.max_cost cannot be enforced: the cost of some answers is unknown; set run.max_calls, {KEPT}"
        return ""
