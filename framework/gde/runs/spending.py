"""What a run has spent on language models, and what its limits leave."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from gde.data.model_use import ModelUse
from gde.runs.adding import current_plan
from gde.stages.budget import cost_before, gone, left_of
from gde.stages.model_use import models_used
from gde.store.folder import RunFolder


@dataclass(frozen=True, kw_only=True)
class Limit:
    """One limit of a run."""

    name: str
    """As in the plan: "max_calls", "max_tokens" or "max_cost"."""
    limit: float | None
    """None for no limit."""
    spent: float
    """Requests without an answer count as the most that they may take."""
    left: float | None


@dataclass(frozen=True, kw_only=True)
class Spending:
    """The spending of a run, finished or not."""

    run: str
    unsettled: int
    """Requests without an answer, which are perhaps billed."""
    limits: tuple[Limit, ...]
    models: tuple[ModelUse, ...]


def spending(run: Path | str) -> Spending:
    """What a run has spent so far.

    Raises:
        GdeError: no run folder, or a damaged one.
    """
    folder = RunFolder.open(Path(run))
    with closing(folder.journal(write=False)) as journal:
        plan = current_plan(folder, journal)
        spent = cost_before(journal, plan.prices)
        left = left_of(plan, spent)
        limits = [
            Limit(
                name=name,
                limit=getattr(plan, name),
                spent=amount,
                left=left.get(name),
            )
            for name, amount in gone(spent).items()
        ]
        return Spending(
            run=str(run),
            unsettled=spent.unsettled,
            limits=tuple(limits),
            models=models_used(journal, plan),
        )
