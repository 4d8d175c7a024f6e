"""Titles, units and directions of the numbers about keys, fog and perturbations."""

from gde.data.measure import Measure

OBJECTS = "Keys and other objects"
FOG = "In fog"
TURNED = "On transformed grids"
AFTER = "After the perturbation"

KEYS = (
    Measure(
        name="keys.accuracy.collect",
        title="Accuracy, collecting the key",
        unit="share",
        better="more",
        group=OBJECTS,
    ),
    Measure(
        name="keys.accuracy.open",
        title="Accuracy, opening the door",
        unit="share",
        better="more",
        group=OBJECTS,
    ),
    Measure(
        name="keys.accuracy.reach",
        title="Accuracy, reaching the goal",
        unit="share",
        better="more",
        group=OBJECTS,
    ),
    Measure(
        name="keys.pickup",
        title="Pickup rate",
        unit="share",
        group=OBJECTS,
        headline=True,
    ),
    Measure(
        name="keys.pickup.control",
        title="Pickup rate, control without object",
        unit="share",
        group=OBJECTS,
        headline=True,
    ),
    Measure(
        name="keys.attraction",
        title="Attraction of errors to the object",
        unit="share",
        better="less",
        group=OBJECTS,
        headline=True,
    ),
    Measure(
        name="keys.attraction.control",
        title="Attraction, control without object",
        unit="share",
        group=OBJECTS,
        headline=True,
    ),
    Measure(
        name="keys.jaccard",
        title="Jaccard similarity with and without object",
        unit="share",
        better="more",
        group=OBJECTS,
    ),
)
EXPLORATION = (
    Measure(
        name="exploration.accuracy",
        title="Accuracy given the known cells",
        unit="share",
        better="more",
        group=FOG,
        headline=True,
    ),
    Measure(
        name="exploration.informed_accuracy",
        title="Accuracy given all cells",
        unit="share",
        better="more",
        group=FOG,
    ),
    Measure(
        name="exploration.backtracking",
        title="Backtracking",
        unit="share",
        better="less",
        group=FOG,
    ),
    Measure(
        name="exploration.walls",
        title="Moves into known walls",
        unit="share",
        better="less",
        group=FOG,
    ),
    Measure(
        name="exploration.dead_ends",
        title="Steps into known dead ends",
        unit="share",
        better="less",
        group=FOG,
    ),
    Measure(
        name="exploration.ratio",
        title="Turns relative to the belief oracle",
        unit="ratio",
        better="less",
        group=FOG,
    ),
)
RECOVERY = (
    Measure(
        name="recovery.happened", title="Perturbed episodes", unit="share", group=AFTER
    ),
    Measure(
        name="recovery.success",
        title="Goal success rate after the perturbation",
        unit="share",
        better="more",
        group=AFTER,
        headline=True,
    ),
    Measure(
        name="recovery.accuracy_before",
        title="Accuracy before the perturbation",
        unit="share",
        better="more",
        group=AFTER,
    ),
    Measure(
        name="recovery.accuracy_after",
        title="Accuracy after the perturbation",
        unit="share",
        better="more",
        group=AFTER,
    ),
    Measure(
        name="recovery.never",
        title="Episodes without an optimal action",
        unit="share",
        better="less",
        group=AFTER,
    ),
    Measure(
        name="recovery.delay",
        title="Turns until the first optimal action",
        unit="turns",
        better="less",
        group=AFTER,
    ),
    Measure(
        name="recovery.excess",
        title="Excess turns",
        unit="turns",
        better="less",
        group=AFTER,
    ),
    Measure(
        name="recovery.toward_distractor",
        title="Attraction of errors to the distractor",
        unit="share",
        better="less",
        group=AFTER,
    ),
)
EQUIVARIANCE = (
    Measure(
        name="equivariance.distance",
        title="Total variation between policies",
        unit="share",
        better="less",
        group=TURNED,
    ),
    Measure(
        name="equivariance.shift",
        title="Shift of move frequencies",
        unit="share",
        group=TURNED,
    ),
    Measure(
        name="equivariance.p",
        title="p value of the shift of move frequencies",
        unit="probability",
        group=TURNED,
    ),
)
