"""What a run may ask of its language models: so many calls, so many tokens. When it is spent, the run stops."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gde.data.completion import Completion
from gde.errors import RunFailed
from gde.store.journal import Journal

ADVICE = "raise it in plan.toml and go on with `gde resume`, or take what there is with `gde rescore`"


class Budget:
    """What one process of a run may still ask for. Of several processes each has its share of what was left when it
    began. Tokens are known once they are answered: those under way may go beyond."""

    def __init__(self, calls: int | None, tokens: int | None, journal: Journal | None, workers: int = 1) -> None:
        """Take the limits of the plan, None for none, and the journal of what was spent before."""
        self._most = {"max_calls": calls, "max_tokens": tokens}
        limited = journal is not None and (calls is not None or tokens is not None)
        spent = spent_before(journal) if journal is not None and limited else (0, 0)
        self._left = {
            name: -(-(most - (gone or 0)) // workers)
            for (name, most), gone in zip(self._most.items(), spent, strict=True)
            if most is not None
        }
        self._untold = None in spent
        self._in_flight = 0
        self._landed: list[asyncio.Future[None]] = []

    @asynccontextmanager
    async def call(self) -> AsyncIterator[None]:
        """One call. When the budget is spent, what is under way is waited for: it is paid for.

        Raises:
            RunFailed: it is spent, or cannot be kept.
        """
        while reason := self._reason():
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

    def _reason(self) -> str:
        """Why there is no call at the moment; empty where there is."""
        for name, left in self._left.items():
            if left <= (self._in_flight if name == "max_calls" else 0):
                return f"run.{name}={self._most[name]} are spent; what was finished is kept: {ADVICE}"
        if self._untold and "max_tokens" in self._left:
            return "run.max_tokens cannot be kept, for a model does not tell how many it takes: set run.max_calls"
        return ""


def spent_before(journal: Journal) -> tuple[int, int | None]:
    """How many requests models have answered, and with how many tokens; None where one did not tell."""
    (row,) = journal.query("SELECT count(*), count(n_prompt + n_completion), sum(n_prompt + n_completion) FROM calls")
    calls, told, tokens = row
    return calls, (tokens or 0) if told == calls else None
