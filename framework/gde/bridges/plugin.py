"""The metric that reads the scores of another program."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, MetricOffer, NoConfig

if TYPE_CHECKING:
    from gde.parts.context import Context


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
            make=_scores,
            measures=(scores,),
        ),
    )


def _scores(_: NoConfig, __: "Context") -> object:
    from gde.bridges.logged_scores import logged_scores

    return logged_scores
