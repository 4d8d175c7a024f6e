"""About what a part of a plan asks of language models, before anything is run."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """The requests of one part, if every turn is like the first and none is saved."""

    plan: str
    part: str
    episodes: int
    calls: int | None = None
    """None where it is not known."""
    prompt_tokens: int | None = None
    """None where the server does not count them."""
    answer_tokens: int | None = None
    """Likewise; at most, where no model was asked."""
    seconds: float | None = None
    """Time of all requests, as many at once as the plan allows; None where no model was
    asked.
    """
    cost: float | None = None
    """In the currency of the prices; None without prices."""
    note: str = ""

    @property
    def tokens(self) -> int | None:
        """Tokens of prompts and answers together."""
        if self.prompt_tokens is None or self.answer_tokens is None:
            return None
        return self.prompt_tokens + self.answer_tokens


AMOUNTS = (
    "episodes",
    "calls",
    "prompt_tokens",
    "answer_tokens",
    "seconds",
    "cost",
)


def together(estimates: Iterable[Estimate]) -> Estimate:
    """Add up what several parts ask; an amount is None where a part's is not known."""
    parts = list(estimates)

    def added(name: str) -> Any:
        amounts = [getattr(part, name) for part in parts]
        return None if None in amounts else sum(amounts)

    amounts = {name: added(name) for name in AMOUNTS}
    return Estimate(plan="", part="together", **amounts)
