"""Titles and units of the behaviour metrics."""

from collections.abc import Mapping

from gde.data.measure import Measure

DID = "Behaviour"
ANSWERS = "Answers (shares of turns)"
ENDINGS = "Endings (shares of episodes)"
MARKS = "Baselines in the same worlds"
POLICY = "Empirical policy, from several episodes in one world"
WHERE = "By size, density and distance"

MEASURES: Mapping[str, tuple[Measure, ...]] = {
    "success": (
        Measure(
            name="success",
            title="Success rate",
            unit="share",
            better="more",
            group=DID,
            headline=True,
            phrase="reached the goal in {} of episodes",
        ),
    ),
    "accuracy": (
        Measure(
            name="accuracy",
            title="Accuracy",
            unit="share",
            better="more",
            group=DID,
            headline=True,
            phrase="took an optimal action in {} of steps, averaged over worlds",
        ),
        Measure(
            name="accuracy.pooled",
            title="Accuracy, pooled over steps",
            unit="share",
            better="more",
            group=DID,
            repeats="accuracy",
        ),
    ),
    "efficiency": (
        Measure(
            name="efficiency.spl",
            title="Success weighted by path length",
            unit="share",
            better="more",
            group=DID,
            headline=True,
        ),
        Measure(
            name="efficiency.regret",
            title="Regret",
            unit="reward",
            better="less",
            group=DID,
        ),
    ),
    "references": (
        Measure(
            name="references.success.random",
            title="random baseline",
            unit="share",
            group=MARKS,
            beside="success",
        ),
        Measure(
            name="references.success.optimal",
            title="optimal baseline",
            unit="share",
            group=MARKS,
            beside="success",
        ),
        Measure(
            name="references.accuracy.random",
            title="random baseline",
            unit="share",
            group=MARKS,
            beside="accuracy",
        ),
        Measure(
            name="references.spl.random",
            title="random baseline",
            unit="share",
            group=MARKS,
            beside="efficiency.spl",
        ),
    ),
    "outcomes": (
        Measure(
            name="outcomes.ok",
            title="Usable answers",
            unit="share",
            better="more",
            group=ANSWERS,
            headline=True,
        ),
        Measure(
            name="outcomes.strict",
            title="Usable answers, strict",
            unit="share",
            better="more",
            group=ANSWERS,
            unlike="outcomes.ok",
        ),
        Measure(
            name="outcomes.invalid_action",
            title="Inadmissible actions",
            unit="share",
            better="less",
            group=ANSWERS,
        ),
        Measure(
            name="outcomes.unparsable",
            title="Unparsable answers",
            unit="share",
            better="less",
            group=ANSWERS,
        ),
        Measure(
            name="outcomes.empty",
            title="Empty answers",
            unit="share",
            better="less",
            group=ANSWERS,
        ),
        Measure(
            name="outcomes.refusal",
            title="Refusals",
            unit="share",
            better="less",
            group=ANSWERS,
        ),
        Measure(
            name="outcomes.truncated",
            title="Answers truncated by the token limit",
            unit="share",
            better="less",
            group=ANSWERS,
        ),
        Measure(
            name="outcomes.error",
            title="Model errors",
            unit="share",
            better="less",
            group=ANSWERS,
        ),
        Measure(
            name="endings.terminated",
            title="Episodes that reach a terminal state",
            unit="share",
            group=ENDINGS,
        ),
        Measure(
            name="endings.truncated",
            title="Episodes truncated by the environment",
            unit="share",
            group=ENDINGS,
        ),
        Measure(
            name="endings.horizon",
            title="Episodes that reach the horizon",
            unit="share",
            group=ENDINGS,
        ),
        Measure(
            name="endings.failed", title="Failed episodes", unit="share", group=ENDINGS
        ),
        Measure(
            name="episodes.failed",
            title="Failed episodes (excluded from all other numbers)",
            unit="count",
            better="less",
            group=ENDINGS,
            repeats="endings.failed",
        ),
    ),
    "length": (
        Measure(name="length", title="Turns of an episode", unit="turns", group=DID),
    ),
    "policy": (
        Measure(
            name="policy.jsd",
            title="JSD from the optimal policy",
            unit="bits",
            better="less",
            group=POLICY,
            headline=True,
        ),
        Measure(
            name="policy.jsd_nearest",
            title="JSD from the nearest optimal policy",
            unit="bits",
            better="less",
            group=POLICY,
        ),
        Measure(
            name="policy.entropy",
            title="Entropy of the policy",
            unit="bits",
            group=POLICY,
            headline=True,
        ),
        Measure(
            name="policy.entropy_optimal",
            title="Entropy of the optimal policy",
            unit="bits",
            group=POLICY,
            headline=True,
        ),
        Measure(
            name="policy.states.unanswered",
            title="States without a usable answer",
            unit="count",
            better="less",
            group=POLICY,
        ),
        Measure(
            name="policy.states.hopeless",
            title="States from which the goal is unreachable",
            unit="count",
            better="less",
            group=POLICY,
        ),
    ),
    "calibration": (
        Measure(
            name="calibration.ece",
            title="Expected calibration error",
            unit="share",
            better="less",
            group=POLICY,
            headline=True,
        ),
        Measure(
            name="calibration.ece_released",
            title="Expected calibration error, as released",
            unit="share",
            better="less",
            group=POLICY,
        ),
    ),
    "overlap": (
        Measure(
            name="overlap.jaccard",
            title="Jaccard similarity of two episodes",
            unit="share",
            group=POLICY,
            headline=True,
        ),
    ),
    "difficulty": (
        Measure(
            name="difficulty.accuracy",
            title="Accuracy",
            unit="share",
            better="more",
            group=WHERE,
        ),
        Measure(
            name="difficulty.success",
            title="Success rate",
            unit="share",
            better="more",
            group=WHERE,
        ),
        Measure(
            name="difficulty.jsd",
            title="JSD from the optimal policy",
            unit="bits",
            better="less",
            group=WHERE,
        ),
        Measure(
            name="difficulty.entropy",
            title="Entropy of the policy",
            unit="bits",
            group=WHERE,
        ),
    ),
}
"""By the names of the metrics."""
