"""The metrics of the three tasks (Choukrani et al. 2025, table 2).

Where the published code and the published text differ, each has a metric of its own
name.
"""

from collections.abc import Iterator, Sequence

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde_plugins.babyai.scoring.answers import (
    Answer,
    Number,
    Pick,
    answers,
    measure,
    share,
)

CLASSES = {"0-2": (0, 2), "3-6": (3, 6), "7-9": (7, 9), "10+": (10, 10**6)}
"""Ranges of the number of subgoals that the expert adds to the translated mission
(Choukrani et al. 2025, section 5.2.3, which names the first, the third and the last).
"""


def predict(evidence: Evidence) -> Sequence[Measurement]:
    """Measure success; an unusable answer fails and has no distance.

    Success needs position and direction.
    """
    success = share("predict.success", "score")
    distance = Number(
        name="predict.distance", unit="cells", pick=lambda one: one.number("distance")
    )
    numbers = (
        success,
        share("predict.position", "position"),
        distance,
        Number(
            name="predict.distance_wrong",
            unit="cells",
            pick=_distance_if_wrong,
            reason="no answer was wrong",
        ),
    )
    return measure(evidence, "predict", numbers, (success, distance))


def _distance_if_wrong(one: Answer) -> float | None:
    return one.number("distance") if one.number("score") == 0 else None


def plan(evidence: Evidence) -> Sequence[Measurement]:
    """Measure success and efficiency, which is 0 without success."""
    success = share("plan.success", "score")
    no_success = "no plan was successful"
    numbers = (
        success,
        Number(
            name="plan.efficiency",
            unit="ratio",
            pick=lambda one: one.number("efficiency") or 0.0,
        ),
        Number(
            name="plan.efficiency_successful",
            unit="ratio",
            pick=_if_successful("efficiency"),
            reason=no_success,
        ),
        Number(
            name="plan.optimality",
            unit="share",
            pick=_if_successful("optimality"),
            reason=no_success,
        ),
        Number(
            name="plan.distance", unit="cells", pick=lambda one: one.number("distance")
        ),
    )
    return measure(evidence, "plan", numbers, (success,))


def _if_successful(score: str) -> Pick:
    return lambda one: one.number(score) if one.number("score") == 1 else None


def decompose(evidence: Evidence) -> Sequence[Measurement]:
    """Measure comprehension, precision and the assistance curve.

    They are also broken down by the number of subgoals that the expert usually adds.
    """
    shares = (
        share("decompose.comprehension", "score"),
        share("decompose.precision", "precision"),
        share("decompose.aci", "aci"),
        share("decompose.aci_defined", "aci_defined"),
    )
    added = Number(
        name="decompose.added", unit="count", pick=lambda one: one.number("added")
    )
    measured = measure(evidence, "decompose", (*shares, added), shares)
    if not evidence.part:
        measured += _by_class(evidence, shares)
    return measured


def _by_class(evidence: Evidence, numbers: Sequence[Number]) -> Iterator[Measurement]:
    scored = [
        one for one in answers(evidence, "decompose") if one.number("sa") is not None
    ]
    for name, (low, high) in CLASSES.items():
        group = [one for one in scored if low <= (one.number("sa") or 0) <= high]
        if group:
            for number in numbers:
                yield number.of(evidence, group, added=name)
