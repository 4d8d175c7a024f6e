"""The check of measurements (`gde.data.result.Measurement`)."""

from collections.abc import Sequence

from gde.data.result import Measurement
from gde.testing.promises import promise


def check_measurements(measurements: Sequence[Measurement]) -> None:
    """Check that numbers can be compared and shown.

    `Measurement` itself checks that they can be written.

    Raises:
        AssertionError: a promise is broken.
    """
    for measurement in measurements:
        promise(
            isinstance(measurement, Measurement),
            f"a Measurement must be given, got {measurement!r}",
        )
        promise(measurement.name, "a measurement must have a name")

    places = [(each.name, tuple(sorted(each.where.items()))) for each in measurements]
    twice = sorted({name for name, where in places if places.count((name, where)) > 1})
    promise(
        not twice,
        f"a number must be measured once under one name: {', '.join(twice)} came twice",
    )
