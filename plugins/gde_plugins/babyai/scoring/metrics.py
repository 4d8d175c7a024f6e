"""The metrics of the three tasks (Choukrani et al. 2025, table 2), with what their code and their text do differently
kept apart by name."""

from collections.abc import Iterator, Sequence

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde_plugins.babyai.scoring.answered import Answer, Number, Pick, answers, measure, share

CLASSES = ((0, 2), (3, 6), (7, 9), (10, 10**6))
"""Classes of subgoals added beside the translated mission (Choukrani et al. 2025, section 5.2.3 names the first, the
third and the last)."""


def predict(evidence: Evidence) -> Sequence[Measurement]:
    """Success needs position and direction; an answer that cannot be used is no success and has no distance."""
    right = share("predict.success", "score")
    numbers = (
        right,
        share("predict.position", "position"),
        Number(name="predict.distance", unit="cells", pick=lambda one: one.number("distance")),
        Number(name="predict.distance_wrong", unit="cells", pick=_distance_if_wrong, reason="no answer was wrong"),
    )
    return measure(evidence, "predict", numbers, (right, numbers[2]))


def _distance_if_wrong(one: Answer) -> float | None:
    return one.number("distance") if one.number("score") == 0 else None


def plan(evidence: Evidence) -> Sequence[Measurement]:
    """Efficiency over all answers is 0 without success, as the published harness has it."""
    reached = share("plan.success", "score")
    no_success = "no plan was successful"
    numbers = (
        reached,
        Number(name="plan.efficiency", unit="ratio", pick=lambda one: one.number("efficiency") or 0.0),
        Number(name="plan.efficiency_successful", unit="ratio", pick=_if_successful("efficiency"), reason=no_success),
        Number(name="plan.optimality", unit="share", pick=_if_successful("optimality"), reason=no_success),
        Number(name="plan.distance", unit="cells", pick=lambda one: one.number("distance")),
    )
    return measure(evidence, "plan", numbers, (reached,))


def _if_successful(score: str) -> Pick:
    return lambda one: one.number(score) if one.number("score") == 1 else None


def decompose(evidence: Evidence) -> Sequence[Measurement]:
    """Comprehension, precision and the assistance curve integral, also by how much the expert adds by itself."""
    numbers = (
        share("decompose.comprehension", "score"),
        share("decompose.precision", "precision"),
        share("decompose.aci", "aci"),
        share("decompose.aci_defined", "aci_defined"),
        Number(name="decompose.added", unit="count", pick=lambda one: one.number("added")),
    )
    measured = measure(evidence, "decompose", numbers, numbers[:4])
    return measured if evidence.part else [*measured, *_by_class(evidence, numbers[:4])]


def _by_class(evidence: Evidence, numbers: Sequence[Number]) -> Iterator[Measurement]:
    found = [one for one in answers(evidence, "decompose") if one.number("sa") is not None]
    for low, high in CLASSES:
        inside = [one for one in found if low <= (one.number("sa") or 0) <= high]
        for number in numbers if inside else ():
            yield number.of(evidence, inside, {"added": f"{low}-{high}" if high < CLASSES[-1][1] else f"{low}+"})
