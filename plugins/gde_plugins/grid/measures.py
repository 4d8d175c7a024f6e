"""What the numbers about keys, fog and perturbations mean to a reader."""

from gde.data.measure import Measure

OBJECTS = "Keys and other objects"
FOG = "In fog"
TURNED = "On transformed grids"
AFTER = "After the perturbation"

KEYS = (
    Measure(
        name="keys.accuracy.collect",
        title="Optimal actions while collecting the key",
        unit="share",
        better="more",
        group=OBJECTS,
    ),
    Measure(
        name="keys.accuracy.open",
        title="Optimal actions while opening the door",
        unit="share",
        better="more",
        group=OBJECTS,
    ),
    Measure(
        name="keys.accuracy.reach",
        title="Optimal actions while reaching the goal",
        unit="share",
        better="more",
        group=OBJECTS,
    ),
    Measure(name="keys.pickup", title="Key or object taken", unit="share", group=OBJECTS, headline=True),
    Measure(
        name="keys.pickup.control",
        title="Its place visited in twins without it",
        unit="share",
        group=OBJECTS,
        headline=True,
    ),
    Measure(
        name="keys.attraction",
        title="Errors that lead nearer to the object",
        unit="share",
        better="less",
        group=OBJECTS,
        headline=True,
    ),
    Measure(
        name="keys.attraction.control",
        title="The same in twins without it",
        unit="share",
        group=OBJECTS,
        headline=True,
    ),
    Measure(
        name="keys.jaccard", title="Similarity of episodes with and without", unit="share", better="more", group=OBJECTS
    ),
)
EXPLORATION = (
    Measure(
        name="exploration.accuracy",
        title="Optimal actions, by what can be known in fog",
        unit="share",
        better="more",
        group=FOG,
        headline=True,
    ),
    Measure(
        name="exploration.informed_accuracy",
        title="Optimal actions, by the whole world",
        unit="share",
        better="more",
        group=FOG,
    ),
    Measure(name="exploration.backtracking", title="Needless steps back", unit="share", better="less", group=FOG),
    Measure(name="exploration.walls", title="Moves into known walls", unit="share", better="less", group=FOG),
    Measure(name="exploration.dead_ends", title="Steps into known dead ends", unit="share", better="less", group=FOG),
    Measure(
        name="exploration.ratio",
        title="Length of the way, relative to the belief oracle's",
        unit="ratio",
        better="less",
        group=FOG,
    ),
)
RECOVERY = (
    Measure(name="recovery.happened", title="Episodes in which it happened", unit="share", group=AFTER),
    Measure(
        name="recovery.success",
        title="Goal success rate after the perturbation",
        unit="share",
        better="more",
        group=AFTER,
        headline=True,
    ),
    Measure(
        name="recovery.accuracy_before", title="Optimal actions before it", unit="share", better="more", group=AFTER
    ),
    Measure(name="recovery.accuracy_after", title="Optimal actions after it", unit="share", better="more", group=AFTER),
    Measure(name="recovery.never", title="No optimal action any more", unit="share", better="less", group=AFTER),
    Measure(
        name="recovery.delay", title="Turns before the first optimal action", unit="turns", better="less", group=AFTER
    ),
    Measure(
        name="recovery.excess", title="Turns beyond those that were needed", unit="turns", better="less", group=AFTER
    ),
    Measure(
        name="recovery.toward_distractor",
        title="Errors that lead towards the distractor",
        unit="share",
        better="less",
        group=AFTER,
    ),
)
EQUIVARIANCE = (
    Measure(
        name="equivariance.distance",
        title="Distance of the policy from that on the base grid, turned",
        unit="share",
        better="less",
        group=TURNED,
    ),
    Measure(name="equivariance.shift", title="Moves made more often on the base grid", unit="share", group=TURNED),
    Measure(name="equivariance.p", title="p value of these shifts", unit="probability", group=TURNED),
)
