"""Titles and units of the probes' measurements. `*` is a kind of cell."""

from typing import Any

from gde.data.measure import Better, Measure


def _measure(name: str, unit: str, better: Better, title: str, **more: Any) -> Measure:
    return Measure(name=name, title=title, unit=unit, better=better, **more)


PLACELESS = {
    "linear": "The variant linear of cogmap cannot find places, having the same slope of logits in every map: its"
    " misses do not show that none can be read linearly."
}
"""Shown once beneath a table, so not of every number that follows from places. Why:
docs/statistics.md.
"""
MAP = (
    _measure(
        "distance.*",
        "cells",
        "less",
        "* distance",
        headline=True,
        phrase="places the * on average {} from where it is",
        caveats=PLACELESS,
    ),
    _measure("top1.*", "share", "more", "* top-1", headline=True, caveats=PLACELESS),
    _measure("spread.*", "cells", "less", "Distance of all cells decoded as *"),
    _measure("accuracy.interior", "share", "more", "Interior accuracy"),
    _measure(
        "accuracy.interior.majority",
        "share",
        "",
        "The same, naming each cell's commonest class",
    ),
    _measure(
        "accuracy.interior.constant",
        "share",
        "",
        "The same, always naming the commonest class",
    ),
    _measure(
        "accuracy.grid", "share", "more", "Accuracy on the grid, padding not chosen"
    ),
    _measure(
        "accuracy.grid.majority",
        "share",
        "",
        "The same, naming each cell's commonest class",
    ),
    _measure(
        "accuracy.grid.constant",
        "share",
        "",
        "The same, always naming the commonest class",
    ),
    _measure("recall.macro", "share", "more", "Recall, mean over classes"),
    _measure(
        "recall.macro.majority",
        "share",
        "",
        "The same, naming each cell's commonest class",
    ),
    _measure(
        "recall.macro.constant",
        "share",
        "",
        "The same, always naming the commonest class",
    ),
    _measure("accuracy", "share", "more", "Accuracy, padding included"),
    _measure("auc.*", "share", "more", "* AUC within the outermost cells"),
    _measure("recall.interior.*", "share", "more", "Interior * recall"),
    _measure("precision.interior.*", "share", "more", "Interior * precision"),
    _measure("recall.*", "share", "more", "* recall"),
    _measure("precision.*", "share", "more", "* precision"),
    _measure("brier", "score", "less", "Squared error of the probabilities"),
    _measure("calibration", "share", "less", "Calibration error of the probabilities"),
)
DISTANCE = (
    _measure(
        "mae",
        "steps",
        "less",
        "Mean absolute error",
        headline=True,
        phrase="tells the steps to the goal with a mean error of {}",
    ),
    _measure("r2", "share", "more", "Variance explained", headline=True),
    _measure("mae.mean", "steps", "less", "Error of naming the mean"),
    _measure("r2.mean", "share", "more", "Variance explained by the mean"),
    _measure(
        "mae.manhattan",
        "steps",
        "less",
        "Error of a line through the Manhattan distance",
    ),
    _measure(
        "r2.manhattan",
        "share",
        "",
        "Variance explained by the Manhattan distance",
        headline=True,
    ),
    _measure(
        "mae.length",
        "steps",
        "less",
        "Error of a line through the length of the answer",
    ),
    _measure(
        "r2.length",
        "share",
        "",
        "Variance explained by the length of the answer",
        headline=True,
    ),
)
PLAN = (
    _measure(
        "prefix.1",
        "share",
        "more",
        "Next action",
        headline=True,
        phrase="names the next action in {} of turns",
    ),
    _measure("prefix.3", "share", "more", "Next three actions", headline=True),
    _measure("prefix.*", "share", "more", "Next * actions"),
    _measure(
        "marginal.1", "share", "", "Next action, naming the commonest", headline=True
    ),
    _measure("marginal.*", "share", "", "Next * actions, naming the commonest"),
    _measure("random.*", "share", "", "Next * actions, guessing"),
    _measure("length.exact", "share", "more", "Length of the plan"),
    _measure("length.decoded", "actions", "", "Length, decoded"),
    _measure("length.true", "actions", "", "Length, true"),
    _measure("length.bias", "actions", "", "Length, decoded less true"),
    _measure("length.error", "actions", "less", "Error of the length, median"),
)
FIRST = "Decoded maps in first turns, as published"
FIRST_MAPS = (
    _measure(
        "maps.accuracy",
        "share",
        "more",
        "Cells of the grid that are right",
        group=FIRST,
    ),
    _measure(
        "maps.accuracy.majority",
        "",
        "",
        "The same, naming each cell's commonest class",
        group=FIRST,
    ),
    _measure("maps.recall.*", "share", "more", "* recall, first turns", group=FIRST),
    _measure(
        "maps.precision.*", "share", "more", "* precision, first turns", group=FIRST
    ),
    _measure(
        "maps.top1.*",
        "share",
        "more",
        "* top-1, first turns",
        group=FIRST,
        caveats=PLACELESS,
    ),
    _measure(
        "maps.distance.*",
        "cells",
        "less",
        "* distance, first turns",
        group=FIRST,
        caveats=PLACELESS,
    ),
    _measure(
        "maps.spread.*", "cells", "", "Distance of all cells decoded as *", group=FIRST
    ),
    _measure(
        "maps.selectivity",
        "share",
        "",
        "Right cells, less with shuffled labels",
        group=FIRST,
    ),
    _measure(
        "maps.selectivity.*",
        "share",
        "",
        "* top-1, less with shuffled labels",
        group=FIRST,
    ),
    _measure(
        "maps.worlds",
        "count",
        "",
        "Worlds that the probes were trained on",
        group=FIRST,
    ),
)
DERIVED = "Steps to the goal derived from decoded positions"
STEPS = (
    _measure(
        "steps.mae",
        "steps",
        "",
        "Error of a line through the decoded Manhattan distance",
        group=DERIVED,
        caveats=PLACELESS,
    ),
    _measure("steps.r2", "share", "more", "Variance explained by it", group=DERIVED),
)
BELIEVED = "Actions against decoded maps"
BELIEFS = (
    _measure(
        "beliefs.accuracy.true", "share", "", "Optimal on the true map", group=BELIEVED
    ),
    _measure(
        "beliefs.accuracy.decoded",
        "share",
        "",
        "Optimal on the decoded map",
        group=BELIEVED,
        caveats=PLACELESS,
    ),
    _measure(
        "beliefs.valid", "share", "more", "Decoded maps with a way", group=BELIEVED
    ),
    _measure("beliefs.agreement", "share", "", "Optimal on both", group=BELIEVED),
    _measure(
        "beliefs.agreement.released",
        "share",
        "",
        "Some action optimal on both",
        group=BELIEVED,
    ),
    _measure(
        "beliefs.recovery",
        "share",
        "",
        "Errors that are optimal on the decoded map",
        group=BELIEVED,
    ),
    _measure(
        "beliefs.recovery.released",
        "share",
        "",
        "Errors where some action is optimal on both",
        group=BELIEVED,
    ),
    _measure(
        "beliefs.expected",
        "share",
        "",
        "Expected optimality, sampled maps with a way",
        group=BELIEVED,
    ),
    _measure(
        "beliefs.expected.chance",
        "share",
        "",
        "That of a random action",
        group=BELIEVED,
    ),
    _measure(
        "beliefs.spread.*",
        "cells",
        "",
        "Distance of all cells decoded as *",
        group=BELIEVED,
    ),
)
CAUSED = "What causes the action"
CAUSES = (
    _measure(
        "causes.effect",
        "share",
        "",
        "Increase of predicted actions with the change",
        group=CAUSED,
    ),
    _measure(
        "causes.normalised_shift",
        "share",
        "",
        "Normalised shift towards the counterfactual",
        group=CAUSED,
    ),
    _measure("causes.moved", "share", "", "Changed actions", group=CAUSED),
    _measure(
        "causes.p",
        "probability",
        "",
        "p value of the effect, corrected after Holm",
        group=CAUSED,
    ),
    _measure(
        "causes.excess", "share", "", "Effect beyond the nearest control", group=CAUSED
    ),
    _measure(
        "causes.decoded", "share", "", "Decoded at the place steered to", group=CAUSED
    ),
    _measure(
        "causes.called", "share", "", "Called a cause (1) or not (0)", group=CAUSED
    ),
)
