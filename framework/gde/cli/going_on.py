"""How a finished run is gone on with."""

from pathlib import Path

from gde.comparisons.contest import last_way
from gde.data.how import How
from gde.request.building import amend_how


def where(run: Path, executor: str) -> How | None:
    """As it was done last, where an executor of this name works; None without a name."""
    if not executor:
        return None
    plan, last = last_way(run)
    return amend_how(last, plan, (), executor)
