"""Whether a new run is worse than a base run in chosen numbers, for automatic checks."""

from collections.abc import Sequence
from dataclasses import dataclass

from gde.comparisons.differences import Compared, Row
from gde.data.verdict import outcome_of
from gde.errors import GdeError, UnknownName
from gde.numerics.stats import adjusted, holm


@dataclass(frozen=True, kw_only=True)
class Check(Row):
    """A number of the new run against the base run, its p value after Holm (1979) over
    the chosen numbers alone.
    """

    passed: bool
    """False if it is worse, and also if it differs and cannot be tested."""


def check_not_worse(compared: Compared, names: Sequence[str]) -> tuple[Check, ...]:
    """Test the chosen numbers of a comparison, B being the new run.

    They are chosen beforehand, so that p values are corrected over them alone.

    Raises:
        UnknownName: no compared number has that name.
        GdeError: neither direction of it is better.
    """
    rows = [_row(compared, name) for name in dict.fromkeys(names)]
    # Also of a row that the comparison itself tests as another one.
    raw = [row.p_wilcoxon for row in rows]
    checks = []
    for row, p in zip(rows, adjusted(raw, holm), strict=True):
        outcome = outcome_of(row.difference, p, row.better)
        untested = p is None and row.difference != 0
        passed = outcome != "worse" and not untested
        reason = row.reason if p is None else ""
        checks.append(Check(**{**vars(row), "p": p, "reason": reason}, passed=passed))
    return tuple(checks)


def _row(compared: Compared, name: str) -> Row:
    whole = {row.name: row for row in compared.rows if not row.where}
    if name not in whole:
        raise UnknownName("number of both runs", name, whole)
    row = whole[name]
    if not row.better:
        named = ", ".join(sorted(each for each in whole if whole[each].better))
        raise GdeError(
            f"{name}: neither direction of it is better. Choose one of: {named}"
        )
    return row
