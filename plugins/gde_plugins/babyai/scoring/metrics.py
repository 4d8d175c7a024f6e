"""The metrics of the three tasks (Choukrani et al. 2025, table 2).

Where the published code and the published text differ, each has a metric of its own
name.
"""

from collections.abc import Iterator, Sequence

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.numerics.stats import cluster_share
from gde_plugins.babyai.scoring.answers import (
    Answer,
    Number,
    Pick,
    Rate,
    answers,
    measure,
    pairs,
)

CURVE = (0, 1, 2, 3, 4, 6, 8, 10, 15, 20, 30)
"""Numbers of added subgoals of the assistance curve."""
CLASSES = {"0-2": (0, 2), "3-6": (3, 6), "7-9": (7, 9), "10+": (10, 10**6)}
"""Ranges of the number of subgoals that the expert adds to the translated mission
(Choukrani et al. 2025, section 5.2.3, which names the first, the third and the last).
"""


def predict(evidence: Evidence) -> Sequence[Measurement]:
    """Measure success; an unusable answer fails and has no distance.

    Success needs position and direction.
    """
    success = Rate(name="predict.success", score="score")
    distance = Number(name="predict.distance", pick=lambda one: one.number("distance"))
    numbers = (
        Number(
            name="predict.position",
            pick=lambda one: one.number("position") or 0.0,
            estimate=cluster_share,
        ),
        distance,
        Number(
            name="predict.distance_wrong",
            pick=_distance_if_wrong,
            reason="no answer was wrong",
        ),
        Number(
            name="predict.distance_published",
            pick=lambda one: one.published("distance"),
        ),
    )
    published = [each for each in success.others() if each.name.endswith("published")]
    broken_down = (success.number, *published, distance)
    measured = measure(evidence, "predict", (success,), numbers, broken_down)
    return [*measured, pairs(evidence, "predict")]


def _distance_if_wrong(one: Answer) -> float | None:
    return one.number("distance") if one.number("score") == 0 else None


def plan(evidence: Evidence) -> Sequence[Measurement]:
    """Measure success and efficiency, which is 0 without success."""
    success = Rate(name="plan.success", score="score")
    charged = Rate(name="plan.charged", score="charged", published=False)
    no_success = "no plan was successful"
    numbers = (
        Number(
            name="plan.efficiency",
            pick=lambda one: one.number("efficiency") or 0.0,
        ),
        Number(
            name="plan.efficiency_published",
            pick=lambda one: one.published("efficiency"),
        ),
        Number(
            name="plan.efficiency_successful",
            pick=_if_successful("efficiency"),
            reason=no_success,
        ),
        Number(
            name="plan.optimality",
            pick=_if_successful("optimality"),
            reason=no_success,
        ),
        Number(name="plan.distance", pick=lambda one: one.number("distance")),
    )
    rates = (success, charged)
    published = [each for each in success.others() if each.name.endswith("published")]
    broken_down = (success.number, *published)
    measured = measure(evidence, "plan", rates, numbers, broken_down)
    return [*measured, pairs(evidence, "plan")]


def _if_successful(score: str) -> Pick:
    return lambda one: one.number(score) if one.number("score") == 1 else None


def decompose(evidence: Evidence) -> Sequence[Measurement]:
    """Measure comprehension, precision and the assistance curve.

    They are also broken down by the number of subgoals that the expert usually adds.
    """
    rates = (
        Rate(name="decompose.comprehension", score="score"),
        Rate(name="decompose.precision", score="precision"),
        Rate(name="decompose.charged", score="charged", published=False),
        Rate(name="decompose.aci", score="aci"),
        Rate(name="decompose.aci_defined", score="aci_defined", published=False),
    )
    added = Number(name="decompose.added", pick=lambda one: one.number("added"))
    shares = [rate.number for rate in rates]
    for rate in rates:
        shares += [one for one in rate.others() if one.name.endswith("published")]
    curve = [_within(most) for most in CURVE]
    measured = measure(evidence, "decompose", rates, (added, *curve), shares)
    if not evidence.part:
        measured += _by_class(evidence, shares)
    return measured


def _within(most: int) -> Number:
    """Return the share of missions fulfilled with at most so many additions."""

    def pick(one: Answer) -> float:
        added = one.number("added")
        return float(one.number("score") == 1 and added is not None and added <= most)

    name = f"decompose.within.{most}"
    return Number(name=name, pick=pick, estimate=cluster_share)


def _by_class(evidence: Evidence, numbers: Sequence[Number]) -> Iterator[Measurement]:
    scored = [
        one for one in answers(evidence, "decompose") if one.number("sa") is not None
    ]
    for name, (low, high) in CLASSES.items():
        group = [one for one in scored if low <= (one.number("sa") or 0) <= high]
        if group:
            for number in numbers:
                yield number.of(evidence, group, added=name)
