"""What the scores of the probes mean to a reader. `*` is a kind of cell."""

from gde.data.measure import Measure

MAP = (
    Measure(
        name="distance.*",
        title="* distance",
        unit="cells",
        better="less",
        headline=True,
        phrase="places the * on average {} from where it is",
    ),
    Measure(name="top1.*", title="* top-1", unit="share", better="more", headline=True),
    Measure(name="accuracy.interior", title="Interior accuracy", unit="share", better="more"),
    Measure(name="accuracy", title="Accuracy, padding included", unit="share", better="more"),
    Measure(name="recall.*", title="* recall", unit="share", better="more"),
    Measure(name="precision.*", title="* precision", unit="share", better="more"),
)
DISTANCE = (
    Measure(
        name="mae",
        title="Mean absolute error",
        unit="steps",
        better="less",
        headline=True,
        phrase="tells the steps to the goal with a mean error of {}",
    ),
    Measure(name="r2", title="Variance explained", unit="share", better="more", headline=True),
)
