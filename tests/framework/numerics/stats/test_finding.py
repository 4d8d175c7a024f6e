"""A finding has a finite value or a reason, never both and never neither."""

import numpy as np
import pytest

from gde.numerics.stats import Finding


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"value": 1.0, "reason": "why"},
        {"value": np.nan},
        {"value": 1.0, "p_value": np.inf},
        {"value": 1.0, "interval": (0.0, np.inf)},
        {"value": 1.0, "interval": (np.nan, 1.0)},
    ],
)
def test_no_finding_is_without_a_number_and_without_a_reason(
    fields: dict[str, object],
) -> None:
    with pytest.raises(ValueError, match="either a finite value or a reason"):
        Finding(**fields)  # type: ignore[arg-type]


def test_a_finding_becomes_its_statistic_and_its_p_value() -> None:
    found = Finding(value=0.0, p_value=0.25, interval=(-1.0, 1.0))
    statistic, p = found.statistic("slope", 9), found.significance("p", 9)
    assert (statistic.value, statistic.n) == (0.0, 9)
    assert (statistic.interval, statistic.reason) == ((-1.0, 1.0), "")
    assert (p.name, p.value, p.n) == ("p", 0.25, 9)


def test_what_is_missing_says_what_was_got_and_what_is_needed() -> None:
    found = Finding.missing("3 worlds", "6")
    assert (found.value, found.p_value) == (None, None)
    assert found.statistic("slope", 3).reason == "not measured: 3 worlds, needs 6"
    assert found.significance("p", 3).reason == "not measured: 3 worlds, needs 6"
