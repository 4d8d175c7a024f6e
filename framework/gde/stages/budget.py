"""The budget of a run: the cost of answers, and what is left.

Limits are for calls, tokens and money.

A cost that is not known in full is never taken for nothing: sums that lack something
say so.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from gde.data.completion import ChatRequest, Completion
from gde.data.how import How, Prices
from gde.errors import RunFailed
from gde.parts.language_model import SENDING, LanguageModel
from gde.store.journal import Journal

TEMPLATE = 256
"""Tokens that the template of a model may add to a conversation."""
PER_MESSAGE = 16
"""Tokens that it may add to each message."""
PER = 1_000_000
"""The number of tokens that a price is for."""
KEPT = "then run `gde resume` (finished work is kept)"
ADVICE = (
    "raise it with `gde resume`, or evaluate the finished episodes with `gde rescore`"
)
Left = Mapping[str, float]
"""The remaining budget by the name of the limit in a plan; only set limits are listed."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """The cost of a number of requests."""

    money: float = 0.0
    """The known part of the cost, in the currency of the prices."""
    calls: int = 0
    """The number of requests that were sent, each as often as it was sent."""
    unsettled: int = 0
    """Those that got no answer, which are perhaps billed."""
    untold: int = 0
    """The number of answers with unknown price or tokens."""
    tokens: int = 0
    """The known tokens of prompts and answers, and the most that requests without an
    answer may take.
    """
    silent: int = 0
    """The number of answers whose tokens the model did not report."""


def cost_of(answer: Completion, prices: Prices) -> float | None:
    """The money that one answer cost; None where that is not known in full."""
    price = prices.get(answer.model)
    if price is None or answer.n_prompt is None or answer.n_completion is None:
        return None
    for_prompt, for_answer = price
    return (answer.n_prompt * for_prompt + answer.n_completion * for_answer) / PER


def most_tokens(request: ChatRequest) -> tuple[int, int]:
    """Upper bounds of the tokens of prompt and answer that a request may take.

    No token has less than one byte. Templates and servers add a few of their own.
    """
    n_bytes = TEMPLATE
    for message in request.messages:
        n_bytes += len(message.content.encode()) + PER_MESSAGE
    if request.form is not None:
        n_bytes += len(repr(request.form).encode()) + PER_MESSAGE
    return n_bytes, request.sampling.max_tokens


def cost_before(
    journal: Journal, prices: Prices, scopes: Collection[str] | None = None
) -> Cost:
    """The cost of all requests in a journal, or of some episodes and parts.

    Requests without an answer are perhaps billed, so that they cost the most that they
    may. Answers of the cache are free.
    """
    by = "model" if scopes is None else "model, scope"
    found = journal.query(
        "SELECT *, prompt + completion AS tokens FROM (SELECT model, scope, sum(sent) AS sent,"
        " sum(answered) AS answered, sum(told) AS told,"
        " sum(n_prompt + (sent - answered) * most_prompt) AS prompt,"
        " sum(n_completion + (sent - answered) * most_completion) AS completion"
        f" FROM requests GROUP BY {by})"
    )
    money = 0.0
    calls = tokens = unsettled = silent = with_price = 0
    for row in found:
        if scopes is not None and row["scope"] not in scopes:
            continue
        known = row["sent"] - row["answered"] + row["told"]
        calls += row["sent"]
        tokens += row["tokens"]
        unsettled += row["sent"] - row["answered"]
        silent += row["answered"] - row["told"]
        if row["model"] in prices:
            for_prompt, for_answer = prices[row["model"]]
            money += row["prompt"] * for_prompt + row["completion"] * for_answer
            with_price += known
    return Cost(
        money=money / PER,
        calls=calls,
        untold=calls - with_price,
        tokens=tokens,
        silent=silent,
        unsettled=unsettled,
    )


def gone(spent: Cost) -> Left:
    """The amounts spent, by the name of their limit."""
    return {
        "max_calls": spent.calls,
        "max_tokens": spent.tokens,
        "max_cost": spent.money,
    }


def left_of(how: How, spent: Cost) -> Left:
    """The remaining budget of a run after the amounts spent."""
    left = {}
    for name, amount in gone(spent).items():
        limit = getattr(how, name)
        if limit is not None:
            left[name] = limit - amount
    return left


def needs(
    limits: Iterable[str], prices: Prices, model: str, tokens: tuple[int, int]
) -> Left:
    """What a call with so many tokens of prompt and answer takes of each limit."""
    amounts = {"max_calls": 1.0, "max_tokens": float(sum(tokens))}
    for_prompt, for_answer = prices.get(model, (0.0, 0.0))
    amounts["max_cost"] = (tokens[0] * for_prompt + tokens[1] * for_answer) / PER
    return {limit: amounts[limit] for limit in limits}


class Budget:
    """What one process of a run may still ask for.

    A request is reserved with the most that it may take, in the journal too, before it
    is sent. Its answer gives back what it did not take. So no limit is exceeded,
    whatever ends the process, and what got no answer counts as billed.
    """

    def __init__(
        self,
        how: How,
        journal: Journal | None,
        left: Left | None = None,
    ) -> None:
        """Take the limits of a run, and the journal of what was spent before.

        Args:
            how: holds the limits, and the prices of models.
            journal: of the run.
            left: the share of one of several processes in what is left; None where
                there is only one process.
        """
        self._how = how
        self._journal = journal
        self._share = left
        self._prices = how.prices
        self._untold = False
        """Whether the number of tokens of some answer is unknown."""
        self._unpriced = False
        """Whether the cost of some answer is unknown."""
        self._in_flight = 0
        """Calls whose answer is awaited."""
        self._held = 0
        """Those of them that wait for the budget before a retry."""
        self._landed = asyncio.Event()
        """Set when one of the calls in flight is over, and then replaced."""

    @cached_property
    def _left(self) -> dict[str, float]:
        # Computed at the first call, because other processes may spend something until
        # then.
        spent = Cost()
        limited = bool(left_of(self._how, spent))
        if limited and self._journal is not None:
            spent = cost_before(self._journal, self._prices)
        self._untold = spent.silent > 0
        self._unpriced = spent.untold > 0 and self._how.max_cost is not None
        return dict(left_of(self._how, spent) if self._share is None else self._share)

    async def answered(
        self, scope: str, name: str, model: LanguageModel, request: ChatRequest
    ) -> Completion:
        """Ask a model within the budget.

        Once the budget is spent, this waits for the calls under way, which may give
        something back.

        Args:
            scope: the episode or part that asks.
            name: the model's, as the user named it.
            model: is asked.
            request: the question.

        Raises:
            RunFailed: the budget is spent, or its limits cannot be checked.
            GdeError: the model's own.
        """
        identity = request.asked_of(name)
        most = most_tokens(request)

        async def write(failed: str = "") -> None:
            if self._journal is not None:
                await self._journal.reserve(scope, identity, name, most, failed)

        async def send_again(failed: str) -> None:
            self._held += 1
            try:
                await self._reserve(name, most)
            finally:
                self._held -= 1
            await write(failed)

        await self._reserve(name, most)
        self._in_flight += 1
        token = SENDING.set(send_again)
        try:
            await write()
            answer = replace(await model.complete(request), model=name)
            if self._journal is not None:
                self._journal.settle(scope, identity, answer)
            self._settle(name, most, answer)
        finally:
            SENDING.reset(token)
            self._in_flight -= 1
            self._landed.set()
            self._landed = asyncio.Event()
        return answer

    async def _reserve(self, name: str, most: tuple[int, int]) -> None:
        while reason := self._reason(name, most):
            # Calls that wait here themselves give nothing back.
            if self._in_flight == self._held:
                raise RunFailed(reason)
            await self._landed.wait()
        for limit, amount in needs(self._left, self._prices, name, most).items():
            self._left[limit] -= amount

    def _settle(self, name: str, most: tuple[int, int], answer: Completion) -> None:
        """Give back what an answer did not take of its reservation."""
        if answer.n_prompt is None or answer.n_completion is None:
            self._untold = True
            self._unpriced = self._unpriced or "max_cost" in self._left
            return
        told = (answer.n_prompt, answer.n_completion)
        reserved = needs(self._left, self._prices, name, most)
        taken = needs(self._left, self._prices, name, told)
        for limit, amount in reserved.items():
            self._left[limit] += amount - taken[limit]

    def _reason(self, name: str, most: tuple[int, int]) -> str:
        """Why no call may be made at the moment; empty where one may."""
        needed = needs(self._left, self._prices, name, most)
        for limit, left in self._left.items():
            if left <= 0 or left < needed[limit]:
                rest = ""
                if left > 0:
                    rest = (
                        f" but for {left:g}, and one request may take {needed[limit]:g}"
                    )
                spent = f"run.{limit}={getattr(self._how, limit)} is spent{rest}"
                return f"{spent}; finished work is kept: {ADVICE}"
        if self._untold and "max_tokens" in self._left:
            return "run.max_tokens cannot be enforced: a model does not report its tokens; set run.max_calls"
        if "max_cost" in self._left and name not in self._prices:
            return f"run.max_cost cannot be enforced without the prices of {name}: set its field prices; {KEPT}"
        if self._unpriced:
            return f"run.max_cost cannot be enforced: the cost of some answers is unknown; set run.max_calls, {KEPT}"
        return ""
