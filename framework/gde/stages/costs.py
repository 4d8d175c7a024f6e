"""What the answers of language models cost, by the prices that a plan names. What is not known is never nothing: a sum
that lacks it says so."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from gde.data.completion import Completion
from gde.data.json import Json
from gde.data.plan import Prices
from gde.store.journal import Journal

NO_PRICES: Prices = MappingProxyType({})
PER = 1_000_000
"""Tokens that a price is for."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Of some answers."""

    money: float = 0.0
    """In the currency of the prices; what is known of it."""
    calls: int = 0
    """Answers in all."""
    untold: int = 0
    """Of these, those whose price or number of tokens is not known in full."""
    tokens: int = 0
    """Of prompts and answers; what is known of it."""
    silent: int = 0
    """Answers of which the model did not tell how many tokens they took."""

    def __str__(self) -> str:
        known = f"cost: {self.money:.4g} for {self.calls} answers, by run.prices"
        return f"{known}; of {self.untold} tokens or price are not known, so it is more" if self.untold else known


def cost_of(answer: Completion, prices: Prices) -> float | None:
    """Of one answer; None where it is not known in full."""
    price = prices.get(answer.model)
    if price is None or answer.n_prompt is None or answer.n_completion is None:
        return None
    return (answer.n_prompt * price[0] + answer.n_completion * price[1]) / PER


def cost_before(journal: Journal, prices: Prices, scopes: Collection[str] | None = None) -> Cost:
    """Of everything that models have answered in a run, or on behalf of some episodes and parts."""
    by = "model" if scopes is None else "model, scope"
    found = journal.query(
        f"SELECT {by}, count(*) AS calls, count(n_prompt + n_completion) AS told,"
        " coalesce(sum(n_prompt), 0) AS prompt, coalesce(sum(n_completion), 0) AS completion,"
        f" coalesce(sum(n_prompt + n_completion), 0) AS tokens FROM calls WHERE NOT cached GROUP BY {by}"
    )
    rows = [row for row in found if scopes is None or row["scope"] in scopes]
    known = [(row, *prices[row["model"]]) for row in rows if row["model"] in prices]
    calls = sum(row["calls"] for row in rows)
    return Cost(
        money=sum(row["prompt"] * into + row["completion"] * out for row, into, out in known) / PER,
        calls=calls,
        untold=calls - sum(row["told"] for row, _, _ in known),
        tokens=sum(row["tokens"] for row in rows),
        silent=calls - sum(row["told"] for row in rows),
    )


def cost_note(journal: Journal, prices: Prices) -> Mapping[str, Json]:
    """What a result's provenance says of it; nothing where no prices are named."""
    if not prices:
        return {}
    cost = cost_before(journal, prices)
    return {"cost": {"money": cost.money, "answers": cost.calls, "untold": cost.untold, "said": str(cost)}}
