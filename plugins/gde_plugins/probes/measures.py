"""Titles and units of the probes' measurements. `*` is a kind of cell."""

from dataclasses import replace
from functools import partial

from gde.data.measure import Measure

PLACELESS = {
    "linear": "The variant linear of cogmap cannot find places: its logits have one slope in every map,"
    " so its misses do not show that no place can be read linearly."
}
"""Shown once beneath a table, so only some of the numbers that follow from places carry
it. Reason: docs/statistics.md.
"""
MAP = (
    Measure(
        "top1.*",
        "* found",
        "share",
        "more",
        headline=True,
        phrase="finds the * in {} of turns",
        caveats=PLACELESS,
    ),
    Measure(
        "early.top1.*",
        "* found early",
        "share",
        "more",
        headline=True,
        caveats=PLACELESS,
    ),
    Measure("code.wall", "Wall code length", "bits", "less", headline=True),
    Measure("distance.*", "* distance", "cells", "less", caveats=PLACELESS),
    Measure("spread.*", "Distance of all cells decoded as *", "cells", "less"),
    Measure("accuracy.interior", "Interior accuracy", "share", "more"),
    Measure(
        "accuracy.interior.majority",
        "Interior accuracy, most frequent class per cell",
        "share",
    ),
    Measure(
        "accuracy.interior.constant", "Interior accuracy, most frequent class", "share"
    ),
    Measure(
        "accuracy.grid", "Accuracy on the grid, padding not chosen", "share", "more"
    ),
    Measure(
        "accuracy.grid.majority",
        "Accuracy on the grid, most frequent class per cell",
        "share",
    ),
    Measure(
        "accuracy.grid.constant", "Accuracy on the grid, most frequent class", "share"
    ),
    Measure("recall.macro", "Recall, mean over classes", "share", "more"),
    Measure("recall.macro.majority", "Recall, most frequent class per cell", "share"),
    Measure("recall.macro.constant", "Recall, most frequent class", "share"),
    Measure("accuracy", "Accuracy, padding included", "share", "more"),
    Measure("auc.*", "* AUC within the outermost cells", "share", "more"),
    Measure("recall.interior.*", "Interior * recall", "share", "more"),
    Measure("precision.interior.*", "Interior * precision", "share", "more"),
    Measure("recall.*", "* recall", "share", "more"),
    Measure("precision.*", "* precision", "share", "more"),
    Measure("brier", "Squared error of the probabilities", "score", "less"),
    Measure("calibration", "Calibration error of the probabilities", "share", "less"),
)
DISTANCE = (
    Measure(
        "mae",
        "Mean absolute error",
        "steps",
        "less",
        headline=True,
        phrase="predicts the steps to the goal with a mean absolute error of {}",
    ),
    Measure("r2", "Variance explained", "share", "more", headline=True),
    Measure("mae.mean", "Mean absolute error, mean baseline", "steps", "less"),
    Measure("r2.mean", "Variance explained, mean baseline", "share", "more"),
    Measure(
        "mae.manhattan",
        "Mean absolute error, Manhattan-distance baseline",
        "steps",
        "less",
    ),
    Measure(
        "r2.manhattan",
        "Variance explained, Manhattan-distance baseline",
        "share",
        headline=True,
    ),
    Measure(
        "mae.length", "Mean absolute error, answer-length baseline", "steps", "less"
    ),
    Measure(
        "r2.length",
        "Variance explained, answer-length baseline",
        "share",
        headline=True,
    ),
)
PLAN = (
    Measure(
        "prefix.1",
        "Next action",
        "share",
        "more",
        headline=True,
        phrase="predicts the next action in {} of turns",
    ),
    Measure("prefix.3", "Next three actions", "share", "more", headline=True),
    Measure("prefix.*", "Next * actions", "share", "more"),
    Measure("marginal.1", "Next action, most frequent action", "share", headline=True),
    Measure("marginal.*", "Next * actions, most frequent actions", "share"),
    Measure("random.*", "Next * actions, uniform guesses", "share"),
    Measure("length.exact", "Exact length of the plan", "share", "more"),
    Measure("length.decoded", "Decoded length of the plan", "actions"),
    Measure("length.true", "True length of the plan", "actions"),
    Measure("length.bias", "Bias of the decoded length", "actions"),
    Measure("length.error", "Median error of the decoded length", "actions", "less"),
)
First = partial(
    Measure, group="Decoded maps in first turns, as published", question="believes"
)
FIRST_MAPS = (
    First("maps.accuracy", "Accuracy on the grid, first turns", "share", "more"),
    First(
        "maps.accuracy.majority",
        "Accuracy on the grid, first turns, most frequent class per cell",
        "share",
    ),
    First("maps.recall.*", "* recall, first turns", "share", "more"),
    First("maps.precision.*", "* precision, first turns", "share", "more"),
    First("maps.top1.*", "* top-1, first turns", "share", "more", caveats=PLACELESS),
    First(
        "maps.distance.*", "* distance, first turns", "cells", "less", caveats=PLACELESS
    ),
    First("maps.spread.*", "Distance of all cells decoded as *", "cells"),
    First("maps.worlds", "Training worlds", "count"),
)
DERIVED = "Steps to the goal derived from decoded positions"
STEPS = (
    Measure(
        "steps.mae",
        "Mean absolute error from the decoded Manhattan distance",
        "steps",
        group=DERIVED,
        caveats=PLACELESS,
    ),
    Measure(
        "steps.r2",
        "Variance explained by the decoded Manhattan distance",
        "share",
        "more",
        group=DERIVED,
    ),
)
Believed = partial(Measure, group="Actions and decoded maps", question="believes")
BELIEFS = (
    Believed("beliefs.accuracy.true", "Optimal on the true map", "share"),
    Believed(
        "beliefs.accuracy.decoded",
        "Optimal on the decoded map",
        "share",
        "more",
        caveats=PLACELESS,
    ),
    Believed(
        "beliefs.accuracy.decoded.shuffled",
        "Optimal on maps decoded in other worlds",
        "share",
    ),
    Believed("beliefs.valid", "Decoded maps with a path", "share", "more"),
    Believed("beliefs.agreement", "Optimal on both", "share"),
    Believed("beliefs.agreement.released", "Some action optimal on both", "share"),
    Believed(
        "beliefs.recovery",
        "Recovery: errors that are optimal on the decoded map",
        "share",
        "more",
    ),
    Believed(
        "beliefs.recovery.shuffled", "Recovery, decoded maps of other worlds", "share"
    ),
    Believed("beliefs.recovery.random", "Recovery, errors by chance", "share"),
    Believed(
        "beliefs.recovery.released",
        "Errors where some action is optimal on both",
        "share",
    ),
    Believed(
        "beliefs.expected", "Expected optimality, sampled maps with a path", "share"
    ),
    Believed(
        "beliefs.expected.chance", "Expected optimality of a random action", "share"
    ),
    Believed("beliefs.regret.right", "Steps lost, decoded map leads rightly", "steps"),
    Believed("beliefs.regret.wrong", "Steps lost, decoded map misleads", "steps"),
    Believed(
        "beliefs.regret.difference",
        "Steps lost, misleading minus right maps in the same worlds",
        "steps",
    ),
    Believed("beliefs.spread.*", "Distance of all cells decoded as *", "cells"),
)
Updated = partial(
    Measure,
    group="Decoded places of things that a perturbation moved",
    question="believes",
)
UPDATES = (
    Updated(
        "updates.before",
        "Decoded at its place, last turn before the perturbation",
        "share",
        caveats=PLACELESS,
    ),
    Updated("updates.new", "Decoded at its new place", "share", "more"),
    Updated("updates.old", "Decoded at its old place", "share", "less"),
    Updated("updates.elsewhere", "Decoded elsewhere", "share"),
    Updated("updates.change", "Decoded at its place, after minus before", "share"),
    Updated(
        "updates.unperturbed", "Decoded at its place, unperturbed episodes", "share"
    ),
)
Stated = partial(Measure, group="Maps stated in words", question="believes")
STATED = (
    Stated("stated.answered", "Answers with a map", "share", "more", headline=True),
    Stated("stated.flaw.*", "Answers without a map: *", "share"),
    Stated("stated.accuracy", "Cells stated rightly", "share", "more", headline=True),
    Stated("stated.agent", "Agent stated rightly", "share", "more"),
    Stated("stated.goal", "Goal stated rightly", "share", "more"),
    Stated("stated.present", "Agent stated where it is now", "share"),
    Stated("stated.agreement", "Cells stated as decoded", "share"),
    Stated("stated.agreement.*", "* stated as decoded", "share"),
    Stated("stated.decoded", "Cells decoded rightly, same turns", "share"),
)
Attributed = partial(
    Measure, group="Causes of actions that are not optimal", question="believes"
)
ERRORS = (
    Attributed("errors.unreadable", "Unreadable answer", "share"),
    Attributed(
        "errors.belief",
        "Belief: optimal on the decoded map",
        "share",
        "more",
        caveats=PLACELESS,
    ),
    Attributed(
        "errors.belief.shuffled", "Belief, decoded maps of other worlds", "share"
    ),
    Attributed(
        "errors.stated", "Stated belief: follows from a false statement", "share"
    ),
    Attributed("errors.goal", "Goal: optimal towards another thing", "share"),
    Attributed(
        "errors.plan", "Plan: begins a stated path that is not shortest", "share"
    ),
    Attributed("errors.slip", "Slip: another action was likelier or planned", "share"),
    Attributed("errors.unexplained", "Unexplained", "share"),
    Attributed("errors.*.random", "*, random actions in the same turns", "share"),
)
Caused = partial(Measure, group="Causal tests", question="believes")
CAUSES = (
    Caused(
        "causes.effect", "Effect: increase in counterfactual-optimal actions", "share"
    ),
    Caused(
        "causes.direct",
        "Direct effect: the change, after the unchanged reasoning",
        "share",
    ),
    Caused(
        "causes.indirect",
        "Indirect effect: the changed reasoning, without the change",
        "share",
    ),
    Caused(
        "causes.written.counterfactual",
        "Reasoning writes the counterfactual place",
        "share",
    ),
    Caused("causes.written.*", "Reasoning writes the true place of the *", "share"),
    Caused("causes.moved", "Changed actions", "share"),
    Caused("causes.p", "p value of the effect, Holm-corrected", "probability"),
    Caused("causes.excess", "Effect beyond the strongest control", "share"),
    Caused("causes.decoded", "Decoded at the steered place", "share"),
    Caused("causes.called", "Causal effect detected (1) or not (0)", "count"),
    Caused(
        "causes.pursued",
        "The way follows the {thing}, moved in the {by} (1), or not shown (0)",
        "count",
    ),
)
OF_DIRECTION = ("effect", "direct", "indirect", "moved", "p", "excess", "called")
DIRECTION = tuple(
    replace(one, name=f"direction.{name}")
    for one in CAUSES
    for name in OF_DIRECTION
    if one.name == f"causes.{name}"
)
