"""What the numbers of maximum-entropy goal-directedness mean to a reader."""

from gde.data.measure import Measure

GOALS = "How goal-directed, and towards what (maximum-entropy goal-directedness)"

KNOWN = (
    Measure(
        name="meg.known",
        title="Goal-directedness towards the reward of the model",
        unit="nats",
        better="more",
        group=GOALS,
        headline=True,
    ),
    Measure(
        name="meg.known.share",
        title="Towards the reward, share of the most possible",
        unit="share",
        better="more",
        group=GOALS,
    ),
    Measure(
        name="meg.known.of_optimal",
        title="Towards the reward, share of an optimal agent's",
        unit="share",
        better="more",
        group=GOALS,
    ),
    Measure(
        name="meg.known.beyond",
        title="Towards the goal, beyond a placebo goal",
        unit="nats",
        better="more",
        group=GOALS,
        headline=True,
    ),
    Measure(name="meg.known.beyond.p", title="Goal-blind agents with as much", unit="probability", group=GOALS),
    Measure(name="meg.known.beta", title="Rationality that fits best", unit="1 / reward", better="more", group=GOALS),
    Measure(name="meg.known.unusable", title="Decisions without an action", unit="count", better="less", group=GOALS),
)
TO = (
    Measure(name="meg.to", title="Goal-directedness towards", unit="nats", better="more", group=GOALS, headline=True),
    Measure(name="meg.to.share", title="Towards, share of the most possible", unit="share", better="more", group=GOALS),
    Measure(name="meg.to.posterior", title="Probability of being after it", unit="probability", group=GOALS),
)
UNKNOWN = (
    Measure(
        name="meg.unknown",
        title="Goal-directedness towards anything that the features say",
        unit="nats",
        better="more",
        group=GOALS,
        headline=True,
    ),
    Measure(
        name="meg.unknown.share",
        title="Towards anything, share of the most possible",
        unit="share",
        better="more",
        group=GOALS,
    ),
    Measure(name="meg.unknown.weight", title="Weight in the utility that fits best", unit="nats", group=GOALS),
    Measure(name="meg.unknown.due", title="Owed to the feature", unit="nats", group=GOALS),
)
BELIEF = (
    Measure(
        name="meg.belief",
        title="Goal-directedness towards the goal",
        unit="nats",
        better="more",
        group=GOALS,
        headline=True,
    ),
    Measure(
        name="meg.belief.gain",
        title="What a decoded goal explains beyond the true one, where they differ",
        unit="nats",
        better="more",
        group=GOALS,
    ),
)
INSIDE = (
    Measure(name="meg.inside", title="Towards what hidden states encode", unit="nats", better="more", group=GOALS),
    Measure(
        name="meg.inside.gain",
        title="What hidden states explain beyond the features",
        unit="nats",
        better="more",
        group=GOALS,
        headline=True,
    ),
    Measure(
        name="meg.inside.beyond", title="The same beyond that of a control", unit="nats", better="more", group=GOALS
    ),
)
COMPONENTS = (Measure(name="explained", title="Variance explained", unit="share", better="more", headline=True),)
