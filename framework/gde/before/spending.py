"""What a run has spent on language models, and what its limits leave."""

import asyncio
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from gde.data.completion import ChatRequest, FirstAnswer
from gde.data.model_use import ModelUse
from gde.stages.budget import cost_before, gone, left_of, most_tokens
from gde.stages.model_use import models_used
from gde.store.folder import RunFolder
from gde.store.journal import Journal

PREFLIGHT = "preflight"
"""The scope, before the name of a model, of questions that were asked before a run."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question that was asked before a run, and its answer."""

    model: str
    """As the user named it."""
    request: ChatRequest
    first: FirstAnswer


@dataclass(frozen=True, kw_only=True)
class Limit:
    """One limit of a run."""

    name: str
    """As in the plan: "max_calls", "max_tokens" or "max_cost"."""
    limit: float | None
    """None for no limit."""
    spent: float | None
    """Requests without an answer count as the most that they may take. None for a cost
    without prices.
    """
    left: float | None


@dataclass(frozen=True, kw_only=True)
class Spending:
    """The spending of a run, finished or not."""

    run: str
    unsettled: int
    """Requests without an answer, which are perhaps billed."""
    preflight: int
    """Questions before the run, which count against its limits."""
    limits: tuple[Limit, ...]
    models: tuple[ModelUse, ...]


def charge(journal: Journal, questions: Sequence[Question]) -> None:
    """Count questions that were asked before a run as its own."""

    async def write() -> None:
        for one in questions:
            scope = f"{PREFLIGHT} {one.model}"
            identity = one.request.asked_of(one.model)
            most = most_tokens(one.request)
            await journal.reserve(scope, identity, one.model, most)
            journal.settle(scope, identity, one.first.completion)

    asyncio.run(write())


def spending(run: Path | str) -> Spending:
    """What a run has spent so far.

    Raises:
        GdeError: no run folder, or a damaged one.
    """
    folder = RunFolder.open(Path(run))
    with closing(folder.journal()) as journal:
        how = folder.last_how()
        spent = cost_before(journal, how.prices)
        left = left_of(how, spent)
        query = "SELECT coalesce(sum(sent), 0) AS n FROM requests WHERE scope LIKE ?"
        (asked,) = journal.query(query, (f"{PREFLIGHT} %",))
        limits = [
            Limit(
                name=name,
                limit=getattr(how, name),
                spent=None if name == "max_cost" and not how.prices else amount,
                left=left.get(name),
            )
            for name, amount in gone(spent).items()
        ]
        return Spending(
            run=str(run),
            unsettled=spent.unsettled,
            preflight=asked["n"],
            limits=tuple(limits),
            models=models_used(journal, folder.plan(), how.prices),
        )
