"""The unit of a number stands in its measure."""

from collections.abc import Sequence

import pytest

from gde.data.evidence import Evidence
from gde.data.measure import Measure, Measures
from gde.data.result import Measurement
from gde.errors import GdeError
from gde.parts.metric import Declared

EVIDENCE = Evidence(trajectories=(), seed=0)
MEASURES = Measures(
    (
        Measure(name="steps.*", title="Steps", unit="cells"),
        Measure(name="difference", title="Difference"),
    )
)


@pytest.mark.parametrize(
    ("name", "given", "recorded"),
    [
        ("steps.mean", "", "cells"),
        ("difference", "nats", "nats"),
        ("difference", "", ""),
        ("declared nowhere", "turns", "turns"),
    ],
)
def test_a_number_has_the_unit_of_its_measure_else_its_own(
    name: str, given: str, recorded: str
) -> None:
    def metric(_: Evidence) -> Sequence[Measurement]:
        return [Measurement(name=name, value=2.0, unit=given, n=3)]

    (one,) = Declared(metric, MEASURES)(EVIDENCE)
    assert one == Measurement(name=name, value=2.0, unit=recorded, n=3)


def test_a_unit_that_is_not_the_declared_one_is_refused() -> None:
    share = Measurement(name="m", value=1.0, unit="cells", n=1)
    declared = Declared(lambda _: [share], Measures((Measure("m", "M", "share"),)))
    with pytest.raises(GdeError, match=r"m: wanted the unit .* got .cells"):
        declared(EVIDENCE)
