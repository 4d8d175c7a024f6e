"""Titles and units of the metrics of the questions."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from gde.data.measure import Measure

PREDICT = "Predict: state after actions"
PLAN = "Plan: path to a cell"
DECOMPOSE = "Decompose: subgoals"
Certified = partial(Measure, group="Certified bounds")


def _unusable(task: str, group: str) -> tuple[Measure, ...]:
    return (
        Measure(f"{task}.unusable", "Unusable answers", "share", "less", group=group),
        Measure(
            f"{task}.unusable.*", "Unusable answers: *", "share", "less", group=group
        ),
    )


def _pairs(task: str, group: str) -> Measure:
    return Measure(
        f"{task}.pairs",
        "Grounded pairs with two right answers",
        "share",
        "more",
        group=group,
    )


def _rate(
    name: str,
    title: str,
    group: str,
    phrase: str = "",
    published: bool = True,
    headline: bool = True,
) -> tuple[Measure, ...]:
    """A score in [0, 1], read in two ways, with its blind baselines."""
    plain = Measure(
        name, title, "share", "more", group=group, headline=headline, phrase=phrase
    )
    _, _, what = title.rpartition(": ")
    what = what[:1].upper() + what[1:]
    lead = f"{title.partition(' (')[0]}, above best blind"
    others = {
        "above_blind": lead if headline else f"{what} above the best blind baseline",
        "blind.*": f"{what} of the blind baseline *",
        "usable": f"{what} among usable answers",
    }
    if published:
        others["published"] = f"{what}, published parser, unusable answers left out"
    measures = [plain]
    for suffix, text in others.items():
        measures.append(
            replace(
                plain,
                name=f"{name}.{suffix}",
                title=text,
                headline=headline and suffix == "above_blind",
                phrase="",
                better="" if suffix == "blind.*" else "more",
            )
        )
    return tuple(measures)


MEASURES: Mapping[str, tuple[Measure, ...]] = {
    "predict": (
        *_rate(
            "predict.success",
            "Predict: success rate (position and direction)",
            PREDICT,
            phrase="predicted position and direction in {} of predict questions",
        ),
        Measure(
            "predict.position",
            "Success rate, position only",
            "share",
            "more",
            group=PREDICT,
        ),
        Measure(
            "predict.distance",
            "Manhattan distance, all usable answers",
            "cells",
            "less",
            group=PREDICT,
        ),
        _pairs("predict", PREDICT),
        Measure(
            "predict.distance_published",
            "Manhattan distance, published parser",
            "cells",
            "less",
            group=PREDICT,
        ),
        Measure(
            "predict.distance_wrong",
            "Manhattan distance, wrong answers",
            "cells",
            "less",
            group=PREDICT,
        ),
        *_unusable("predict", PREDICT),
    ),
    "plan": (
        *_rate(
            "plan.success",
            "Plan: success rate",
            PLAN,
            phrase="solved {} of plan questions",
        ),
        *_rate(
            "plan.charged",
            "Plan: success, length charged",
            PLAN,
            published=False,
        ),
        Measure(
            "plan.efficiency",
            "Efficiency against the expert, 0 without success",
            "ratio",
            "more",
            group=PLAN,
        ),
        _pairs("plan", PLAN),
        Measure(
            "plan.efficiency_published",
            "Efficiency against the expert, published parser",
            "ratio",
            "more",
            group=PLAN,
        ),
        Measure(
            "plan.efficiency_successful",
            "Efficiency against the expert, successful plans",
            "ratio",
            "more",
            group=PLAN,
        ),
        Measure(
            "plan.optimality",
            "Efficiency against the shortest path, successful plans",
            "share",
            "more",
            group=PLAN,
        ),
        Measure(
            "plan.distance", "Final distance to the target", "cells", "less", group=PLAN
        ),
        *_unusable("plan", PLAN),
    ),
    "decompose": (
        *_rate(
            "decompose.comprehension",
            "Decompose: comprehension rate",
            DECOMPOSE,
            phrase="gave subgoals that lead to success in {} of decompose questions",
        ),
        *_rate("decompose.precision", "Decompose: precision rate", DECOMPOSE),
        *_rate(
            "decompose.charged",
            "Decompose: success, length charged",
            DECOMPOSE,
            published=False,
        ),
        *_rate(
            "decompose.aci",
            "Assistance curve integral, as counted by the published harness",
            DECOMPOSE,
            headline=False,
        ),
        *_rate(
            "decompose.aci_defined",
            "Assistance curve integral, as the publication defines it",
            DECOMPOSE,
            published=False,
            headline=False,
        ),
        Measure(
            "decompose.added",
            "Subgoals added by the expert",
            "count",
            "less",
            group=DECOMPOSE,
        ),
        _pairs("decompose", DECOMPOSE),
        *_unusable("decompose", DECOMPOSE),
    ),
}
"""The measures of each task, by the task's name."""


BOUNDS: tuple[Measure, ...] = (
    Certified(
        "bounds.accuracy.least",
        "Accuracy, at least",
        "share",
        "more",
        headline=True,
        instead="accuracy",
    ),
    Certified(
        "bounds.accuracy.most",
        "Accuracy, at most",
        "share",
        "more",
        headline=True,
        instead="accuracy",
    ),
    Certified(
        "bounds.accuracy.certified",
        "Accuracy at the certified turns alone",
        "share",
        "more",
    ),
    Certified("bounds.certified", "Certified turns", "share"),
    Certified("bounds.regret.least", "Regret, at least", "turns", "less"),
    Certified("bounds.regret.most", "Regret, at most", "turns", "less"),
)
"""The measures of what is certain about the optimum."""
