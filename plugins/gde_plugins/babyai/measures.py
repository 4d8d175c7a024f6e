"""Titles and units of the metrics of the questions."""

from collections.abc import Mapping

from gde.data.measure import Measure

PREDICT = "Predict: state after actions"
PLAN = "Plan: path to a cell"
DECOMPOSE = "Decompose: subgoals"


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


MEASURES: Mapping[str, tuple[Measure, ...]] = {
    "predict": (
        Measure(
            name="predict.success",
            title="Predict: success rate (position and direction)",
            unit="share",
            better="more",
            group=PREDICT,
            headline=True,
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
        Measure(
            name="plan.success",
            title="Plan: success rate",
            unit="share",
            better="more",
            group=PLAN,
            headline=True,
            phrase="solved {} of plan questions",
        ),
        Measure(
            name="plan.efficiency",
            title="Efficiency against the expert, 0 without success",
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
        Measure(
            name="decompose.comprehension",
            title="Decompose: comprehension rate",
            unit="share",
            better="more",
            group=DECOMPOSE,
            headline=True,
            phrase="gave subgoals that lead to success with help in {} of decompose questions",
        ),
        Measure(
            name="decompose.precision",
            title="Precision rate",
            unit="share",
            better="more",
            group=DECOMPOSE,
            headline=True,
        ),
        Measure(
            name="decompose.aci",
            title="Assistance curve integral, as counted by the published harness",
            unit="share",
            better="more",
            group=DECOMPOSE,
        ),
        Measure(
            name="decompose.aci_defined",
            title="Assistance curve integral, as the publication defines it",
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
