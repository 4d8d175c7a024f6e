"""Titles and units of the numbers of maximum-entropy goal-directedness."""

from functools import partial

from gde.data.measure import Measure

GROUP = "Goal-directedness (MEG)"
Goal = partial(Measure, group=GROUP, question="wants")

VERDICT = (
    Goal(
        "meg.verdict",
        "Goal-directed",
        "probability",
        headline=True,
        sentence="Goal-directed, tested against other goals: {verdict} (p {}); {test}; "
        "{meg.verdict.share} of what an optimal agent shows; "
        "a walker that is 70 % random would be found in {meg.verdict.found} such runs",
    ),
    Goal("meg.verdict.raw", "Goal-directed, p before correction", "probability"),
    Goal(
        "meg.verdict.share",
        "Share of what an optimal agent shows",
        "share",
        "more",
        headline=True,
    ),
    Goal(
        "meg.verdict.found",
        "Runs in which a walker, 70 % random, would be found",
        "count",
    ),
)
KNOWN = (
    Goal("meg.known", "MEG, known reward", "nats", "more"),
    Goal("meg.known.share", "MEG, share of ceiling", "share", "more"),
    Goal("meg.known.of_optimal", "MEG, share of optimal agent", "share", "more"),
    Goal("meg.known.beta", "Best-fit rationality", "1 / reward", "more"),
    Goal("meg.known.unusable", "Unusable decisions", "count", "less"),
)
TO = (
    Goal("meg.to", "MEG towards {utility}", "nats", "more"),
    Goal("meg.to.share", "MEG towards {utility}, share of ceiling", "share", "more"),
)
UNKNOWN = (
    Goal("meg.unknown", "MEG, unknown utility", "nats", "more"),
    Goal(
        "meg.unknown.share", "MEG, unknown utility, share of ceiling", "share", "more"
    ),
    Goal("meg.unknown.weight", "Fitted weight of {feature}", "nats"),
)
BOUND = (
    Goal("meg.bound", "MEG, lower bound for any utility of states", "nats", "more"),
)
BELIEF = (
    Goal("meg.belief", "MEG towards the {utility} goal", "nats", "more", headline=True),
    Goal("meg.belief.control", "MEG towards the goal that a control decodes", "nats"),
)
