"""Measurements by name and labels, and published sample sizes scaled."""

from collections.abc import Sequence
from math import ceil

from gde.data.result import Measurement


def find(
    measurements: Sequence[Measurement], name: str, **where: str | int | float
) -> Measurement:
    """The measurement with this name and exactly these labels, or one without a value
    and a reason.
    """
    for measurement in measurements:
        if measurement.name == name and measurement.where == where:
            return measurement
    return Measurement(
        name=name,
        value=None,
        unit="share",
        n=0,
        where=where,
        reason="not in the run",
    )


def scaled(published: int, scale: float) -> int:
    """A share of a published sample size, rounded up, at least 1."""
    # 10 x 1.1 is a little more than 11 in floating point, and would be rounded up to
    # 12.
    wanted = round(published * scale, 9)
    return max(1, ceil(wanted))
