"""Titles and units of the probes' measurements. `*` is a kind of cell."""

from typing import Any

from gde.data.measure import Better, Measure


def _measure(name: str, unit: str, better: Better, title: str, **more: Any) -> Measure:
    return Measure(name=name, title=title, unit=unit, better=better, **more)


PLACELESS = {
    "linear": "The variant linear of cogmap cannot find places: its logits have one slope in every map,"
    " so its misses do not show that no place can be read linearly."
}
"""Shown once beneath a table, so only some of the numbers that follow from places carry
it. Reason: docs/statistics.md.
"""
MAP = (
    _measure(
        "distance.*",
        "cells",
        "less",
        "* distance",
        headline=True,
        phrase="decodes the * at a mean distance of {} from its true cell",
        caveats=PLACELESS,
    ),
    _measure("top1.*", "share", "more", "* top-1", headline=True, caveats=PLACELESS),
    _measure("spread.*", "cells", "less", "Distance of all cells decoded as *"),
    _measure("accuracy.interior", "share", "more", "Interior accuracy"),
    _measure(
        "accuracy.interior.majority",
        "share",
        "",
        "Interior accuracy, most frequent class per cell",
    ),
    _measure(
        "accuracy.interior.constant",
        "share",
        "",
        "Interior accuracy, most frequent class",
    ),
    _measure(
        "accuracy.grid", "share", "more", "Accuracy on the grid, padding not chosen"
    ),
    _measure(
        "accuracy.grid.majority",
        "share",
        "",
        "Accuracy on the grid, most frequent class per cell",
    ),
    _measure(
        "accuracy.grid.constant",
        "share",
        "",
        "Accuracy on the grid, most frequent class",
    ),
    _measure("recall.macro", "share", "more", "Recall, mean over classes"),
    _measure(
        "recall.macro.majority",
        "share",
        "",
        "Recall, most frequent class per cell",
    ),
    _measure(
        "recall.macro.constant",
        "share",
        "",
        "Recall, most frequent class",
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
        phrase="predicts the steps to the goal with a mean absolute error of {}",
    ),
    _measure("r2", "share", "more", "Variance explained", headline=True),
    _measure("mae.mean", "steps", "less", "Mean absolute error, mean baseline"),
    _measure("r2.mean", "share", "more", "Variance explained, mean baseline"),
    _measure(
        "mae.manhattan",
        "steps",
        "less",
        "Mean absolute error, Manhattan-distance baseline",
    ),
    _measure(
        "r2.manhattan",
        "share",
        "",
        "Variance explained, Manhattan-distance baseline",
        headline=True,
    ),
    _measure(
        "mae.length",
        "steps",
        "less",
        "Mean absolute error, answer-length baseline",
    ),
    _measure(
        "r2.length",
        "share",
        "",
        "Variance explained, answer-length baseline",
        headline=True,
    ),
)
PLACES = (
    _measure(
        "top1.*",
        "share",
        "more",
        "* row and column right",
        headline=True,
        phrase="finds the * in {} of turns",
    ),
    _measure("top1.row.*", "share", "more", "* row right"),
    _measure("top1.column.*", "share", "more", "* column right"),
)
PLAN = (
    _measure(
        "prefix.1",
        "share",
        "more",
        "Next action",
        headline=True,
        phrase="predicts the next action in {} of turns",
    ),
    _measure("prefix.3", "share", "more", "Next three actions", headline=True),
    _measure("prefix.*", "share", "more", "Next * actions"),
    _measure(
        "marginal.1", "share", "", "Next action, most frequent action", headline=True
    ),
    _measure("marginal.*", "share", "", "Next * actions, most frequent actions"),
    _measure("random.*", "share", "", "Next * actions, uniform guesses"),
    _measure("length.exact", "share", "more", "Exact length of the plan"),
    _measure("length.decoded", "actions", "", "Decoded length of the plan"),
    _measure("length.true", "actions", "", "True length of the plan"),
    _measure("length.bias", "actions", "", "Bias of the decoded length"),
    _measure("length.error", "actions", "less", "Median error of the decoded length"),
)
FIRST = "Decoded maps in first turns, as published"
FIRST_MAPS = (
    _measure(
        "maps.accuracy",
        "share",
        "more",
        "Accuracy on the grid, first turns",
        group=FIRST,
    ),
    _measure(
        "maps.accuracy.majority",
        "share",
        "",
        "Accuracy on the grid, first turns, most frequent class per cell",
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
        "Selectivity (accuracy minus shuffled labels)",
        group=FIRST,
    ),
    _measure(
        "maps.selectivity.*",
        "share",
        "",
        "* selectivity (top-1 minus shuffled labels)",
        group=FIRST,
    ),
    _measure(
        "maps.worlds",
        "count",
        "",
        "Training worlds",
        group=FIRST,
    ),
)
DERIVED = "Steps to the goal derived from decoded positions"
STEPS = (
    _measure(
        "steps.mae",
        "steps",
        "",
        "Mean absolute error from the decoded Manhattan distance",
        group=DERIVED,
        caveats=PLACELESS,
    ),
    _measure(
        "steps.r2",
        "share",
        "more",
        "Variance explained by the decoded Manhattan distance",
        group=DERIVED,
    ),
)
BELIEVED = "Actions and decoded maps"
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
        "beliefs.valid", "share", "more", "Decoded maps with a path", group=BELIEVED
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
        "Recovery: errors that are optimal on the decoded map",
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
        "Expected optimality, sampled maps with a path",
        group=BELIEVED,
    ),
    _measure(
        "beliefs.expected.chance",
        "share",
        "",
        "Expected optimality of a random action",
        group=BELIEVED,
    ),
    _measure(
        "beliefs.regret.right",
        "steps",
        "",
        "Steps lost, decoded map leads rightly",
        group=BELIEVED,
    ),
    _measure(
        "beliefs.regret.wrong",
        "steps",
        "",
        "Steps lost, decoded map misleads",
        group=BELIEVED,
    ),
    _measure(
        "beliefs.regret.difference",
        "steps",
        "",
        "Steps lost, misleading minus right maps in the same worlds",
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
UPDATED = "Decoded places of things that a perturbation moved"
UPDATES = (
    _measure(
        "updates.before",
        "share",
        "",
        "Decoded at its place, last turn before the perturbation",
        group=UPDATED,
        caveats=PLACELESS,
    ),
    _measure("updates.new", "share", "more", "Decoded at its new place", group=UPDATED),
    _measure("updates.old", "share", "less", "Decoded at its old place", group=UPDATED),
    _measure("updates.elsewhere", "share", "", "Decoded elsewhere", group=UPDATED),
    _measure(
        "updates.change",
        "share",
        "",
        "Decoded at its place, after minus before",
        group=UPDATED,
    ),
    _measure(
        "updates.unperturbed",
        "share",
        "",
        "Decoded at its place, unperturbed episodes",
        group=UPDATED,
    ),
    _measure(
        "updates.excess",
        "share",
        "more",
        "Decoded at its new place, minus random weights",
        group=UPDATED,
    ),
    _measure(
        "updates.p",
        "probability",
        "",
        "p value vs random weights, Holm-corrected",
        group=UPDATED,
    ),
)
STATING = "Maps stated in words"
STATED = (
    _measure(
        "stated.answered",
        "share",
        "more",
        "Answers with a map",
        headline=True,
        group=STATING,
    ),
    _measure("stated.flaw.*", "share", "", "Answers without a map: *", group=STATING),
    _measure(
        "stated.accuracy",
        "share",
        "more",
        "Cells stated rightly",
        headline=True,
        group=STATING,
    ),
    _measure("stated.agent", "share", "more", "Agent stated rightly", group=STATING),
    _measure("stated.goal", "share", "more", "Goal stated rightly", group=STATING),
    _measure("stated.agreement", "share", "", "Cells stated as decoded", group=STATING),
    _measure("stated.agreement.*", "share", "", "* stated as decoded", group=STATING),
    _measure(
        "stated.decoded",
        "share",
        "",
        "Cells decoded rightly, same turns",
        group=STATING,
    ),
)
ATTRIBUTED = "Causes of actions that are not optimal"
ERRORS = (
    _measure("errors.unreadable", "share", "", "Unreadable answer", group=ATTRIBUTED),
    _measure(
        "errors.belief",
        "share",
        "",
        "Belief: optimal on the decoded map",
        group=ATTRIBUTED,
        caveats=PLACELESS,
    ),
    _measure(
        "errors.belief.shuffled",
        "share",
        "",
        "Belief, decoded maps of other worlds",
        group=ATTRIBUTED,
    ),
    _measure(
        "errors.stated",
        "share",
        "",
        "Stated belief: follows from a false statement",
        group=ATTRIBUTED,
    ),
    _measure(
        "errors.goal",
        "share",
        "",
        "Goal: optimal towards another thing",
        group=ATTRIBUTED,
    ),
    _measure(
        "errors.plan",
        "share",
        "",
        "Plan: begins a stated path that is not shortest",
        group=ATTRIBUTED,
    ),
    _measure(
        "errors.slip",
        "share",
        "",
        "Slip: another action was likelier or planned",
        group=ATTRIBUTED,
    ),
    _measure("errors.unexplained", "share", "", "Unexplained", group=ATTRIBUTED),
    _measure(
        "errors.*.random",
        "share",
        "",
        "*, random actions in the same turns",
        group=ATTRIBUTED,
    ),
)
FOLLOWED = "Maps that actions follow"
FOLLOWING = (
    _measure(
        "following.true", "share", "more", "Optimal on the true map", group=FOLLOWED
    ),
    _measure(
        "following.stated", "share", "", "Optimal on the stated map", group=FOLLOWED
    ),
    _measure(
        "following.stated.shuffled",
        "share",
        "",
        "Optimal on maps stated in other worlds",
        group=FOLLOWED,
    ),
    _measure(
        "following.decoded",
        "share",
        "",
        "Optimal on the decoded map",
        group=FOLLOWED,
        caveats=PLACELESS,
    ),
    _measure(
        "following.decoded.shuffled",
        "share",
        "",
        "Optimal on maps decoded in other worlds",
        group=FOLLOWED,
    ),
)
CAUSED = "Causal tests"
CAUSES = (
    _measure(
        "causes.effect",
        "share",
        "",
        "Effect: increase in counterfactual-optimal actions",
        group=CAUSED,
    ),
    _measure(
        "causes.direct",
        "share",
        "",
        "Direct effect: the change, after the unchanged reasoning",
        group=CAUSED,
    ),
    _measure(
        "causes.indirect",
        "share",
        "",
        "Indirect effect: the changed reasoning, without the change",
        group=CAUSED,
    ),
    _measure(
        "causes.written.counterfactual",
        "share",
        "",
        "Reasoning writes the counterfactual place",
        group=CAUSED,
    ),
    _measure(
        "causes.written.*",
        "share",
        "",
        "Reasoning writes the true place of the *",
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
        "p value of the effect, Holm-corrected",
        group=CAUSED,
    ),
    _measure(
        "causes.excess",
        "share",
        "",
        "Effect beyond the strongest control",
        group=CAUSED,
    ),
    _measure(
        "causes.decoded", "share", "", "Decoded at the steered place", group=CAUSED
    ),
    _measure(
        "causes.called",
        "count",
        "",
        "Causal effect detected (1) or not (0)",
        group=CAUSED,
    ),
)
