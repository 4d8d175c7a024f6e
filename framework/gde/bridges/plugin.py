"""The metric that reads the scores of another program."""

from collections.abc import Sequence

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, MetricOffer, NoConfig


@hookimpl
def gde_metrics() -> Sequence[AnyOffer]:
    """The scores of imported logs."""
    from gde.data.measure import Measure

    scores = Measure(
        name="scores.*",
        title="Logged score: *",
        unit="score",
        group="Logged scores",
        headline=True,
    )
    summary = "scores of imported logs of other programs"
    return (
        MetricOffer(
            name="scores",
            summary=summary,
            config=NoConfig,
            part="gde.bridges.logged_scores:logged_scores",
            measures=(scores,),
        ),
    )
