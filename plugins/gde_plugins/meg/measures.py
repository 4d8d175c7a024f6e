"""What the numbers of maximum-entropy goal-directedness mean to a reader."""

from functools import partial

from gde.data.measure import Measure

GOALS = "How goal-directed, and towards what (maximum-entropy goal-directedness)"
Goal = partial(Measure, group=GOALS, question="wants")
KNOWN = (
    Goal(
        name="meg.known",
        title="Goal-directedness towards the reward of the model",
        unit="nats",
        better="more",
        headline=True,
    ),
    Goal(name="meg.known.share", title="Goal-directedness, share of the most possible", unit="share", better="more"),
    Goal(
        name="meg.known.of_optimal", title="Goal-directedness, share of an optimal agent's", unit="share", better="more"
    ),
    Goal(
        name="meg.known.beyond",
        title="Goal-directedness beyond that towards a placebo goal",
        unit="nats",
        better="more",
        headline=True,
    ),
    Goal(name="meg.known.beyond.p", title="Goal-blind agents that get as much", unit="probability"),
    Goal(name="meg.known.beta", title="Rationality that fits best", unit="1 / reward", better="more"),
    Goal(name="meg.known.unusable", title="Decisions without an action", unit="count", better="less"),
)
TO = (
    Goal(name="meg.to", title="Goal-directedness towards {utility}", unit="nats", better="more", headline=True),
    Goal(name="meg.to.share", title="Share of the most possible, towards {utility}", unit="share", better="more"),
    Goal(name="meg.to.posterior", title="Probability of being after {utility}", unit="probability"),
)
UNKNOWN = (
    Goal(
        name="meg.unknown",
        title="Goal-directedness towards anything that the features say",
        unit="nats",
        better="more",
        headline=True,
    ),
    Goal(
        name="meg.unknown.share",
        title="Goal-directedness towards anything, share of the most possible",
        unit="share",
        better="more",
    ),
    Goal(name="meg.unknown.weight", title="Weight of {feature} in the utility that fits best", unit="nats"),
    Goal(name="meg.unknown.due", title="Owed to {feature}", unit="nats"),
)
BELIEF = (
    Goal(
        name="meg.belief",
        title="Goal-directedness towards the goal, {utility}",
        unit="nats",
        better="more",
        headline=True,
    ),
    Goal(
        name="meg.belief.gain",
        title="What a decoded goal explains beyond the true one, where they differ",
        unit="nats",
        better="more",
    ),
)
INSIDE = (
    Goal(name="meg.inside", title="Goal-directedness towards a utility of {utility}", unit="nats", better="more"),
    Goal(
        name="meg.inside.gain",
        title="What hidden states explain beyond the features",
        unit="nats",
        better="more",
        headline=True,
    ),
    Goal(name="meg.inside.beyond", title="What hidden states explain beyond a control", unit="nats", better="more"),
)
COMPONENTS = (Measure(name="explained", title="Variance explained", unit="share", better="more", headline=True),)
