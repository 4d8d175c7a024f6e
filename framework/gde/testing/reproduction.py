"""The check of reproductions (`gde.parts.reproduction`)."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import isfinite

from gde.data.evidence import Evidence
from gde.data.figure import Figure
from gde.data.plan import Choice, Plan
from gde.parts.reproduction import Comparison, Reproduction, Run
from gde.testing.measurements import check_measurements
from gde.testing.promises import calling, promise, promise_equal, promise_protocol
from gde.testing.samples import sample_evidence, sample_result

SMALL = 0.01
AGENT = Choice(name="gpt-oss")


def check_reproduction(make: Callable[[], Reproduction]) -> None:
    """Check every promise of `Reproduction`: plans, comparisons and figures.

    Args:
        make: gives the reproduction.

    Raises:
        AssertionError: a promise is broken.
    """
    reproduction = make()
    promise_protocol(reproduction, Reproduction)
    plans = reproduction.plans(1.0, AGENT)
    _check_plans(plans, reproduction.plans(SMALL, AGENT))
    promise_equal(
        plans,
        reproduction.plans(1.0, AGENT),
        "plans must be the same in a second call",
    )

    small_run = Run(result=sample_result(), evidence=sample_evidence())
    _check_outcome(reproduction, dict.fromkeys(plans, small_run))
    empty_result = replace(sample_result(), measurements=())
    empty_run = Run(result=empty_result, evidence=Evidence(trajectories=()))
    _check_outcome(reproduction, dict.fromkeys(plans, empty_run))


def _check_outcome(reproduction: Reproduction, runs: Mapping[str, Run]) -> None:
    comparisons = calling(
        lambda: reproduction.compare(runs),
        "compare must give a measurement with a reason where the runs lack a number",
    )
    for comparison in comparisons:
        _check_comparison(comparison)
    figures = calling(
        lambda: reproduction.figures(runs),
        "figures must leave out what the runs do not have",
    )
    for figure in figures:
        promise(
            isinstance(figure, Figure), f"figures must give Figures, got {figure!r}"
        )
        promise(
            figure.title and figure.caption, "a figure must have a title and a caption"
        )
        promise(
            "data" in figure.spec or "datasets" in figure.spec,
            f"{figure.title}: the specification must hold its data",
        )


def _check_plans(whole: Mapping[str, Plan], part: Mapping[str, Plan]) -> None:
    promise(
        whole.keys() == part.keys(), "plans must have the same names at every scale"
    )
    for name, plan in whole.items():
        promise(
            isinstance(plan, Plan), f"plans must give Plans, got {plan!r} for {name!r}"
        )
        promise(
            part[name].episodes <= plan.episodes,
            f"plan {name!r}: scaled down it must keep at most {plan.episodes} worlds, got {part[name].episodes}",
        )


def _check_comparison(comparison: Comparison) -> None:
    promise(
        isinstance(comparison, Comparison),
        f"compare must give Comparisons, got {comparison!r}",
    )
    promise(comparison.quantity, "a comparison must name the quantity")
    promise(
        comparison.paper is None or isfinite(comparison.paper),
        f"{comparison.quantity}: the printed number must be finite, or None",
    )
    promise(
        comparison.source,
        f"{comparison.quantity}: `source` must say where the number is printed",
    )
    for each in (comparison.ours, *comparison.others.values()):
        check_measurements([each])
