"""Titles, units and directions of the numbers about reward models."""

from functools import partial

from gde.data.measure import Measure

GROUP = "Reward models"
Noted = partial(Measure, group=GROUP, question="judges")
Judged = partial(Noted, contender="reward")
EPIC = (
    Judged("epic", "EPIC distance", "distance", "less", headline=True),
    Judged("epic.unjudged", "Episodes without rewards", "share", "less"),
    Noted("rewards.made_by", "Provenance of rewards", "share"),
    Noted("rewards.counted", "Events in reward models", "count"),
    Judged(
        "epic.one_sided", "Tasks without both a success and a failure", "share", "less"
    ),
    Judged("epic.unvaried", "Worlds without any progress", "share", "less"),
)
STEP_ORDER = (
    Judged(
        "step_order.progress",
        "Steps of progress told from others (AUC)",
        "share",
        "more",
        headline=True,
    ),
    Judged(
        "step_order.harm",
        "Harmful steps told from others (AUC)",
        "share",
        "more",
        headline=True,
    ),
)
REGRET = (
    Judged(
        "reward_regret.auc",
        "Failures told from successes by regret (AUC)",
        "share",
        "more",
    ),
)
