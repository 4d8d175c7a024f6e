"""Measurements by name and labels."""

from collections.abc import Sequence

from gde.data.result import Measurement
from gde.numerics.episodes import unmeasured


def find(
    measurements: Sequence[Measurement], name: str, **where: str | int | float
) -> Measurement:
    """The measurement with this name and exactly these labels, or one without a value
    and a reason.
    """
    for measurement in measurements:
        if measurement.name == name and measurement.where == where:
            return measurement
    return unmeasured(name, "not in the run", where, "share")
