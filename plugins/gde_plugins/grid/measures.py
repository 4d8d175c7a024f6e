"""Titles, units and directions of the numbers about keys, fog and perturbations."""

from functools import partial

from gde.data.measure import Measure

Objects = partial(Measure, group="Keys and other objects")
InFog = partial(Measure, group="In fog")
TURNED = "On transformed grids"
After = partial(Measure, group="After the perturbation")

KEYS = (
    Objects("keys.accuracy.collect", "Accuracy, collecting the key", "share", "more"),
    Objects("keys.accuracy.open", "Accuracy, opening the door", "share", "more"),
    Objects("keys.accuracy.reach", "Accuracy, reaching the goal", "share", "more"),
    Objects("keys.pickup", "Pickup rate", "share", headline=True),
    Objects(
        "keys.pickup.control",
        "Pickup rate, control without object",
        "share",
        headline=True,
    ),
    Objects(
        "keys.attraction",
        "Attraction of errors to the object",
        "share",
        "less",
        headline=True,
    ),
    Objects(
        "keys.attraction.control",
        "Attraction, control without object",
        "share",
        headline=True,
    ),
    Objects(
        "keys.jaccard", "Jaccard similarity with and without object", "share", "more"
    ),
)
EXPLORATION = (
    InFog(
        "exploration.accuracy",
        "Accuracy given the known cells",
        "share",
        "more",
        headline=True,
    ),
    InFog("exploration.informed_accuracy", "Accuracy given all cells", "share", "more"),
    InFog("exploration.backtracking", "Backtracking", "share", "less"),
    InFog("exploration.walls", "Moves into known walls", "share", "less"),
    InFog("exploration.dead_ends", "Steps into known dead ends", "share", "less"),
    InFog("exploration.ratio", "Turns relative to the belief oracle", "ratio", "less"),
)
RECOVERY = (
    After("recovery.happened", "Perturbed episodes", "share"),
    After(
        "recovery.success",
        "Goal success rate after the perturbation",
        "share",
        "more",
        headline=True,
    ),
    After(
        "recovery.accuracy_before", "Accuracy before the perturbation", "share", "more"
    ),
    After(
        "recovery.accuracy_after", "Accuracy after the perturbation", "share", "more"
    ),
    After("recovery.never", "Episodes without an optimal action", "share", "less"),
    After("recovery.delay", "Turns until the first optimal action", "turns", "less"),
    After("recovery.excess", "Excess turns", "turns", "less"),
    After(
        "recovery.toward_distractor",
        "Attraction of errors to the distractor",
        "share",
        "less",
    ),
)
EQUIVARIANCE = (
    Measure(
        "equivariance.distance",
        "Total variation between policies",
        "share",
        "less",
        group=TURNED,
    ),
    Measure("equivariance.shift", "Shift of move frequencies", "share", group=TURNED),
    Measure(
        "equivariance.p",
        "p value of the shift of move frequencies",
        "probability",
        group=TURNED,
    ),
)
TOKENS = (
    Measure("grid.tokens", "Cells that are one token", "share", "more", group="Tokens"),
    Measure("grid.tokens.other", "Cells in other tokens", "count", group="Tokens"),
)
