"""Titles and units of the numbers of maximum-entropy goal-directedness."""

from functools import partial

from gde.data.measure import Measure

GROUP = "Goal-directedness (MEG)"
Goal = partial(Measure, group=GROUP, question="wants")

VERDICT = (
    Goal(
        name="meg.verdict",
        title="Goal-directed towards the goal",
        unit="probability",
        headline=True,
        sentence="Goal-directed towards the goal: {verdict} (p {}); {test}; "
        "{meg.verdict.share} of what an optimal agent shows; "
        "a walker that is 70 % random would be found in {meg.verdict.found} such runs",
    ),
    Goal(
        name="meg.verdict.share",
        title="Share of what an optimal agent shows",
        unit="share",
        better="more",
        headline=True,
    ),
    Goal(
        name="meg.verdict.found",
        title="Runs in which a walker, 70 % random, would be found",
        unit="count",
    ),
)
KNOWN = (
    Goal(name="meg.known", title="MEG, known reward", unit="nats", better="more"),
    Goal(
        name="meg.known.share",
        title="MEG, share of ceiling",
        unit="share",
        better="more",
    ),
    Goal(
        name="meg.known.of_optimal",
        title="MEG, share of optimal agent",
        unit="share",
        better="more",
    ),
    Goal(
        name="meg.known.beta",
        title="Best-fit rationality",
        unit="1 / reward",
        better="more",
    ),
    Goal(
        name="meg.known.unusable",
        title="Unusable decisions",
        unit="count",
        better="less",
    ),
)
TO = (
    Goal(
        name="meg.to",
        title="MEG towards {utility}",
        unit="nats",
        better="more",
    ),
    Goal(
        name="meg.to.share",
        title="MEG towards {utility}, share of ceiling",
        unit="share",
        better="more",
    ),
    Goal(
        name="meg.to.posterior",
        title="Posterior probability of {utility}",
        unit="probability",
    ),
)
UNKNOWN = (
    Goal(
        name="meg.unknown",
        title="MEG, unknown utility",
        unit="nats",
        better="more",
    ),
    Goal(
        name="meg.unknown.share",
        title="MEG, unknown utility, share of ceiling",
        unit="share",
        better="more",
    ),
    Goal(name="meg.unknown.weight", title="Fitted weight of {feature}", unit="nats"),
    Goal(name="meg.unknown.due", title="MEG lost without {feature}", unit="nats"),
)
BOUND = (
    Goal(
        name="meg.bound",
        title="MEG, lower bound for any utility of states",
        unit="nats",
        better="more",
    ),
)
BELIEF = (
    Goal(
        name="meg.belief",
        title="MEG towards the {utility} goal",
        unit="nats",
        better="more",
        headline=True,
    ),
    Goal(
        name="meg.belief.control",
        title="MEG towards the goal that a control decodes",
        unit="nats",
    ),
    Goal(
        name="meg.belief.gain",
        title="MEG gain of decoded over true goal",
        unit="nats",
        better="more",
    ),
)
