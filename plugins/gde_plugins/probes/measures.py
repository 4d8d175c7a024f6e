"""Titles and units of the probes' measurements. `*` is a kind of cell."""

from gde.data.measure import Measure

PLACELESS = {
    "linear": "The variant linear of cogmap cannot find places, having the same slope of logits in every map: its"
    " misses do not show that none can be read linearly."
}
"""Shown once beneath a table, so not of every number that follows from places. Why:
docs/statistics.md.
"""
MAP = (
    Measure(
        name="distance.*",
        title="* distance",
        unit="cells",
        better="less",
        headline=True,
        phrase="places the * on average {} from where it is",
        caveats=PLACELESS,
    ),
    Measure(
        name="top1.*",
        title="* top-1",
        unit="share",
        better="more",
        headline=True,
        caveats=PLACELESS,
    ),
    Measure(
        name="spread.*",
        title="Distance of all cells decoded as *",
        unit="cells",
        better="less",
    ),
    Measure(
        name="accuracy.interior", title="Interior accuracy", unit="share", better="more"
    ),
    Measure(
        name="accuracy.interior.majority",
        title="The same, naming each cell's commonest class",
        unit="share",
    ),
    Measure(
        name="accuracy.interior.constant",
        title="The same, always naming the commonest class",
        unit="share",
    ),
    Measure(
        name="accuracy.grid",
        title="Accuracy on the grid, padding not chosen",
        unit="share",
        better="more",
    ),
    Measure(
        name="accuracy.grid.majority",
        title="The same, naming each cell's commonest class",
        unit="share",
    ),
    Measure(
        name="accuracy.grid.constant",
        title="The same, always naming the commonest class",
        unit="share",
    ),
    Measure(
        name="recall.macro",
        title="Recall, mean over classes",
        unit="share",
        better="more",
    ),
    Measure(
        name="recall.macro.majority",
        title="The same, naming each cell's commonest class",
        unit="share",
    ),
    Measure(
        name="recall.macro.constant",
        title="The same, always naming the commonest class",
        unit="share",
    ),
    Measure(
        name="accuracy", title="Accuracy, padding included", unit="share", better="more"
    ),
    Measure(
        name="auc.*",
        title="* AUC within the outermost cells",
        unit="share",
        better="more",
    ),
    Measure(
        name="recall.interior.*", title="Interior * recall", unit="share", better="more"
    ),
    Measure(
        name="precision.interior.*",
        title="Interior * precision",
        unit="share",
        better="more",
    ),
    Measure(name="recall.*", title="* recall", unit="share", better="more"),
    Measure(name="precision.*", title="* precision", unit="share", better="more"),
    Measure(
        name="brier",
        title="Squared error of the probabilities",
        unit="score",
        better="less",
    ),
    Measure(
        name="calibration",
        title="Calibration error of the probabilities",
        unit="share",
        better="less",
    ),
)
DISTANCE = (
    Measure(
        name="mae",
        title="Mean absolute error",
        unit="steps",
        better="less",
        headline=True,
        phrase="tells the steps to the goal with a mean error of {}",
    ),
    Measure(
        name="r2",
        title="Variance explained",
        unit="share",
        better="more",
        headline=True,
    ),
    Measure(
        name="mae.mean", title="Error of naming the mean", unit="steps", better="less"
    ),
    Measure(
        name="r2.mean",
        title="Variance explained by the mean",
        unit="share",
        better="more",
    ),
    Measure(
        name="mae.manhattan",
        title="Error of a line through the Manhattan distance",
        unit="steps",
        better="less",
    ),
    Measure(
        name="r2.manhattan",
        title="Variance explained by the Manhattan distance",
        unit="share",
        headline=True,
    ),
    Measure(
        name="mae.length",
        title="Error of a line through the length of the answer",
        unit="steps",
        better="less",
    ),
    Measure(
        name="r2.length",
        title="Variance explained by the length of the answer",
        unit="share",
        headline=True,
    ),
)
PLAN = (
    Measure(
        name="prefix.1",
        title="Next action",
        unit="share",
        better="more",
        headline=True,
        phrase="names the next action in {} of turns",
    ),
    Measure(
        name="prefix.3",
        title="Next three actions",
        unit="share",
        better="more",
        headline=True,
    ),
    Measure(name="prefix.*", title="Next * actions", unit="share", better="more"),
    Measure(
        name="marginal.1",
        title="Next action, naming the commonest",
        unit="share",
        headline=True,
    ),
    Measure(
        name="marginal.*", title="Next * actions, naming the commonest", unit="share"
    ),
    Measure(name="random.*", title="Next * actions, guessing", unit="share"),
    Measure(
        name="length.exact", title="Length of the plan", unit="share", better="more"
    ),
    Measure(name="length.decoded", title="Length, decoded", unit="actions"),
    Measure(name="length.true", title="Length, true", unit="actions"),
    Measure(name="length.bias", title="Length, decoded less true", unit="actions"),
    Measure(
        name="length.error",
        title="Error of the length, median",
        unit="actions",
        better="less",
    ),
)
FIRST = "Decoded maps in first turns, as published"
FIRST_MAPS = (
    Measure(
        name="maps.accuracy",
        title="Cells of the grid that are right",
        unit="share",
        better="more",
        group=FIRST,
    ),
    Measure(
        name="maps.accuracy.majority",
        title="The same, naming each cell's commonest class",
        group=FIRST,
    ),
    Measure(
        name="maps.recall.*",
        title="* recall, first turns",
        unit="share",
        better="more",
        group=FIRST,
    ),
    Measure(
        name="maps.precision.*",
        title="* precision, first turns",
        unit="share",
        better="more",
        group=FIRST,
    ),
    Measure(
        name="maps.top1.*",
        title="* top-1, first turns",
        unit="share",
        better="more",
        group=FIRST,
        caveats=PLACELESS,
    ),
    Measure(
        name="maps.distance.*",
        title="* distance, first turns",
        unit="cells",
        better="less",
        group=FIRST,
        caveats=PLACELESS,
    ),
    Measure(
        name="maps.spread.*",
        title="Distance of all cells decoded as *",
        unit="cells",
        group=FIRST,
    ),
    Measure(
        name="maps.selectivity",
        title="Right cells, less with shuffled labels",
        unit="share",
        group=FIRST,
    ),
    Measure(
        name="maps.selectivity.*",
        title="* top-1, less with shuffled labels",
        unit="share",
        group=FIRST,
    ),
    Measure(
        name="maps.worlds",
        title="Worlds that the probes were trained on",
        unit="count",
        group=FIRST,
    ),
)
DERIVED = "Steps to the goal derived from decoded positions"
STEPS = (
    Measure(
        name="steps.mae",
        title="Error of a line through the decoded Manhattan distance",
        unit="steps",
        group=DERIVED,
        caveats=PLACELESS,
    ),
    Measure(
        name="steps.r2",
        title="Variance explained by it",
        unit="share",
        better="more",
        group=DERIVED,
    ),
)
BELIEVED = "Actions against decoded maps"
BELIEFS = (
    Measure(
        name="beliefs.accuracy.true",
        title="Optimal on the true map",
        unit="share",
        group=BELIEVED,
    ),
    Measure(
        name="beliefs.accuracy.decoded",
        title="Optimal on the decoded map",
        unit="share",
        group=BELIEVED,
        caveats=PLACELESS,
    ),
    Measure(
        name="beliefs.valid",
        title="Decoded maps with a way",
        unit="share",
        better="more",
        group=BELIEVED,
    ),
    Measure(
        name="beliefs.agreement", title="Optimal on both", unit="share", group=BELIEVED
    ),
    Measure(
        name="beliefs.agreement.released",
        title="Some action optimal on both",
        unit="share",
        group=BELIEVED,
    ),
    Measure(
        name="beliefs.recovery",
        title="Errors that are optimal on the decoded map",
        unit="share",
        group=BELIEVED,
    ),
    Measure(
        name="beliefs.recovery.released",
        title="Errors where some action is optimal on both",
        unit="share",
        group=BELIEVED,
    ),
    Measure(
        name="beliefs.expected",
        title="Expected optimality, sampled maps with a way",
        unit="share",
        group=BELIEVED,
    ),
    Measure(
        name="beliefs.expected.chance",
        title="That of a random action",
        unit="share",
        group=BELIEVED,
    ),
    Measure(
        name="beliefs.spread.*",
        title="Distance of all cells decoded as *",
        unit="cells",
        group=BELIEVED,
    ),
)
CAUSED = "What causes the action"
CAUSES = (
    Measure(
        name="causes.effect",
        title="Increase of predicted actions with the change",
        unit="share",
        group=CAUSED,
    ),
    Measure(
        name="causes.normalised_shift",
        title="Normalised shift towards the counterfactual",
        unit="share",
        group=CAUSED,
    ),
    Measure(name="causes.moved", title="Changed actions", unit="share", group=CAUSED),
    Measure(
        name="causes.p",
        title="p value of the effect, corrected after Holm",
        unit="probability",
        group=CAUSED,
    ),
    Measure(
        name="causes.excess",
        title="Effect beyond the nearest control",
        unit="share",
        group=CAUSED,
    ),
    Measure(
        name="causes.decoded",
        title="Decoded at the place steered to",
        unit="share",
        group=CAUSED,
    ),
    Measure(
        name="causes.called",
        title="Called a cause (1) or not (0)",
        unit="share",
        group=CAUSED,
    ),
)
