"""The metric that reads what another program has scored."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, MetricOffer, NoConfig

if TYPE_CHECKING:
    from gde.parts.context import Context


@hookimpl
def gde_metrics() -> Sequence[AnyOffer]:
    """What was measured elsewhere."""
    from gde.data.measure import Measure

    scores = Measure(
        name="scores.*",
        title="Logged score: *",
        unit="score",
        group="Logged scores",
        headline=True,
    )
    summary = "the scores of runs that were imported from logs of other programs"
    return (
        MetricOffer(
            name="scores",
            summary=summary,
            config=NoConfig,
            make=_scores,
            measures=(scores,),
        ),
    )


def _scores(_: NoConfig, __: "Context") -> object:
    from gde.bridges.logged_scores import logged_scores

    return logged_scores
