"""The metrics of the three tasks (Choukrani et al. 2025, table 2).

Where the published code and the published text differ, each has a metric of its own
name. An unusable answer fails and has no distance.
"""

from gde_plugins.babyai.scoring.answers import (
    Answer,
    Pick,
    Rate,
    recorded,
    score,
    share,
)
from gde_plugins.babyai.scoring.numbers import Pairs
from gde_plugins.babyai.scoring.questions import questions
from gde_plugins.babyai.tasks.blind import ANSWERS
from gde_plugins.babyai.tasks.decompose import Decompose
from gde_plugins.babyai.tasks.plan import PlanQuestion
from gde_plugins.babyai.tasks.predict import Predict


def _distance_if_wrong(one: Answer) -> float | None:
    return one.number("distance") if one.number("score") == 0 else None


predict = questions(
    "predict",
    ANSWERS[Predict],
    rates=(Rate("predict.success", "score"),),
    scores=(
        share("predict.position", lambda one: one.number("position") or 0.0),
        score("predict.distance", recorded("distance")),
        score("predict.distance_wrong", _distance_if_wrong, "no answer was wrong"),
        score("predict.distance_published", recorded("distance", "published")),
    ),
    broken_down=("predict.success", "predict.success.published", "predict.distance"),
    others=(Pairs("predict.pairs"),),
)
"""Success, which needs position and direction, and the distance of positions."""


def _if_successful(name: str) -> Pick:
    return lambda one: one.number(name) if one.number("score") == 1 else None


NO_SUCCESS = "no plan was successful"
plan = questions(
    "plan",
    ANSWERS[PlanQuestion],
    rates=(
        Rate("plan.success", "score"),
        Rate("plan.charged", "charged", published=False),
    ),
    scores=(
        score("plan.efficiency", lambda one: one.number("efficiency") or 0.0),
        score("plan.efficiency_published", recorded("efficiency", "published")),
        score("plan.efficiency_successful", _if_successful("efficiency"), NO_SUCCESS),
        score("plan.optimality", _if_successful("optimality"), NO_SUCCESS),
        score("plan.distance", recorded("distance")),
    ),
    broken_down=("plan.success", "plan.success.published"),
    others=(Pairs("plan.pairs"),),
)
"""Success and efficiency, which is 0 without success."""


decompose = questions(
    "decompose",
    ANSWERS[Decompose],
    rates=(
        Rate("decompose.comprehension", "score"),
        Rate("decompose.precision", "precision"),
        Rate("decompose.charged", "charged", published=False),
        Rate("decompose.aci", "aci"),
        Rate("decompose.aci_defined", "aci_defined", published=False),
    ),
    scores=(score("decompose.added", recorded("added")),),
    broken_down=(
        "decompose.comprehension",
        "decompose.precision",
        "decompose.charged",
        "decompose.aci",
        "decompose.aci_defined",
        "decompose.comprehension.published",
        "decompose.precision.published",
        "decompose.aci.published",
    ),
    others=(Pairs("decompose.pairs"),),
)
"""Comprehension, precision and the assistance curve.

They are also broken down by the number of subgoals that the expert usually adds.
"""
