"""Titles and units of the metrics of the questions."""

from collections.abc import Mapping
from dataclasses import replace

from gde.data.measure import Measure

PREDICT = "Predict: state after actions"
PLAN = "Plan: path to a cell"
DECOMPOSE = "Decompose: subgoals"
CERTIFIED = "Certified bounds"


def _unusable(task: str, group: str) -> tuple[Measure, ...]:
    return (
        Measure(
            name=f"{task}.unusable",
            title="Unusable answers",
            unit="share",
            better="less",
            group=group,
        ),
        Measure(
            name=f"{task}.unusable.*",
            title="Unusable answers: *",
            unit="share",
            better="less",
            group=group,
        ),
    )


def _pairs(task: str, group: str) -> Measure:
    return Measure(
        name=f"{task}.pairs",
        title="Grounded pairs with two right answers",
        unit="share",
        better="more",
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
    """A score in [0, 1], read in three ways, with its blind baselines."""
    plain = Measure(
        name=name,
        title=title,
        unit="share",
        better="more",
        group=group,
        headline=headline,
        phrase=phrase,
    )
    _, _, what = title.rpartition(": ")
    what = what[:1].upper() + what[1:]
    lead = f"{title.partition(' (')[0]}, above best blind"
    others = {
        "above_blind": lead if headline else f"{what} above the best blind baseline",
        "blind.*": f"{what} of the blind baseline *",
        "strict": f"{what}, answers in exactly the form asked for",
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
            name="predict.position",
            title="Success rate, position only",
            unit="share",
            better="more",
            group=PREDICT,
        ),
        Measure(
            name="predict.distance",
            title="Manhattan distance, all usable answers",
            unit="cells",
            better="less",
            group=PREDICT,
        ),
        _pairs("predict", PREDICT),
        Measure(
            name="predict.distance_published",
            title="Manhattan distance, published parser",
            unit="cells",
            better="less",
            group=PREDICT,
        ),
        Measure(
            name="predict.distance_wrong",
            title="Manhattan distance, wrong answers",
            unit="cells",
            better="less",
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
            name="plan.efficiency",
            title="Efficiency against the expert, 0 without success",
            unit="ratio",
            better="more",
            group=PLAN,
        ),
        _pairs("plan", PLAN),
        Measure(
            name="plan.efficiency_published",
            title="Efficiency against the expert, published parser",
            unit="ratio",
            better="more",
            group=PLAN,
        ),
        Measure(
            name="plan.efficiency_successful",
            title="Efficiency against the expert, successful plans",
            unit="ratio",
            better="more",
            group=PLAN,
        ),
        Measure(
            name="plan.optimality",
            title="Efficiency against the shortest path, successful plans",
            unit="share",
            better="more",
            group=PLAN,
        ),
        Measure(
            name="plan.distance",
            title="Final distance to the target",
            unit="cells",
            better="less",
            group=PLAN,
        ),
        *_unusable("plan", PLAN),
    ),
    "decompose": (
        *_rate(
            "decompose.comprehension",
            "Decompose: comprehension rate",
            DECOMPOSE,
            phrase="gave subgoals that lead to success with help in {} of decompose questions",
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
            name="decompose.within.*",
            title="Success with at most * added subgoals",
            unit="share",
            better="more",
            group=DECOMPOSE,
        ),
        Measure(
            name="decompose.added",
            title="Subgoals added by the expert",
            unit="count",
            better="less",
            group=DECOMPOSE,
        ),
        *_unusable("decompose", DECOMPOSE),
    ),
}
"""The measures of each task, by the task's name."""


BOUNDS: tuple[Measure, ...] = (
    Measure(
        name="bounds.accuracy.least",
        title="Accuracy, at least",
        unit="share",
        better="more",
        group=CERTIFIED,
        headline=True,
        instead="accuracy",
    ),
    Measure(
        name="bounds.accuracy.most",
        title="Accuracy, at most",
        unit="share",
        better="more",
        group=CERTIFIED,
        headline=True,
        instead="accuracy",
    ),
    Measure(
        name="bounds.accuracy.certified",
        title="Accuracy at the certified turns alone",
        unit="share",
        better="more",
        group=CERTIFIED,
    ),
    Measure(
        name="bounds.certified", title="Certified turns", unit="share", group=CERTIFIED
    ),
    Measure(
        name="bounds.regret.least",
        title="Regret, at least",
        unit="turns",
        better="less",
        group=CERTIFIED,
    ),
    Measure(
        name="bounds.regret.most",
        title="Regret, at most",
        unit="turns",
        better="less",
        group=CERTIFIED,
    ),
)
"""The measures of what is certain about the optimum."""
