"""Titles and units of the behaviour metrics."""

from collections.abc import Mapping
from functools import partial

from gde.data.measure import Measure

Did = partial(Measure, group="Behaviour")
Answers = partial(Measure, group="Answers (shares of turns)")
Endings = partial(Measure, group="Endings (shares of episodes)")
Mark = partial(Measure, group="Baselines in the same worlds")
Policy = partial(Measure, group="Empirical policy, from several episodes in one world")
Where = partial(Measure, group="By size, density and distance")

MEASURES: Mapping[str, tuple[Measure, ...]] = {
    "success": (
        Did(
            "success",
            "Success rate",
            "share",
            "more",
            headline=True,
            phrase="reached the goal in {} of episodes",
        ),
        Did(
            "success.solvable",
            "Success rate, worlds that can be solved",
            "share",
            "more",
            headline=True,
        ),
        Did("success.lost", "Goal put out of reach by the agent", "share", "less"),
    ),
    "accuracy": (
        Did(
            "accuracy",
            "Accuracy",
            "share",
            "more",
            headline=True,
            phrase="took an optimal action in {} of steps, averaged over worlds",
        ),
        Did(
            "accuracy.pooled",
            "Accuracy, pooled over steps",
            "share",
            "more",
            repeats="accuracy",
        ),
    ),
    "efficiency": (
        Did(
            "efficiency.spl",
            "Success weighted by path length",
            "share",
            "more",
            headline=True,
        ),
        Did("efficiency.regret", "Regret", "reward", "less"),
    ),
    "references": (
        Mark("references.success.random", "random moves", "share", beside="success"),
        Mark(
            "references.success.optimal",
            "optimal moves",
            "share",
            beside="success",
            bound=True,
        ),
        # Random moves alone would seldom come to the agent's turns.
        Mark(
            "references.accuracy.random",
            "random at its turns",
            "share",
            beside="accuracy",
        ),
        Mark("references.spl.random", "random moves", "share", beside="efficiency.spl"),
    ),
    "outcomes": (
        Answers("outcomes.ok", "Usable answers", "share", "more", headline=True),
        Answers(
            "outcomes.strict",
            "Usable answers, strict",
            "share",
            "more",
            unlike="outcomes.ok",
        ),
        Answers("outcomes.invalid_action", "Inadmissible actions", "share", "less"),
        Answers("outcomes.unparsable", "Unparsable answers", "share", "less"),
        Answers("outcomes.empty", "Empty answers", "share", "less"),
        Answers("outcomes.refusal", "Refusals", "share", "less"),
        Answers(
            "outcomes.truncated",
            "Answers truncated by the token limit",
            "share",
            "less",
        ),
        Answers("outcomes.error", "Model errors", "share", "less"),
        Endings("endings.terminated", "Episodes that reach a terminal state", "share"),
        Endings("endings.truncated", "Episodes truncated by the environment", "share"),
        Endings("endings.horizon", "Episodes that reach the horizon", "share"),
        Endings("endings.failed", "Failed episodes", "share"),
        Endings(
            "episodes.failed",
            "Failed episodes (excluded from all other numbers)",
            "count",
            "less",
            repeats="endings.failed",
        ),
    ),
    "length": (Did("length", "Turns of an episode", "turns"),),
    "policy": (
        Policy(
            "policy.jsd", "JSD from the optimal policy", "bits", "less", headline=True
        ),
        Policy(
            "policy.jsd_nearest", "JSD from the nearest optimal policy", "bits", "less"
        ),
        Policy("policy.entropy", "Entropy of the policy", "bits", headline=True),
        Policy(
            "policy.entropy_optimal",
            "Entropy of the optimal policy",
            "bits",
            headline=True,
        ),
        Policy(
            "policy.states.unanswered",
            "States without a usable answer",
            "count",
            "less",
        ),
        Policy(
            "policy.states.hopeless",
            "States from which the goal is unreachable",
            "count",
            "less",
        ),
    ),
    "calibration": (
        Policy(
            "calibration.ece",
            "Expected calibration error",
            "share",
            "less",
            headline=True,
        ),
        Policy(
            "calibration.ece_released",
            "Expected calibration error, as released",
            "share",
            "less",
        ),
    ),
    "overlap": (
        Policy(
            "overlap.jaccard",
            "Jaccard similarity of two episodes",
            "share",
            headline=True,
        ),
    ),
    "difficulty": (
        Where("difficulty.accuracy", "Accuracy", "share", "more"),
        Where("difficulty.success", "Success rate", "share", "more"),
        Where("difficulty.jsd", "JSD from the optimal policy", "bits", "less"),
        Where("difficulty.entropy", "Entropy of the policy", "bits"),
        Where(
            "difficulty.accuracy.variance",
            "Variance of accuracy between worlds, a step",
        ),
        Where("difficulty.accuracy.variance_p", "its p", "probability"),
        Where("difficulty.jsd.variance", "Variance of JSD between worlds, a step"),
        Where("difficulty.jsd.variance_p", "its p", "probability"),
    ),
}
"""By the names of the metrics."""
